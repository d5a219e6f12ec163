"""No golden check may be one that cannot fail: every recorded value and every expectation is bent once (R-72)."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.golden.conftest import MECHANISMS
from tests.golden.differences import differences
from tests.golden.expectations import EXPECTATIONS, unmet
from tests.golden.frame import DETAILED, FAR, SHOWN, TIE, record_of

pytestmark = pytest.mark.r("R-72")

MECHANISM_IDS = {
    *("R-01", "R-02", "R-03", "R-04", "R-05", "R-07", "R-08", "R-09", "R-10", "R-10a", "R-11", "R-11a", "R-11b"),
    *("R-12", "R-13", "R-13a", "R-14", "R-15", "R-16", "R-17", "R-17a", "R-18", "R-19", "R-20", "R-21"),
    *("R-30", "R-31", "R-32", "R-33", "R-34", "R-35", "R-40", "R-40a", "R-42", "R-43", "R-44", "R-54", "R-72"),
}
BLANK: dict[str, Any] = {
    "cards": [],
    "cascade_cards": [],
    "explanation": {"distribution": []},
    "packing": {"token_budget": 1, "tokens_used": 2, "left_out": -1, "summarised": -1},
    "degraded": [{"part": "search", "reason": "FAILED"}],
    "intent_confidence": -1.0,
    "confidence": "none",
    "text": "",
}
"""An answer that answers nothing."""

RECORDED = [
    pytest.param(entry, id=f"{mechanism.id}-{name}-{profile}")
    for mechanism in MECHANISMS
    for name, of in mechanism.recorded().items()
    for profile, entry in of.items()
]


@pytest.mark.parametrize("entry", RECORDED)
def test_every_recorded_value_is_compared(entry: dict[str, Any]) -> None:
    assert differences(entry, copy.deepcopy(entry)) == []
    for place, bent in _bent(entry):
        assert differences(entry, bent), place


def _bent(entry: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The entry with one value changed, for each value; ranks and scores by more than a processor's rounding."""
    for path in _leaves(entry):
        if _may_leave(entry, path):
            continue
        bent = copy.deepcopy(entry)
        *way, last = path
        inner: Any = bent
        for step in way:
            inner = inner[step]
        value = inner[last]
        is_rank = "ranks" in path
        if isinstance(value, float | int) and not isinstance(value, bool):
            inner[last] = value + (FAR if is_rank else 0.5)
        elif value is None:
            inner[last] = 0.5
        else:
            inner[last] = f"{value}, bent"
        yield "/".join(map(str, path)), bent
    for name in ("order", "graph"):
        if len(entry[name]) > 1:
            yield f"{name} cut", {**entry, name: entry[name][1:]}


def _may_leave(entry: dict[str, Any], path: tuple[Any, ...]) -> bool:
    """Whether this is an id that is as good as the last one shown, so that the next behind it may take its place."""
    order = entry["order"]
    if path[0] != "order" or path[-1] != 0 or len(order) < SHOWN:
        return False
    return all(abs(score - order[path[1]][1]) <= TIE for _, score in order[path[1] :])


def _leaves(value: Any) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, dict | list):
        parts = value.items() if isinstance(value, dict) else enumerate(value)
        for key, part in parts:
            # an id of a reason that is not known has no counterpart: its place in the order is what is compared
            if not (key == "id" and isinstance(part, str)):
                yield from ((key, *rest) for rest in _leaves(part))
    else:
        yield ()


def test_a_difference_names_what_moved_and_the_stage_that_did_it() -> None:
    before = {
        "order": [["a", 0.9], ["b", 0.6]],
        "reasons": [_reason("a", RecencyBoost=1.4), _reason("b")],
    }
    now = {"order": [["b", 0.9], ["a", 0.5]], "reasons": [_reason("b"), _reason("a", RecencyBoost=1.0)]}
    said = differences(before, now)
    assert "a: place 1 -> 2 (RecencyBoost 1.4 -> 1.0)" in said
    assert "b: place 2 -> 1" in said


def test_two_that_are_as_good_may_swap_and_nothing_else_may() -> None:
    def swapped(gap: float) -> list[str]:
        before = {"order": [["a", 0.5], ["b", 0.5 - gap]], "reasons": []}
        return differences(before, {"order": [["b", 0.5], ["a", 0.5 - gap]], "reasons": []})

    assert swapped(TIE / 2) == []
    assert swapped(TIE * 3) != []


def _reason(block_id: str, **stages: float) -> dict[str, Any]:
    known = {"id": block_id, "base": 0.5, "scoring": 0.5, "rerank": None, "ranks": {}, "marks": []}
    return {**known, "stages": stages}


EXPECTED = [
    pytest.param(key, wanted, id=f"{mechanism.id}-{question.name}-{profile}-{key}")
    for mechanism in MECHANISMS
    for question in mechanism.questions
    for profile in question.profiles
    for key, wanted in question.expected(profile).items()
]


@pytest.mark.parametrize(("key", "wanted"), EXPECTED)
def test_every_expectation_can_fail(key: str, wanted: Any) -> None:
    """A blank answer, or one that holds just what must not be there, meets none of them."""
    if key == "packing":
        for figure, number in wanted.items():
            packing = {} if number.startswith(">") else {"tokens_used": 2, "left_out": 9, "summarised": 9}
            assert unmet({"packing": {"token_budget": 1, **packing}}, {key: {figure: number}}, {}), (figure, number)
        return
    others = {}
    answer = copy.deepcopy(BLANK) | _spoilt(key, wanted)
    if key == "beside":
        answer["cards"], others[wanted["question"]] = _beside(wanted)
    assert unmet(answer, {key: wanted}, others), (key, wanted)


def _spoilt(key: str, wanted: Any) -> dict[str, Any]:
    """Parts of an answer that an expectation must not accept."""
    too_little = isinstance(wanted, str) and wanted.startswith((">", "="))
    if key in {"absent", "nowhere", "ranks", "marked"}:
        return {"cards": [_card(one) for one in wanted]}
    if key == "kinds":
        return {"cascade_cards": [{"kind": "bent", "block_id": "x"}]}
    if key == "cards":
        return {"cards": [] if too_little else [_card(str(number)) for number in range(99)]}
    if key == "untold":
        return {"cascade_cards": [{"kind": "triple", "text": one} for one in wanted]}
    if isinstance(wanted, bool):
        return {"explanation": {key: not wanted}}
    if key == "taken":
        return {"explanation": {"skipped": [{"step": one, "reason": "bent"} for one in wanted]}}
    explained = {"unlinked": {"entities": wanted}, "reranked": {"reranked": -1 if too_little else 99}}
    return {"explanation": explained.get(key, {"distribution": []})}


def _card(block_id: str) -> dict[str, Any]:
    """A card of which nothing is as anybody expects: odd marks, last in every ranker."""
    rankers = ("dense_self", "dense_context", "sparse_self", "sparse_context", "hyde", "follow_up")
    marks = {
        "superseded_by": "bent",
        "frozen": None,
        "redacted": None,
        "trust": -1,
        "summarised": None,
        "expand": "bent",
    }
    places = [{"ranker": one, "rank": 999} for one in rankers]
    return {"block_id": block_id, "kind": "block", "score": 0.0, "explanation": {"places": places}, **marks}


def _beside(wanted: dict[str, Any]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Cards of an answer, and the answer beside it, that are just what the comparison refuses."""
    if "other_order" in wanted or str(wanted.get("shared", "")).startswith("<"):
        same = [_card(str(number)) for number in range(20)]
        return same, {**BLANK, "cards": same}
    if "higher" in wanted or "same_score" in wanted:
        known = [_card(one) for one in (*wanted.get("higher", ()), *wanted.get("same_score", ()))]
        return [], {**BLANK, "cards": known}
    return [_card("one")], {**BLANK, "cards": [_card("other")]}


def test_every_mechanism_that_a_recall_can_show_has_a_file() -> None:
    assert {mechanism.id for mechanism in MECHANISMS} == MECHANISM_IDS


def test_every_file_is_used_up_and_every_recording_has_its_file() -> None:
    names = [one.path.name for one in MECHANISMS if any(question.is_recorded for question in one.questions)]
    folder = MECHANISMS[0].path.parent
    assert sorted(path.name for path in folder.glob("*.json")) == sorted(names)
    used = {key for m in MECHANISMS for q in m.questions for p in q.profiles for key in q.expected(p)}
    assert used <= set(EXPECTATIONS)
    assert all(question.why.strip() for mechanism in MECHANISMS for question in mechanism.questions)


def test_a_record_holds_the_reasons_of_the_first_cards_only_and_nothing_of_their_text() -> None:
    stage = {"stage": "RecencyBoost", "factor": 1.4, "kept": True}
    why = {"places": [], "stages": [stage], "base_score": 0.5, "scoring_score": 0.7}
    card = {"block_id": "b", "kind": "block", "score": 0.9, "text": "a secret", "explanation": why}
    answer = {**BLANK, "intent": "factual", "facet": "none", "thinking_mode": "fast", "retrieval_mode": "LOCAL"}
    record = record_of({**answer, "self_check": "skipped", "confidence": "high", "cards": [card] * (DETAILED + 1)})
    assert len(record["reasons"]) == DETAILED
    assert record["reasons"][0]["stages"] == {"RecencyBoost": 1.4}
    assert "secret" not in json.dumps(record)
