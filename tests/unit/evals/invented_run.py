"""A small invented run: two variants of a set with levels and types, and the suites that count other things."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from memvault_evals.metrics import Figure
from memvault_evals.report.about import About
from memvault_evals.report.document import document
from memvault_evals.results import Row, SetReport, averaged

PLACES = 40
METRICS = ("recall@5", "recall@10", "hit@5", "all@5", "all@10", "MRR", "nDCG@10")
ABOUT = About(
    at="2026-11-29T12:00:00Z",
    command="memvault eval --data folder --suite all",
    commit="0123456789abcdef0123456789abcdef01234567",
    dirty=False,
    version="0.1.0",
    python="3.11.4",
    platform="Linux-x86_64",
    cores=2,
    load="1.0 1.0 1.0 on 2 cores",
    packages={"numpy": "2.4.6"},
    data={"folder": "folder", "files": {"locomo.queries.jsonl": "abcdef0123456789"}},
    settings={"tuned": {"search": {"fusion": {"k": 10}}, "profile": "tuned"}},
)
FACTS: Mapping[str, Any] = {
    "asked": PLACES,
    "intents": {"factual": 30, "unknown": 10},
    "thinking": {"fast": 36, "slow": 4},
    "reranked": 30,
    "gate_skips": {"dominant": 8, "tight cluster": 2},
    "second_try": {"tried": 4, "saved": 1},
    "unsupported": {"asked": PLACES, "no_gold": 10, "no_gold_confident": 6},
}


def found_of(share: float) -> SetReport:
    """Of forty questions of two types `share` have everything found."""
    rows = [
        Row(
            f"q{number}",
            ("multi_hop", "single_hop")[number % 2],
            {level: dict.fromkeys(METRICS, float(number < share * PLACES)) for level in ("turn", "session")},
        )
        for number in range(PLACES)
    ]
    return averaged(rows, FACTS)


def intents(bins: int = 2) -> SetReport:
    """Half of the texts right, with figures that are no means, and a reliability of one or two bins."""
    base = averaged([Row(f"i{number}", "factual", {"en": {"accuracy": float(number % 2)}}) for number in range(10)])
    told = [
        {"from": 0.4, "to": 0.5, "rows": 4, "confidence": 0.45, "accuracy": 0.5},
        {"from": 0.9, "to": 1.0, "rows": 6, "confidence": 0.95, "accuracy": 0.8},
    ]
    figures = {"en": {**base.figures["en"], "macro-F1": Figure(48, 30, 60, 10), "ECE": Figure(12, 5, 20, 10)}}
    return SetReport(figures, {}, base.rows, {"en": {"reliability": told[:bins]}, "funnel": {"keyword": {"rows": 10}}})


def injection() -> SetReport:
    """Attacks of two kinds, of which three in four are caught, and harmless texts of two others."""
    rows = [
        Row(
            f"x{number}",
            (("jailbreak", "override") if number < 12 else ("news", "letter"))[number % 2],
            {"ingress": {"TPR" if number < 12 else "FPR": float(number % 4 > 0 if number < 12 else number == 12)}},
        )
        for number in range(20)
    ]
    return averaged(rows, {"attacks": 12, "benign": 8})


def many_kinds() -> SetReport:
    """Forty attacks of one kind, thirty kinds of one harmless text each, and every text in one group."""
    rows = [
        Row(
            f"m{number}",
            "override" if number < PLACES else f"kind{number}",
            {"ingress": {"TPR" if number < PLACES else "FPR": float(number % 2)}},
        )
        for number in range(PLACES + 30)
    ]
    report = averaged(rows, {"attacks": PLACES, "benign": 30})
    return replace(report, by_type={**report.by_type, "lang:en": report.figures})


def classified() -> SetReport:
    """Texts of twenty sources, and per class what a classifier made of them."""
    base = averaged([Row(f"c{number}", f"src:{number}", {"all": {"accuracy": 1.0}}) for number in range(20)])
    classes = {"factual": {"precision": 97.6, "recall": 82.0, "F1": 89.1, "rows": 20}}
    return replace(base, facts={"all": {"per_class": classes}})


def prefetch() -> SetReport:
    """Turns of which three, five and seven in ten are foreseen with 5, 10 and 20 documents."""
    rows = [
        Row(
            f"p{number}",
            "",
            {"all": {"hit@5": float(number < 3), "hit@10": float(number < 5), "hit@20": float(number < 7)}},
        )
        for number in range(10)
    ]
    return averaged(rows, {"points": 10, "stored": 8, "hits": 2, "wasted": 75.0})


def run_of(shares: Mapping[str, float], *, others: bool = False, about: About = ABOUT) -> dict[str, Any]:
    """Return the document of a run over LoCoMo; `others` adds suites that hand the same report to every variant."""
    more = {"intent": intents(), "injection": injection(), "prefetch_kdconv": prefetch()} if others else {}
    return document({label: {"locomo": found_of(share), **more} for label, share in shares.items()}, about)


def written(folder: Path, name: str, text: str) -> Path:
    """Write a file and return its path."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path
