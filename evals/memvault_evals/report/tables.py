"""The document as tables for a terminal of any width."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich.box import SIMPLE
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from memvault_evals.report.document import Document
from memvault_evals.report.reading import (
    FEW_SAID,
    WORDS,
    One,
    better,
    columns,
    counts,
    labels_of,
    mark,
    names,
    number,
    short,
    signed,
    significant,
)
from memvault_evals.report.summary import is_long, summary
from memvault_evals.report.words import told

# who has no room for all columns keeps these
TELLING = ("recall@5", "hit@5", "all@5", "nDCG@10", "recall@10", "MRR", "all@10")
# of a cell: `~59.9…69.2` and the space around it
CELL = 12
DIFFERENCE_CELL = 14
WIDEST_NAME = 26
# the column of n, and the space between the first columns
BESIDE = 10
# more variants than these: the types of the first one only, so that a set stays on a screen
TYPES_OF = 2
# more than these: figures of the first one, and what the others change at the first level
FIGURES_OF = 6


def show(console: Console, document: Document) -> None:
    """Print a set's figures, its differences to the first variant, and what else was found; then where from."""
    for set_name in document["results"]:
        _figures(console, document, set_name)
        if is_long(document, set_name):
            _summary(console, document, set_name)
        _differences(console, document, set_name)
        _facts(console, document, set_name)
    _line(console, WORDS)
    changed = " with changes that are not committed" if document["dirty"] else ""
    where = f"commit {document['commit'][:10]}{changed}" if document["commit"] else "outside a repository"
    _line(console, f"{document['at']}, {where}, memvault {document['version']}, load {document['load']}")


def _facts(console: Console, document: Document, set_name: str) -> None:
    labels = labels_of(document, set_name)
    many = len(labels) > TYPES_OF
    for label in labels:
        phrases = list(told(document["variants"][label]["facts"].get(set_name, {})))
        if phrases and (label == document["first"] or not many):
            _line(console, f"{label}: {'; '.join(phrases)}")


def _summary(console: Console, document: Document, set_name: str) -> None:
    headings, lines = summary(document, set_name)
    console.print(Text(f"{set_name}: {document['first']} by type, percent", style="bold"))
    table = Table(box=SIMPLE, padding=(0, 1, 0, 0), pad_edge=False)
    for place, heading in enumerate(headings):
        table.add_column(heading, justify="right" if place else "left", overflow="fold")
    for line in lines:
        table.add_row(*(Text(cell) for cell in line))
    console.print(table)
    _line(console, "every type with its interval: results.json and report.html")


def _line(console: Console, text: str) -> None:
    console.print(escape(text), style="dim", highlight=False)


def _figures(console: Console, document: Document, set_name: str) -> None:
    rows = list(_rows(document, set_name))
    wanted = columns(set_name, names(document["results"][set_name]))
    typed = any(row[2] for row in rows)
    console.print(Text(f"{set_name}: percent, with 95 % intervals", style="bold"))
    table = _table(rows, typed=typed)
    fitting = _fitting(console, rows, wanted, CELL, typed=typed)
    for metric in fitting:
        table.add_column(metric, justify="right", no_wrap=True)
    before = ""
    for label, level, kind, metrics in rows:
        if before and label != before:
            table.add_section()
        n = counts(metrics, wanted)
        name = Text(short(label) if label != before else "", style="bold" if label == document["first"] else "")
        cells = (_value(metrics.get(metric)) for metric in fitting)
        words = (level, kind) if typed else (level,)
        table.add_row(name, *words, n, *cells, style="dim" if kind else "")
        before = label
    console.print(table)
    _remarks(console, rows, wanted, fitting)
    many = len(labels_of(document, set_name))
    if many > FIGURES_OF:
        _line(console, f"figures and findings of {document['first']} only; the others are in the report")
    elif many > TYPES_OF:
        _line(console, f"types and findings of {document['first']} only; the others are in the report")


def _rows(document: Document, set_name: str) -> Iterator[tuple[str, str, str, Mapping[str, One]]]:
    """Variant, level, type and figures: a level as a whole, then its types."""
    labels = labels_of(document, set_name)
    many = len(labels) > TYPES_OF
    for label in labels[:1] if len(labels) > FIGURES_OF else labels:
        variant = document["variants"][label]
        typed = not is_long(document, set_name) and (not many or label == document["first"])
        kinds = variant["by_type"].get(set_name, {}) if typed else {}
        for level, metrics in variant["results"].get(set_name, {}).items():
            yield label, level, "", metrics
            for kind, levels in kinds.items():
                if level in levels:
                    yield label, level, kind, levels[level]


def _differences(console: Console, document: Document, set_name: str) -> None:
    most = 1 if len(labels_of(document, set_name)) > FIGURES_OF else None
    rows = [
        (label, level, "", metrics)
        for label, variant in document["variants"].items()
        for level, metrics in list(variant["against_first"].get(set_name, {}).items())[:most]
    ]
    if not rows:
        return
    wanted = [one for one in columns(set_name, names(document["results"][set_name])) if any(one in r[3] for r in rows)]
    title = f"{set_name}: minus {document['first']}, percentage points; * where the interval leaves out 0"
    console.print(Text(title, style="bold"))
    table = _table(rows, typed=False)
    fitting = _fitting(console, rows, wanted, DIFFERENCE_CELL, typed=False)
    for metric in fitting:
        table.add_column(metric, justify="right", no_wrap=True)
    before = ""
    for label, level, _, metrics in rows:
        n = counts(metrics, wanted)
        cells = (_change(metric, metrics.get(metric)) for metric in fitting)
        table.add_row(Text(short(label) if label != before else ""), level, n, *cells)
        before = label
    console.print(table)
    _remarks(console, rows, wanted, fitting)


def _table(rows: Sequence[tuple[str, str, str, Mapping[str, One]]], *, typed: bool) -> Table:
    table = Table(box=SIMPLE, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("variant", max_width=_width([short(row[0]) for row in rows], "variant"))
    table.add_column("level", no_wrap=True)
    if typed:
        table.add_column("type", max_width=_width([row[2] for row in rows], "type"))
    table.add_column("n", justify="right", no_wrap=True)
    return table


def _width(texts: Sequence[str], heading: str) -> int:
    return min(WIDEST_NAME, max(len(text) for text in (*texts, heading)))


def _fitting(
    console: Console,
    rows: Sequence[tuple[str, str, str, Mapping[str, One]]],
    wanted: Sequence[str],
    cell: int,
    *,
    typed: bool,
) -> list[str]:
    """As many of the wanted metrics as fit beside the names; at least one."""
    taken = _width([short(row[0]) for row in rows], "variant") + max(len(row[1]) for row in rows) + BESIDE
    if typed:
        taken += _width([row[2] for row in rows], "type") + 2
    room = console.width - taken
    kept: list[str] = []
    for metric in sorted(wanted, key=lambda one: TELLING.index(one) if one in TELLING else -1):
        width = max(cell, len(metric) + 2)
        if width <= room or not kept:
            kept.append(metric)
            room -= width
    return [one for one in wanted if one in kept]


def _remarks(
    console: Console,
    rows: Sequence[tuple[str, str, str, Mapping[str, One]]],
    wanted: Sequence[str],
    fitting: Sequence[str],
) -> None:
    missing = [one for one in wanted if one not in fitting]
    if missing:
        _line(console, f"no room here for {', '.join(missing)}; the report has them")
    if any(metric in row[3] and mark(row[3][metric]) for row in rows for metric in fitting):
        _line(console, FEW_SAID)


def _value(one: One | None) -> Text:
    if one is None:
        return Text("")
    bounds = f"{mark(one)}{number(one['low'])}…{number(one['high'])}"
    return Text(number(one["value"])).append(f"\n{bounds}", style="dim")


def _change(metric: str, one: One | None) -> Text:
    if one is None:
        return Text("")
    telling = significant(one)
    style = ("green" if better(metric, one) else "red") if telling else ""
    text = Text(f"{signed(one['value'])}{'*' if telling else ''}", style=style)
    return text.append(f"\n{mark(one)}{signed(one['low'])}…{signed(one['high'])}", style="dim")
