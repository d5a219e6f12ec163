"""What the intent suite makes of the router's answers."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from memvault.text import is_chinese
from memvault_evals.datasets import Data
from memvault_evals.house import EvalError
from memvault_evals.suites.classification import Verdict, calibration_error, macro_f1, per_class, reliability
from memvault_evals.suites.intent import Text, ask, own_texts, read_texts, report


def verdicts(*rows: tuple[str, str, float]) -> list[Verdict]:
    return [Verdict(*row) for row in rows]


MIXED = verdicts(("a", "a", 0.9), ("a", "a", 0.8), ("a", "b", 0.6), ("b", "b", 0.6), ("b", "c", 0.1))


def test_macro_f1_is_the_mean_over_the_classes_that_occur() -> None:
    # a: 2 of 2 told, 2 of 3 there: 0.8; b: 1 of 2 told, 1 of 2 there: 0.5; c is told but never true
    assert macro_f1(MIXED).value == pytest.approx(65.0)


def test_the_interval_holds_the_value_and_is_the_same_each_time() -> None:
    figure = macro_f1(MIXED * 20)
    assert figure.low < figure.value < figure.high
    assert figure == macro_f1(MIXED * 20)
    assert figure.n == 100


def test_who_is_always_right_has_an_interval_without_width() -> None:
    figure = macro_f1(verdicts(("a", "a", 1.0), ("b", "b", 1.0)))
    assert (figure.value, figure.low, figure.high) == (100.0, 100.0, 100.0)


def test_calibration_error_weighs_each_bin_by_its_rows() -> None:
    # bin 0.8 to 0.9: two of four right at 0.85, 0.35 off; bin 0.2 to 0.3: none of one right at 0.25, 0.25 off
    rows = verdicts(*[("a", "a", 0.85)] * 2, *[("a", "b", 0.85)] * 2, ("a", "b", 0.25))
    assert calibration_error(rows).value == pytest.approx(100 * (4 * 0.35 + 0.25) / 5)


def test_whoever_is_as_often_right_as_it_says_has_no_calibration_error() -> None:
    rows = verdicts(*[("a", "a", 0.75)] * 3, ("a", "b", 0.75))
    assert calibration_error(rows).value == pytest.approx(0.0)


def test_full_confidence_belongs_to_the_last_bin() -> None:
    assert [one["from"] for one in reliability(verdicts(("a", "a", 1.0), ("a", "b", 0.0)))] == [0.0, 0.9]


def test_a_class_that_was_chosen_but_never_true_is_told_with_its_precision() -> None:
    found = per_class(MIXED)
    assert (found["c"]["precision"], found["c"]["rows"]) == (0.0, 0)
    assert found["a"]["precision"] == 100.0
    assert found["a"]["recall"] == pytest.approx(200 / 3)


TEXTS = [
    Text("1", "What is MLX?", "entity_lookup", "trec_qc", ("en", "all")),
    Text("2", "為什麼？", "conceptual", "drcd", ("zh", "zh_six", "all")),
    Text("3", "何時？", "factual", "xquad_zh", ("xquad_zh", "all")),
    Text("own-01", "睡眠跟跑步有關嗎？", "cross_domain", "own", ("zh_six",)),
]


def told(intent: str, confidence: float = 0.8) -> dict[str, Any]:
    return {"intent": intent, "confidence": confidence, "funnel": "fused"}


def test_a_source_with_two_classes_is_a_level_of_its_own_and_not_part_of_the_chinese_one() -> None:
    answers = {"1": "entity_lookup", "2": "conceptual", "3": "conceptual", "own-01": "factual"}
    found = report(TEXTS, {number: told(intent) for number, intent in answers.items()})
    accuracy = {level: metrics["accuracy"] for level, metrics in found.figures.items()}
    assert {level: (one.value, one.n) for level, one in accuracy.items()} == {
        "en": (100.0, 1),
        "zh": (100.0, 1),
        "zh_six": (50.0, 2),
        "xquad_zh": (0.0, 1),
        "all": (pytest.approx(200 / 3), 3),
    }
    assert set(found.figures["zh"]) == {"accuracy", "macro-F1", "ECE"}


def test_types_are_classes_and_sources() -> None:
    found = report(TEXTS, {one.id: told(one.intent) for one in TEXTS})
    assert set(found.by_type) == {one.intent for one in TEXTS} | {f"src:{one.source}" for one in TEXTS}
    assert found.facts["all"]["confusion"]["factual"] == {"factual": 1}
    assert found.facts["funnel"] == {"fused": {"rows": 4, "accuracy": 100.0}}


class Gateway:
    def __init__(self, **answer: Any) -> None:
        row = [{"intent": "factual", "probability": 0.7}]
        explanation = {"funnel": "fused", "raw_distribution": row, "distribution": row}
        self.answer = {"intent": "factual", "intent_confidence": 0.7, "facet": "none", "explanation": explanation}
        self.answer |= answer
        self.asked: list[dict[str, Any]] = []

    def recall(self, query: str, context: dict[str, Any]) -> dict[str, Any]:
        self.asked.append(context)
        return self.answer


def test_the_chosen_intent_and_both_distributions_are_kept() -> None:
    gateway = Gateway()
    found = ask(gateway, TEXTS[0], "reference")  # type: ignore[arg-type] # asks nothing else of a client
    assert (found["intent"], found["confidence"], found["raw"]) == ("factual", 0.7, {"factual": 0.7})
    assert gateway.asked[0]["origin"] == "eval"
    assert gateway.asked[0]["evaluation"] == {"profile": "reference"}


def test_a_degraded_answer_is_a_failed_run() -> None:
    gateway = Gateway(degraded=[{"part": "embed", "reason": "TIMEOUT"}])
    with pytest.raises(EvalError, match="degraded"):
        ask(gateway, TEXTS[0], "tuned")  # type: ignore[arg-type] # asks nothing else of a client


def test_restricted_texts_are_read_where_they_are_and_missed_by_nobody_where_not(tmp_path: Path) -> None:
    def row(number: str, source: str, lang: str) -> str:
        return json.dumps({"id": number, "text": "t", "lang": lang, "intent": "factual", "src": source}) + "\n"

    (tmp_path / "intent.jsonl").write_text(row("1", "drcd", "zh") + row("2", "xquad_zh", "zh"), encoding="utf-8")
    run: Any = SimpleNamespace(data=Data(tmp_path, tmp_path / "corpora"))
    assert [one.levels[0] for one in read_texts(run) if one.source != "own"] == ["zh", "xquad_zh"]
    (tmp_path / "restricted").mkdir()
    restricted = tmp_path / "restricted" / "intent_memdaily.jsonl"
    restricted.write_text(row("3", "memdaily(no licence)", "zh"), encoding="utf-8")
    assert [one.source for one in read_texts(run) if one.source != "own"] == ["drcd", "xquad_zh", "memdaily"]


def test_our_own_questions_count_apart_and_fill_up_the_sixth_class() -> None:
    own = own_texts()
    assert len({one.text for one in own}) == len(own) == 200
    sixth = [one for one in own if "zh_six" in one.levels]
    assert {one.intent for one in sixth} == {"cross_domain"}
    assert len(sixth) == 60
    assert all(is_chinese(one.text) for one in sixth)
    assert {one.levels[0] for one in own} == {"own_zh", "own_en"}
    assert not any("all" in one.levels for one in own)
