"""The bench as one picture: medians by size of the vault beside their floors, one panel for each mode.

A single size has no course that a line could show, so that its medians are bars.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, NullFormatter

from memvault_evals.bench.measure import FLOORS
from memvault_evals.report.style import MARKERS, SERIES, pictures

DRAWN = ("prefetch hit", "fast", "deep")
BAR = 0.6  # width of a bar; 1 would touch its neighbours
TITLES = {"six": "six processes", "one": "one process"}


def draw(path: Path, stages: Sequence[Mapping[str, Any]], modes: Sequence[str]) -> None:
    """Write the chart as PNG: whole lines are operations, dashed ones their floors, whiskers reach to p95."""
    shown = [mode for mode in modes if any(mode in stage["modes"] for stage in stages)]
    with pictures(path, len(shown), width=5.2 * len(shown), height=4.4) as panels:
        for axes, mode in zip(panels, shown, strict=True):
            there = [stage for stage in stages if mode in stage["modes"]]
            if len(there) > 1:
                _lines(axes, there, mode)
            else:
                _bars(axes, there[0], mode)
            axes.set_yscale("log")
            axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
            axes.yaxis.set_major_formatter("{x:g}")
            axes.yaxis.set_minor_formatter(NullFormatter())
            axes.set_title(TITLES[mode])
        panels[0].set_ylabel("ms, p50 to p95")
        panels[0].legend(loc="best", fontsize=8)


def _lines(axes: Axes, stages: Sequence[Mapping[str, Any]], mode: str) -> None:
    places = range(len(stages))
    for name, colour, marker in zip(DRAWN, SERIES, MARKERS, strict=False):
        figures = [_figures(stage, mode, name) for stage in stages]
        medians, above, floors = ([one[place] for one in figures] for place in range(3))
        axes.errorbar(places, medians, [[0.0] * len(above), above], color=colour, marker=marker, label=name, capsize=3)
        axes.plot(places, floors, color=colour, linestyle="--", marker="_", linewidth=1.0, label=f"floor of {name}")
    axes.set_xticks(list(places), [stage["name"] for stage in stages])
    axes.set_xlabel("blocks (* invented vectors)")


def _bars(axes: Axes, stage: Mapping[str, Any], mode: str) -> None:
    for place, (name, colour) in enumerate(zip(DRAWN, SERIES, strict=False)):
        median, above, floor = _figures(stage, mode, name)
        axes.bar(place, median, BAR, yerr=[[0.0], [above]], color=colour, capsize=3)
        axes.hlines(
            floor, place - BAR / 2, place + BAR / 2, color="black", linestyle="--", label="" if place else "floor"
        )
    axes.set_xticks(range(len(DRAWN)), list(DRAWN))
    axes.set_xlabel(f"{stage['name']} blocks (* invented vectors)")


def _figures(stage: Mapping[str, Any], mode: str, name: str) -> tuple[float, float, float]:
    """Median of an operation, what p95 adds to it, and its floor, ms."""
    rows = stage["modes"][mode]["rows"]
    median = rows[name]["p50"]
    return median, max(0.0, rows[name]["p95"] - median), sum(rows[part]["p50"] for part in FLOORS[name])
