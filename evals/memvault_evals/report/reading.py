"""Reads a document: which metrics stand first, and how a figure is written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from memvault_evals.report.document import Document

RETRIEVAL = ("recall@5", "recall@10", "hit@5", "all@5", "all@10", "MRR", "nDCG@10")
OTHER = ("accuracy", "macro-F1", "ECE", "TPR", "FPR", "hit@5", "hit@10", "hit@20")
# what the sets themselves ask for: a scope of iKAT has ten statements, DRCD is saturated
ALSO: Mapping[str, tuple[str, ...]] = {"ikat_ptkb": ("recall@3", "MRR"), "drcd_zh": ("hit@1",)}
HEADLINES = ("recall@5", "accuracy", "TPR", "hit@10")
COUNTED = 2
FEW = 30  # of fewer items an interval says little
FEW_MARK = "~"
FEW_SAID = f"{FEW_MARK} fewer than {FEW} items: the interval is indicative only"
WORDS = 'what metrics, levels and columns mean: docs/quality.md, "Words and columns"'
LOWER_IS_BETTER = frozenset({"FPR", "ECE", "false hit"})

One = Mapping[str, Any]  # value, low, high, n


def names(levels: Mapping[str, Mapping[str, One]]) -> list[str]:
    """Return all metrics of some levels in the order in which they first appear."""
    return list(dict.fromkeys(metric for metrics in levels.values() for metric in metrics))


def columns(set_name: str, available: Iterable[str]) -> list[str]:
    """Return the metrics of a set's table, the most telling first; those nobody ranked come last."""
    there = list(available)
    if RETRIEVAL[0] in there:
        wanted = dict.fromkeys((*ALSO.get(set_name, ()), *RETRIEVAL))
        return [one for one in wanted if one in there]
    return [one for one in OTHER if one in there] + [one for one in there if one not in OTHER]


def headline(set_name: str, levels: Mapping[str, Mapping[str, One]]) -> tuple[str, str] | None:
    """Return level and metric of the one figure that stands for a set; None when nothing was measured."""
    for level, metrics in levels.items():
        own = ALSO.get(set_name, ())[:1]
        for metric in (*own, *HEADLINES, *metrics):
            if metric in metrics:
                return level, metric
    return None


def labels_of(document: Document, set_name: str) -> list[str]:
    """Return the variants that say something of their own about a set: the first, and those compared with it."""
    return [
        label
        for label, variant in document["variants"].items()
        if label == document["first"] or set_name in variant["against_first"]
    ]


def short(label: str) -> str:
    """Return a variant's label with more than two parts of a kind counted: `tuned -stage:(11)`."""
    words = label.split(" ")
    kinds = Counter(word.partition(":")[0] for word in words if ":" in word)
    told = (f"{kind}:({kinds[kind]})" if kinds[kind := word.partition(":")[0]] > COUNTED else word for word in words)
    return " ".join(dict.fromkeys(told))


def figure_of(document: Document, label: str, set_name: str, level: str, metric: str) -> One | None:
    """Return one figure of a variant, if it was measured."""
    found: Any = document["variants"].get(label, {}).get("results", {})
    return _inside(found, set_name, level, metric)


def difference_of(document: Document, label: str, set_name: str, level: str, metric: str) -> One | None:
    """Return the difference of a variant to the first one, if both measured it."""
    found: Any = document["variants"].get(label, {}).get("against_first", {})
    return _inside(found, set_name, level, metric)


def _inside(found: Any, *keys: str) -> One | None:  # noqa: ANN401 - JSON
    for key in keys:
        found = found.get(key, {})
    return found or None


def counts(metrics: Mapping[str, One], wanted: Iterable[str]) -> str:
    """Return how many items the wanted metrics stand on: `359`, or `446/198` where they differ."""
    return "/".join(dict.fromkeys(str(metrics[one]["n"]) for one in wanted if one in metrics))


def significant(one: One) -> bool:
    """Tell whether the interval of a difference leaves out 0."""
    return bool(one["low"] > 0 or one["high"] < 0)


def better(metric: str, one: One) -> bool:
    """Tell whether a difference is a gain."""
    return bool((one["value"] < 0) == (metric in LOWER_IS_BETTER))


def number(value: float) -> str:
    """`64.6`, `100` and `0`: one decimal, none where it says nothing."""
    text = f"{value:.1f}"
    return {"100.0": "100", "0.0": "0", "-0.0": "0"}.get(text, text)


def signed(value: float) -> str:
    """`+1.2`, `-3`, `0`."""
    text = number(value)
    return text if text.startswith("-") or text == "0" else f"+{text}"


def mark(one: One) -> str:
    """The sign before an interval over few items; empty where there are enough."""
    return FEW_MARK if one["n"] < FEW else ""


def interval(one: One, sign: str = "") -> str:
    """`64.6 [59.9, 69.2]`; `sign` stands before the bracket."""
    return f"{number(one['value'])} {sign}[{number(one['low'])}, {number(one['high'])}]"


def change(one: One, sign: str = "") -> str:
    """`+1.2 [-0.6, +3]`, and a star where the interval leaves out 0; `sign` stands before the bracket."""
    star = "*" if significant(one) else ""
    return f"{signed(one['value'])}{star} {sign}[{signed(one['low'])}, {signed(one['high'])}]"
