"""The bench as one picture: medians by size of the vault beside their floors, one panel for each mode."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes

from memvault_evals.bench.measure import FLOORS
from memvault_evals.report.style import MARKERS, SERIES, pictures

DRAWN = ("prefetch hit", "fast", "deep")
TITLES = {"six": "six processes", "one": "one process"}


def draw(path: Path, stages: Sequence[Mapping[str, Any]], modes: Sequence[str]) -> None:
    """Write the chart as PNG: whole lines are operations, dashed ones their floors, bars reach to p95."""
    shown = [mode for mode in modes if any(mode in stage["modes"] for stage in stages)]
    with pictures(path, len(shown), width=5.2 * len(shown), height=4.4) as panels:
        for axes, mode in zip(panels, shown, strict=True):
            _panel(axes, [stage for stage in stages if mode in stage["modes"]], mode)
        panels[0].set_ylabel("ms, p50 to p95")
        panels[0].legend(loc="best", fontsize=8)


def _panel(axes: Axes, stages: Sequence[Mapping[str, Any]], mode: str) -> None:
    places = range(len(stages))
    for name, colour, marker in zip(DRAWN, SERIES, MARKERS, strict=False):
        rows = [stage["modes"][mode]["rows"] for stage in stages]
        medians = [row[name]["p50"] for row in rows]
        above = [max(0.0, row[name]["p95"] - row[name]["p50"]) for row in rows]
        floors = [sum(row[part]["p50"] for part in FLOORS[name]) for row in rows]
        axes.errorbar(places, medians, [[0.0] * len(rows), above], color=colour, marker=marker, label=name, capsize=3)
        axes.plot(places, floors, color=colour, linestyle="--", marker="_", linewidth=1.0, label=f"floor of {name}")
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_formatter("{x:g}")
    axes.set_xticks(list(places), [stage["name"] for stage in stages])
    axes.set_xlabel("blocks (* invented vectors)")
    axes.set_title(TITLES[mode])
