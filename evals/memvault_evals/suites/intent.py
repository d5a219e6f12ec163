"""Suite intent: does the router find out what is being asked (R-01 to R-03), and is it as sure as it may be?

Each text is asked of a user who remembers nothing and has no history, so that neither memories nor habits decide. The
Chinese texts of the set that may be handed on have five of the six intents; the level `zh_six` adds questions of our
own for the sixth, `own_zh` and `own_en` hold all of our own.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import resources
from typing import Any

from memvault_evals.house import Client, EvalError
from memvault_evals.results import Row, SetReport, averaged
from memvault_evals.suites.classification import (
    Verdict,
    calibration_error,
    confusion,
    macro_f1,
    per_class,
    reliability,
)
from memvault_evals.suites.suite import Run

SET = "intent"
RESTRICTED = "intent_memdaily"
TWO_CLASSES = "xquad_zh"  # a source with two of the six classes: a level of its own
CHINESE, CHINESE_SIX = "zh", "zh_six"
OWN, SIXTH = "own", "cross_domain"
ALL = "all"
USER = "intent"
DEADLINE_MS = 120_000


@dataclass(frozen=True)
class Text:
    """A text, the intent that its source's label stands for, and the levels at which it counts."""

    id: str
    text: str
    intent: str
    source: str
    levels: tuple[str, ...]


def read_texts(run: Run) -> list[Text]:
    """Return the texts of the set, with those that may not be redistributed where they are, and our own."""
    stems = [SET, RESTRICTED] if run.data.path(RESTRICTED) else [SET]
    rows = [row for stem in stems for row in run.data.rows(stem, "id", "text", "lang", "intent", "src")]
    return [*map(_text, rows), *own_texts()]


def own_texts() -> list[Text]:
    """Return the questions of our own; the Chinese ones that join several things fill up `zh_six`."""
    page = resources.files("memvault_evals").joinpath("data/intent_own.toml").read_text(encoding="utf-8")
    return [
        Text(f"own-{lang}-{intent}-{at:02}", one, intent, OWN, _own_levels(lang, intent))
        for lang, by_intent in tomllib.loads(page).items()
        for intent, questions in by_intent.items()
        for at, one in enumerate(questions, 1)
    ]


def _own_levels(lang: str, intent: str) -> tuple[str, ...]:
    level = f"{OWN}_{lang}"
    return (level, CHINESE_SIX) if (lang, intent) == (CHINESE, SIXTH) else (level,)


def _text(row: Mapping[str, Any]) -> Text:
    source = row["src"].partition("(")[0]
    level = source if source == TWO_CLASSES else row["lang"]
    levels = (level, CHINESE_SIX, ALL) if level == CHINESE else (level, ALL)
    return Text(row["id"], row["text"], row["intent"], source, levels)


class IntentSuite:
    """Asks, and compares the chosen intent with the label."""

    name = "intent"
    sets: tuple[str, ...] = (SET,)

    def fill(self, set_name: str, run: Run) -> None:
        """Nothing is written: the user remembers nothing."""

    def measure(self, set_name: str, run: Run) -> Mapping[str, SetReport]:
        """Ask every text under every profile; what else a variant switches off or forces is behind the router."""
        texts = read_texts(run)
        reports: dict[str, SetReport] = {}
        profiles = dict.fromkeys(variant.profile for variant in run.variants if not variant.intent)
        run.progress.begin(f"{set_name}: asking", len(texts) * len(profiles))
        for profile in profiles:
            asks = [(f"{set_name}|{profile}|{one.id}", partial(ask, run.gateway.client, one, profile)) for one in texts]
            told = {one.id: answer for one, answer in zip(texts, run.answers(asks), strict=True)}
            reports[profile] = report(texts, told)
        return {variant.label: reports[variant.profile] for variant in run.variants if not variant.intent}


def ask(client: Client, text: Text, profile: str) -> dict[str, Any]:
    """Ask one text and return what the router made of it.

    Raises:
        EvalError: When a part of the answer was degraded.
    """
    context = {
        "user_id": USER,
        "origin": "eval",
        "explain": True,
        "deadline_ms": DEADLINE_MS,
        "evaluation": {"profile": profile},
    }
    answer = client.recall(text.text, context)
    if answer.get("degraded"):
        raise EvalError(f"{text.id} was answered degraded: {answer['degraded']}")
    explanation = answer["explanation"]
    return {
        "intent": answer["intent"],
        "confidence": answer["intent_confidence"],
        "facet": answer["facet"],
        "funnel": explanation["funnel"],
        "raw": _probabilities(explanation["raw_distribution"]),
        "personalised": _probabilities(explanation["distribution"]),
    }


def _probabilities(rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    return {row["intent"]: round(row["probability"], 4) for row in rows}


def report(texts: Sequence[Text], told: Mapping[str, Mapping[str, Any]]) -> SetReport:
    """Return accuracy, macro-F1 and calibration error per level, by class and by source."""
    rows = [_row(one, told[one.id]) for one in texts]
    verdicts = {one.id: Verdict(one.intent, told[one.id]["intent"], told[one.id]["confidence"]) for one in texts}
    by_level = {level: [verdicts[row.id] for row in rows if level in row.levels] for level in _levels(rows)}
    base = averaged(rows)
    figures = {level: _with_others(base.figures[level], some) for level, some in by_level.items()}
    by_source = {
        f"src:{source}": averaged([row for row, one in zip(rows, texts, strict=True) if one.source == source]).figures
        for source in sorted({one.source for one in texts})
    }
    facts: dict[str, Any] = {
        level: {
            "per_class": per_class(some),
            "confusion": confusion(some),
            "reliability": reliability(some),
        }
        for level, some in by_level.items()
    }
    facts["funnel"] = _funnels(rows)
    return SetReport(figures, {**base.by_type, **by_source}, rows, facts)


def _row(text: Text, told: Mapping[str, Any]) -> Row:
    right = {"accuracy": float(told["intent"] == text.intent)}
    return Row(text.id, text.intent, dict.fromkeys(text.levels, right), told)


def _levels(rows: Sequence[Row]) -> list[str]:
    return list(dict.fromkeys(level for row in rows for level in row.levels))


def _with_others(means: Mapping[str, Any], verdicts: Sequence[Verdict]) -> Mapping[str, Any]:
    return {**means, "macro-F1": macro_f1(verdicts), "ECE": calibration_error(verdicts)}


def _funnels(rows: Sequence[Row]) -> dict[str, dict[str, float]]:
    """By what decided: how many rows, and what share of them in percent was right."""
    counts = Counter(row.told["funnel"] for row in rows)
    right = Counter(row.told["funnel"] for row in rows if next(iter(row.levels.values()))["accuracy"])
    return {name: {"rows": count, "accuracy": 100 * right[name] / count} for name, count in sorted(counts.items())}


INTENT = IntentSuite()
