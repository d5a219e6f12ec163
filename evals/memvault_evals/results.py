"""What a suite found out about one set: rows, their averages, and the averages by type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from memvault_evals.metrics import Figure, difference, figure

Figures = Mapping[str, Mapping[str, Figure]]  # by level, then by metric


@dataclass(frozen=True)
class Row:
    """One measured item.

    Attributes:
        id: Of the question, text or turn in the set.
        kind: Its type in the set; empty when the set has none.
        levels: Level -> metric -> value, 0 to 1. A level is what is counted: `turn`, `session`, `zh`, `cold`, ...
        told: What the product answered, as JSON.
    """

    id: str
    kind: str
    levels: Mapping[str, Mapping[str, float]]
    told: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class SetReport:
    """Figures of one set under one variant.

    Attributes:
        figures: Level -> metric -> mean in percent with its interval.
        by_type: Type -> level -> metric -> the same; empty when there is only one type.
        rows: What they stand on, one for one with those of every other variant of the run.
        facts: Other findings, as JSON: counts, statistics of the gate, calibration, ...
    """

    figures: Figures
    by_type: Mapping[str, Figures]
    rows: Sequence[Row]
    facts: Mapping[str, Any] = field(default_factory=dict)


def averaged(rows: Sequence[Row], facts: Mapping[str, Any] | None = None) -> SetReport:
    """Return the means of all rows and of the rows of each type. A level or metric may be missing in some rows."""
    kinds = sorted({row.kind for row in rows})
    by_type = {kind: _figures([row for row in rows if row.kind == kind]) for kind in kinds} if len(kinds) > 1 else {}
    return SetReport(_figures(rows), by_type, rows, facts or {})


def paired(report: SetReport, base: SetReport) -> Figures:
    """Return the differences to another variant's report in percentage points, row by row.

    Only what both reports measured in the same rows; figures that are no mean over rows have no difference.
    """
    others = {row.id: row for row in base.rows}
    found: dict[str, dict[str, Figure]] = {}
    for level, metrics in _names(report.rows).items():
        for metric in metrics:
            pairs = [
                (row.levels[level][metric], others[row.id].levels[level][metric])
                for row in report.rows
                if row.id in others
                and metric in row.levels.get(level, {})
                and metric in others[row.id].levels.get(level, {})
            ]
            if pairs:
                mine, theirs = zip(*pairs, strict=True)
                found.setdefault(level, {})[metric] = difference(mine, theirs)
    return found


def as_json(figures: Figures) -> dict[str, dict[str, Any]]:
    """Return level -> metric -> {value, low, high, n}."""
    return {level: {metric: asdict(one) for metric, one in metrics.items()} for level, metrics in figures.items()}


def _figures(rows: Sequence[Row]) -> dict[str, dict[str, Figure]]:
    return {
        level: {
            metric: figure([row.levels[level][metric] for row in rows if metric in row.levels.get(level, {})])
            for metric in metrics
        }
        for level, metrics in _names(rows).items()
    }


def _names(rows: Sequence[Row]) -> dict[str, list[str]]:
    """Levels and their metrics in the order in which they first appear."""
    names: dict[str, dict[str, None]] = {}
    for row in rows:
        for level, metrics in row.levels.items():
            names.setdefault(level, {}).update(dict.fromkeys(metrics))
    return {level: list(metrics) for level, metrics in names.items()}
