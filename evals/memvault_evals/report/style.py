"""How charts look: one set of colours, sizes and fonts for all of them, drawn without a screen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import cycle, islice
from pathlib import Path

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.typing import RcKeyType

# Okabe and Ito's colours, told apart by people who see fewer of them; yellow is left out, too pale on white
SERIES = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#000000")
# beside colour, so that a print in grey can be read
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
MUTED = "#6b7280"
GOOD, BAD = "#0072B2", "#D55E00"
DOTS_PER_INCH = 130
RULES: dict[RcKeyType, object] = {
    "font.family": "DejaVu Sans",
    "font.size": 9.5,
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": MUTED,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e5e7eb",
    "grid.linewidth": 0.8,
    "legend.frameon": False,
    "figure.facecolor": "white",
    "lines.linewidth": 1.6,
    "lines.markersize": 5,
}


@contextmanager
def picture(path: Path, *, width: float = 8.0, height: float = 4.5) -> Iterator[Axes]:
    """Give axes to draw on, and write them to `path` as PNG when all went well. Sizes are in inches."""
    with pictures(path, 1, width=width, height=height) as (axes,):
        yield axes


@contextmanager
def pictures(path: Path, count: int, *, width: float = 8.0, height: float = 4.5) -> Iterator[Sequence[Axes]]:
    """The same with `count` axes side by side that share their vertical axis. The same drawing gives the same file."""
    with rc_context(RULES):
        figure = Figure(figsize=(width, height), layout="constrained")
        FigureCanvasAgg(figure)
        grid = figure.subplots(1, count, sharey=True, squeeze=False)
        yield list(grid[0])
        figure.savefig(path, dpi=DOTS_PER_INCH, metadata={"Software": None})


def colours(count: int) -> list[str]:
    """Return `count` colours, from the start again when there are too few."""
    return list(islice(cycle(SERIES), count))


def markers(count: int) -> list[str]:
    """Return `count` markers, from the start again when there are too few."""
    return list(islice(cycle(MARKERS), count))
