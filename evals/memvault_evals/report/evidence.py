"""Looks figures up in the documents of several runs; each comes with the run it is from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memvault_evals.report.document import Document
from memvault_evals.report.reading import One, change, difference_of, figure_of, interval, short

COMMIT_CHARS = 10
PROCESSES = {"six": "six processes", "one": "one process"}


@dataclass(frozen=True)
class Comparison:
    """One metric of a set under a variant, beside the first variant of the same run."""

    set_name: str
    level: str
    metric: str
    first: str
    base: One
    label: str
    value: One
    difference: One
    run: Document

    @property
    def cells(self) -> list[str]:
        """For a table: set, metric, n, first variant, variant, difference."""
        n = str(self.difference["n"])
        name = f"{self.set_name} ({self.level})"
        return [
            name,
            self.metric,
            n,
            interval(self.base),
            short(self.label),
            interval(self.value),
            change(self.difference),
        ]


HEADINGS = ["set (level)", "metric", "n", "as it is", "variant", "with it", "difference, points"]


@dataclass(frozen=True)
class Finding:
    """What a variant's facts say about a set under a name."""

    set_name: str
    label: str
    value: Any
    run: Document


@dataclass(frozen=True)
class Latency:
    """Median milliseconds of two operations of one run, and where: size of the vault and mode."""

    where: str
    this: float
    other: float
    n: int

    @property
    def ratio(self) -> float:
        """How many times the other one."""
        return self.this / self.other


def comparisons(
    runs: Sequence[Document], suffixes: Sequence[str], metrics: Sequence[str], sets: Sequence[str] = ()
) -> list[Comparison]:
    """Return what variants changed, of each set and suffix from the newest run that has it.

    Args:
        runs: Documents of `memvault eval`.
        suffixes: What a label adds to that of the first variant, such as `-rerank` or `thinking=slow`; a whole
            label too, such as `reference`.
        metrics: Those wanted, at the first level that has them.
        sets: Only these; empty: all.
    """
    found: dict[tuple[str, str, str], Comparison] = {}
    for run in sorted(runs, key=lambda one: str(one["at"]), reverse=True):
        for suffix in suffixes:
            label = next((one for one in (f"{run['first']} {suffix}", suffix) if one in run["variants"]), None)
            for one in _compared(run, label, metrics) if label else ():
                if not sets or one.set_name in sets:
                    found.setdefault((one.set_name, suffix, one.metric), one)
    return list(found.values())


def _compared(run: Document, label: str, metrics: Sequence[str]) -> Iterator[Comparison]:
    for set_name, levels in run["results"].items():
        for metric in metrics:
            level = next((name for name, figures in levels.items() if metric in figures), None)
            if level is None:
                continue
            value = figure_of(run, label, set_name, level, metric)
            difference = difference_of(run, label, set_name, level, metric)
            if value and difference:
                base = levels[level][metric]
                yield Comparison(set_name, level, metric, run["first"], base, label, value, difference, run)


def findings(runs: Sequence[Document], fact: str, suffix: str = "") -> list[Finding]:
    """Return a fact of every set that has it, from the newest run; `suffix` as in `comparisons`, empty: the first."""
    found: dict[str, Finding] = {}
    for run in sorted(runs, key=lambda one: str(one["at"]), reverse=True):
        label = f"{run['first']} {suffix}".strip()
        for set_name, facts in run["variants"].get(label, {}).get("facts", {}).items():
            if fact in facts:
                found.setdefault(set_name, Finding(set_name, label, facts[fact], run))
    return list(found.values())


def latencies(bench: Mapping[str, Any], this: str, other: str) -> list[Latency]:
    """Return medians of two operations from each size and mode of `make bench` that measured both."""
    found = []
    for stage in bench["stages"]:
        for mode, figures in stage["modes"].items():
            mine, theirs = figures["rows"].get(this), figures["rows"].get(other)
            if mine and theirs:
                vectors = " with invented vectors" if stage["synthetic"] else ""
                where = f"{stage['name'].rstrip('*')} blocks{vectors}, {PROCESSES[mode]}"
                found.append(Latency(where, mine["p50"], theirs["p50"], min(mine["n"], theirs["n"])))
    return found


def origin(run: Mapping[str, Any]) -> str:
    """Command, date and commit of a run, for a cell of a table."""
    words = (Path(word).name if "/" in word else word for word in run["command"].split())
    parts = [f"`{' '.join(words)}`", str(run["at"])[:10]]
    if run.get("commit"):
        parts.append(f"commit {run['commit'][:COMMIT_CHARS]}{' with changes' if run.get('dirty') else ''}")
    return ", ".join(parts)
