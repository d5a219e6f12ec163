"""Charts of a document as PNG files: a dot for each figure, and a line for its interval."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill
from typing import Any

from matplotlib.axes import Axes

from memvault_evals.report.document import Document
from memvault_evals.report.reading import (
    One,
    better,
    difference_of,
    figure_of,
    headline,
    interval,
    labels_of,
    number,
    short,
    significant,
)
from memvault_evals.report.style import BAD, GOOD, MUTED, colours, markers, picture, pictures

ROW_IN = 0.3  # height of one row of a horizontal chart
LEAST_ROWS = 2  # a table says a single figure as well as a picture of it
SHOWN_VARIANTS = 6  # more side by side cannot be told apart; the ablation chart has them all
NAME_CHARS = 36
WHOLE = 100
PREFETCH = ("hit@5", "hit@10", "hit@20")


@dataclass(frozen=True)
class Picture:
    """A chart that was drawn. `set_name` is empty when it is about all sets; `alt` says in words what it shows."""

    file: str
    title: str
    alt: str
    set_name: str = ""


def draw(folder: Path, document: Document) -> list[Picture]:
    """Draw every chart the document has figures for."""
    return [
        *_every_set(folder, document),
        *(
            one
            for name in document["results"]
            for chart in (_types, _ablation, _reliability, _within)
            for one in chart(folder, document, name)
        ),
    ]


def _every_set(folder: Path, document: Document) -> Iterator[Picture]:
    """The headline figure of each set, variants side by side."""
    chosen = {name: one for name, levels in document["results"].items() if (one := headline(name, levels))}
    labels = list(document["variants"])[:SHOWN_VARIANTS]
    if len(chosen) * len(labels) < LEAST_ROWS:
        return
    rows = [f"{name}\n{level}, {metric}" for name, (level, metric) in chosen.items()]
    series = {
        label: [
            figure_of(document, label, name, level, metric) if label in labels_of(document, name) else None
            for name, (level, metric) in chosen.items()
        ]
        for label in labels
    }
    title = "Headline figure of each set, percent"
    with picture(folder / "sets.png", height=_height(len(rows) * (1 + 0.35 * len(labels)))) as axes:
        _dots(axes, rows, series)
        axes.set_title(title)
    first = [
        f"{name} {metric} {interval(one)}"
        for (name, (_, metric)), one in zip(chosen.items(), series[labels[0]], strict=True)
        if one
    ]
    yield Picture("sets.png", title, f"Of {labels[0]}: {'; '.join(first)}.")


def _types(folder: Path, document: Document, set_name: str) -> Iterator[Picture]:
    """The headline figure of each type of a set, variants side by side."""
    chosen = headline(set_name, document["results"][set_name])
    if not chosen:
        return
    level, metric = chosen
    if set_name == "injection":  # a kind is one of attacks or of benign texts: each has its own rate
        yield from _kinds(folder, document, set_name)
        return
    labels = labels_of(document, set_name)[:SHOWN_VARIANTS]
    kinds = [kind for kind, levels in document["by_type"].get(set_name, {}).items() if metric in levels.get(level, {})]
    if len(kinds) < LEAST_ROWS:
        return
    series = {label: [_of_type(document, label, set_name, kind, level, metric) for kind in kinds] for label in labels}
    title = f"{set_name}: {metric} by type, {level} level, percent"
    file = f"{set_name}-types.png"
    with picture(folder / file, height=_height(len(kinds) * (1 + 0.35 * len(labels)))) as axes:
        _dots(axes, _with_n(kinds, series[labels[0]]), series)
        axes.set_title(title)
    yield Picture(file, title, _said(labels[0], kinds, series[labels[0]]), set_name)


def _kinds(folder: Path, document: Document, set_name: str) -> Iterator[Picture]:
    """Rates of the injection suite: what was caught of each kind of attack, and false alarms on benign texts."""
    first = document["first"]
    for metric, words in (("TPR", "caught of each kind of attack"), ("FPR", "false alarms on benign texts")):
        found = {
            kind: {level: metrics[metric] for level, metrics in levels.items() if metric in metrics}
            for kind, levels in document["by_type"].get(set_name, {}).items()
        }
        found = {kind: levels for kind, levels in found.items() if levels}
        if sum(len(levels) for levels in found.values()) < LEAST_ROWS:
            continue
        ways = list(dict.fromkeys(level for levels in found.values() for level in levels))
        rows = sorted(found, key=lambda kind: -max(one["value"] for one in found[kind].values()))
        series = {way: [found[kind].get(way) for kind in rows] for way in ways}
        title = f"{set_name}: {metric}, {words}, percent"
        file = f"{set_name}-{metric}.png"
        with picture(folder / file, height=_height(len(rows) * (1 + 0.35 * len(ways)))) as axes:
            _dots(axes, _with_n(rows, [next(iter(found[kind].values())) for kind in rows]), series)
            axes.set_title(title)
        said = " ".join(_said(way, rows, values) for way, values in series.items())
        yield Picture(file, title, f"{first}. {said}", set_name)


def _ablation(folder: Path, document: Document, set_name: str) -> Iterator[Picture]:
    """What each other variant changes in the headline figure of a set, the greatest loss first."""
    chosen = headline(set_name, document["results"][set_name])
    if not chosen:
        return
    level, metric = chosen
    found = {
        label: one
        for label in document["variants"]
        if (one := difference_of(document, label, set_name, level, metric)) is not None
    }
    if len(found) < LEAST_ROWS:
        return
    rows = sorted(found, key=lambda label: -found[label]["value"])  # the lowest row is drawn on top
    first = document["first"]
    title = f"{set_name}: {metric} minus that of {first}, points"
    file = f"{set_name}-ablation.png"
    with picture(folder / file, height=_height(sum(_wrapped(label).count("\n") + 1 for label in rows))) as axes:
        for place, label in enumerate(rows):
            one = found[label]
            tone = (GOOD if better(metric, one) else BAD) if significant(one) else MUTED
            axes.plot([one["low"], one["high"]], [place, place], color=tone)
            axes.plot([one["value"]], [place], marker="o", color=tone)
        axes.axvline(0, color="black", linewidth=0.8)
        axes.set_yticks(range(len(rows)), [_wrapped(label) for label in rows])
        axes.set_ylim(-0.6, len(rows) - 0.4)
        axes.set_title(title)
        axes.set_xlabel("95 % intervals of paired differences; grey ones hold 0")
    said = "; ".join(f"{label} {interval(found[label])}" for label in reversed(rows))
    yield Picture(file, title, f"Differences in points: {said}.", set_name)


def _reliability(folder: Path, document: Document, set_name: str) -> Iterator[Picture]:
    """How often a stated confidence is right, by level, if the set's facts tell it."""
    first = document["first"]
    levels: dict[str, Sequence[Mapping[str, Any]]] = {
        level: told["reliability"]
        for level, told in _facts(document, first, set_name).items()
        if isinstance(told, Mapping) and len(told.get("reliability", ())) >= LEAST_ROWS  # no curve through one point
    }
    if not levels:
        return
    title = f"{set_name}: accuracy against confidence, percent"
    file = f"{set_name}-reliability.png"
    with pictures(folder / file, len(levels), width=4.2 * len(levels), height=4.2) as every:
        for axes, (level, bins) in zip(every, levels.items(), strict=True):
            most = max(one["rows"] for one in bins)
            axes.plot([0, WHOLE], [0, WHOLE], color=MUTED, linestyle="--", linewidth=1)
            axes.plot(
                [one["confidence"] * WHOLE for one in bins], [one["accuracy"] * WHOLE for one in bins], color=GOOD
            )
            for one in bins:
                place = (one["confidence"] * WHOLE, one["accuracy"] * WHOLE)
                axes.scatter(*place, s=15 + 120 * one["rows"] / most, color=GOOD, zorder=3)
                axes.annotate(
                    f"{one['rows']}", place, textcoords="offset points", xytext=(7, -9), color=MUTED, fontsize=8
                )
            axes.set(xlim=(0, WHOLE), ylim=(0, WHOLE), xlabel="stated confidence", title=f"{set_name}, {level}")
        every[0].set_ylabel("how often right")
    said = "; ".join(
        f"{level}: "
        + ", ".join(f"{one['confidence']:.0%} stated {one['accuracy']:.0%} right of {one['rows']}" for one in bins)
        for level, bins in levels.items()
    )
    yield Picture(file, title, f"{said}. Dots on the broken line are calibrated; their size and number is n.", set_name)


def _within(folder: Path, document: Document, set_name: str) -> Iterator[Picture]:
    """The share of turns whose need was chosen, by how many documents may be chosen."""
    series: dict[str, dict[int, One]] = {}
    for label in labels_of(document, set_name)[:SHOWN_VARIANTS]:
        for level, metrics in document["variants"][label]["results"].get(set_name, {}).items():
            if all(metric in metrics for metric in PREFETCH):
                series[f"{label}, {level}"] = {int(one.split("@")[1]): metrics[one] for one in PREFETCH}
    if not series or any("recall@5" in metrics for metrics in document["results"][set_name].values()):
        return
    title = f"{set_name}: hit@N, percent"
    file = f"{set_name}-hits.png"
    with picture(folder / file, width=6.5, height=4) as axes:
        tones, signs = colours(len(series)), markers(len(series))
        for (name, points), tone, sign in zip(series.items(), tones, signs, strict=True):
            axes.errorbar(
                list(points),
                [one["value"] for one in points.values()],
                yerr=_whiskers(list(points.values())),
                marker=sign,
                color=tone,
                capsize=3,
                label=name,
            )
        axes.set(xticks=[5, 10, 20], xlabel="documents chosen before the turn is seen", ylim=(0, WHOLE), title=title)
        axes.legend(loc="upper left")
    said = "; ".join(
        f"{name}: " + ", ".join(f"N = {n} {interval(one)}" for n, one in points.items())
        for name, points in series.items()
    )
    yield Picture(file, title, f"{said}.", set_name)


def _dots(axes: Axes, rows: Sequence[str], series: Mapping[str, Sequence[One | None]]) -> None:
    """A row for each name, top down; in it a dot with its interval for each of the series."""
    series = {label: values for label, values in series.items() if any(values)}
    step = 0.7 / max(1, len(series))
    tones, signs = colours(len(series)), markers(len(series))
    for order, (label, values) in enumerate(series.items()):
        shift = (order - (len(series) - 1) / 2) * step
        places = [place + shift for place, one in enumerate(values) if one]
        there = [one for one in values if one]
        axes.errorbar(
            [one["value"] for one in there],
            places,
            xerr=_whiskers(there),
            fmt=signs[order],
            color=tones[order],
            capsize=2.5,
            elinewidth=1.2,
            label=_wrapped(label),
        )
        for one, place in zip(there, places, strict=True):
            axes.annotate(
                number(one["value"]),
                (one["high"], place),
                textcoords="offset points",
                xytext=(5, -3),
                color=MUTED,
                fontsize=8,
            )
    axes.set_yticks(range(len(rows)), rows)
    axes.set_ylim(len(rows) - 0.45, -0.55)
    axes.set_xlim(0, WHOLE + 6)
    if len(series) > 1:
        axes.figure.legend(loc="outside lower center", ncols=3)


def _wrapped(label: str) -> str:
    return fill(short(label), NAME_CHARS, break_on_hyphens=False)


def _whiskers(values: Sequence[One]) -> list[list[float]]:
    """Distances to the bounds; an average lies inside its interval but for rounding."""
    return [
        [max(0.0, one["value"] - one["low"]) for one in values],
        [max(0.0, one["high"] - one["value"]) for one in values],
    ]


def _with_n(names: Sequence[str], values: Sequence[One | None]) -> list[str]:
    return [f"{name} ({one['n']})" if one else name for name, one in zip(names, values, strict=True)]


def _said(label: str, names: Sequence[str], values: Sequence[One | None]) -> str:
    parts = [f"{name} {interval(one)}" for name, one in zip(names, values, strict=True) if one]
    return f"Of {label}: {'; '.join(parts)}."


def _of_type(document: Document, label: str, set_name: str, kind: str, level: str, metric: str) -> One | None:
    levels = document["variants"][label]["by_type"].get(set_name, {}).get(kind, {})
    one: One | None = levels.get(level, {}).get(metric)
    return one


def _facts(document: Document, label: str, set_name: str) -> Mapping[str, Any]:
    facts: Mapping[str, Any] = document["variants"][label]["facts"].get(set_name, {})
    return facts


def _height(rows: float) -> float:
    return 1.3 + ROW_IN * rows
