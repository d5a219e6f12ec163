"""What a terminal shows of a set with so many types that a table of them all would run off the screen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from memvault_evals.report.document import Document
from memvault_evals.report.reading import FEW, HEADLINES, One, counts, number

MOST_TYPES = 12
ALL = "all"
LEFT_OUT = "src:"  # by source: only the report has them
SHOWN = (*HEADLINES, "FPR")
CLASS_COLUMNS = ("precision", "recall", "F1")

Lines = list[tuple[str, ...]]


def is_long(document: Document, set_name: str) -> bool:
    """Tell whether the types of a set are too many for a terminal."""
    return len(document["by_type"].get(set_name, {})) > MOST_TYPES


def summary(document: Document, set_name: str) -> tuple[tuple[str, ...], Lines]:
    """Return headings and lines about the first variant: its classes, or the types that stand on enough items."""
    facts = document["variants"][document["first"]]["facts"].get(set_name, {})
    classes = [name for name, one in facts.items() if isinstance(one, Mapping) and "per_class" in one]
    if classes:
        level = ALL if ALL in classes else classes[0]
        return _classes(level, facts[level]["per_class"])
    return _groups(document["by_type"][set_name])


def _classes(level: str, per_class: Mapping[str, Mapping[str, Any]]) -> tuple[tuple[str, ...], Lines]:
    lines: Lines = [
        (name, str(one["rows"]), *(number(one[column]) for column in CLASS_COLUMNS)) for name, one in per_class.items()
    ]
    return (f"class, level {level}", "n", *CLASS_COLUMNS), lines


def _groups(by_type: Mapping[str, Mapping[str, Mapping[str, One]]]) -> tuple[tuple[str, ...], Lines]:
    """Groups of types first, such as `lang:en`, then types; those of few items are pooled in one line."""
    shown = {name: levels for name, levels in by_type.items() if not name.startswith(LEFT_OUT)}
    found = dict.fromkeys((metric, level) for level, metric, _ in _each(shown.values()))
    columns = [one for metric in SHOWN for one in found if one[0] == metric]
    enough = [name for name, levels in shown.items() if ":" in name or _most(levels) >= FEW]
    lines = [_line(name, shown[name], columns) for name in sorted(enough, key=lambda name: (":" not in name, name))]
    few = [one for name, one in shown.items() if name not in enough]
    if few:
        lines.append(_line(f"{len(few)} more, n < {FEW}", _pooled(few), columns))
    return ("type", "n", *(f"{metric} {level}" for metric, level in columns)), lines


def _line(name: str, levels: Mapping[str, Mapping[str, One]], columns: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    first = next(iter(levels.values()), {})
    cells = (levels.get(level, {}).get(metric) for metric, level in columns)
    n = counts(first, dict.fromkeys(metric for metric, _ in columns))
    return (name, n, *(number(one["value"]) if one else "" for one in cells))


def _most(levels: Mapping[str, Mapping[str, One]]) -> int:
    return max((one["n"] for metrics in levels.values() for one in metrics.values()), default=0)


def _pooled(types: Sequence[Mapping[str, Mapping[str, One]]]) -> dict[str, dict[str, One]]:
    """The figures of some types as if they were one: means of means, weighted by their items."""
    found: dict[str, dict[str, One]] = {}
    for level, metric, one in _each(types):
        known = found.setdefault(level, {}).get(metric, {"value": 0.0, "n": 0})
        n = known["n"] + one["n"]
        found[level][metric] = {"value": (known["value"] * known["n"] + one["value"] * one["n"]) / n, "n": n}
    return found


def _each(types: Iterable[Mapping[str, Mapping[str, One]]]) -> Iterator[tuple[str, str, One]]:
    for levels in types:
        for level, metrics in levels.items():
            for metric, one in metrics.items():
                yield level, metric, one
