"""The comparison as JSON, as tables on the terminal, and as Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from memvault_evals.asking import TURN
from memvault_evals.metrics import NDCG, Figure
from memvault_evals.peers.comparing import HEADLINE, OURS, Standing, session_figure, verdict
from memvault_evals.results import as_json

HEADINGS = (
    "", *HEADLINE, "session recall@5", "memvault - it: recall@5", f"memvault - it: {NDCG}", "ms a question",
    "blocks/s in", "verdict",
)  # fmt: skip
P95 = 95
NOTES = (
    "Percent, with 95 % bootstrap intervals; differences are paired, question by question, in percentage points. "
    "ms: median, memvault over HTTP through all its processes, the others inside one process, behind no address. "
    "* vectors may have come from earlier runs, so that blocks/s is without encoding. "
    "(reused) answers of an earlier run: its times do not compare."
)
Dropped = Sequence[Mapping[str, str]]  # peer, set (empty: every one), reason


def as_document(
    sets: Mapping[str, Sequence[Standing]], dropped: Dropped, peers: Mapping[str, Any], about: Mapping[str, Any]
) -> dict[str, Any]:
    """Return everything as JSON: `results[set][contestant]` holds `figures`, `by_type`, `ahead`, times and verdict."""
    results = {name: {one.name: _entry(one) for one in rows} for name, rows in sets.items()}
    return {"about": about, "peers": peers, "dropped": list(dropped), "results": results}


def _entry(one: Standing) -> dict[str, Any]:
    times = list(one.answers.ms.values())
    return {
        "figures": as_json(one.report.figures),
        "by_type": {kind: as_json(figures) for kind, figures in one.report.by_type.items()},
        "memvault_minus_it": as_json(one.ahead),
        "verdict": verdict(one.ahead) if one.ahead else "",
        "ms": {"p50": median(times), "p95": float(np.percentile(times, P95)), "n": len(times)},
        "blocks": one.answers.blocks,
        "fill_s": one.answers.fill_s,
        "kept_vectors": one.answers.kept_vectors,
        "reused": one.reused,
        "at": one.answers.at,
        "load": one.answers.load,
        "missed": missed(one),
    }


def missed(one: Standing) -> list[str]:
    """Ids of the questions whose gold it did not find in the first five."""
    return [row.id for row in one.report.rows if row.levels[TURN]["recall@5"] < 1]


def show(console: Console, sets: Mapping[str, Sequence[Standing]], dropped: Dropped) -> None:
    """Print a table for each set, and who was dropped."""
    for name, rows in sets.items():
        table = Table(title=title(name, rows), title_justify="left", show_lines=True)
        for number, heading in enumerate(HEADINGS):
            last = number in {0, len(HEADINGS) - 1}
            table.add_column(heading, justify="left" if last else "right")
        for one in rows:
            table.add_row(*cells(one))
        console.print(table)
    for left in dropped:
        console.print(dropped_line(left), highlight=False, markup=False)
    console.print(NOTES, style="dim", highlight=False, markup=False)


def markdown(sets: Mapping[str, Sequence[Standing]], dropped: Dropped) -> str:
    """Return the same as Markdown."""
    lines: list[str] = []
    for name, rows in sets.items():
        lines += [f"### {title(name, rows)}", "", _line(HEADINGS), _line(["---"] * len(HEADINGS))]
        lines += [*(_line(cells(one)) for one in rows), ""]
    lines += [*(f"- {dropped_line(one)}" for one in dropped), "", NOTES]
    return "\n".join(lines) + "\n"


def title(name: str, rows: Sequence[Standing]) -> str:
    """Name of a set with its size and when it was asked."""
    ours = rows[0].answers
    return f"{name}: {len(ours.ranked)} questions, {ours.blocks} blocks, {ours.at}"


def cells(one: Standing) -> list[str]:
    """The row of a contestant."""
    figures = one.report.figures[TURN]
    ahead = one.ahead.get(TURN, {})
    session = session_figure(one.report)
    return [
        one.name + (" (reused)" if one.reused else ""),
        *(interval(figures[metric]) if metric in {"recall@5", NDCG} else f"{figures[metric].value:.1f}"
          for metric in HEADLINE),
        f"{session.value:.1f}" if session else "",
        *(interval(ahead[metric], signed=True) if ahead else "" for metric in ("recall@5", NDCG)),
        f"{median(one.answers.ms.values()):.1f}",
        _speed(one),
        verdict(one.ahead) if one.name != OURS else "",
    ]  # fmt: skip


def interval(one: Figure, *, signed: bool = False) -> str:
    """A figure with its interval."""
    return f"{one.value:{'+' if signed else ''}.1f} [{one.low:.1f}, {one.high:.1f}]"


def dropped_line(one: Mapping[str, str]) -> str:
    """Who was left out, of what, and why."""
    return f"dropped: {one['peer']} {'on ' + one['set'] if one['set'] else 'altogether'}: {one['reason']}"


def _speed(one: Standing) -> str:
    if not one.answers.fill_s:
        return ""
    return f"{one.answers.blocks / one.answers.fill_s:.0f}{'*' if one.answers.kept_vectors else ''}"


def _line(words: Sequence[str]) -> str:
    return f"| {' | '.join(words)} |"
