"""Prints what a bench found; every table fits 120 columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from memvault_evals.bench.classifying import ABOUT
from memvault_evals.bench.growth import growth
from memvault_evals.bench.measure import FLOORS

WHERE = {"six": "six processes", "one": "one process"}
AIMS: Mapping[str, Mapping[str, float]] = {"six": {"fast": 3.0, "deep": 2.0}, "one": {"fast": 2.0, "deep": 2.0}}
HIT_AIM_MS = 1.0
SHOWN_HOPS = 14
HUNDRED = 100
MARKDOWN_COLUMNS = 400
Stages = Sequence[Mapping[str, Any]]
Say = Callable[[Table | str], None]


def show(console: Console, report: Mapping[str, Any]) -> None:
    """Print all tables and what they say about the aims."""
    _told(report, lambda one: console.print(one, highlight=False))


def write_markdown(path: Path, report: Mapping[str, Any]) -> None:
    """Write the same as Markdown, for a page of documentation."""
    with path.open("w", encoding="utf-8") as file:
        console = Console(file=file, width=MARKDOWN_COLUMNS)

        def write(one: Table | str) -> None:
            if isinstance(one, Table):
                title, one.title, one.box = one.title, None, box.MARKDOWN
                console.print(f"\n**{title}**", highlight=False, markup=False, soft_wrap=True)
            console.print()
            console.print(one, highlight=False, markup=False, soft_wrap=isinstance(one, str))

        write(f"`{report['command']}`, {report['at']}, load average {report['load']}")
        _told(report, write)


def _told(report: Mapping[str, Any], say: Say) -> None:
    stages: Stages = report["stages"]
    _filling(say, stages)
    for mode in report["plan"]["modes"]:
        of_mode = [stage for stage in stages if mode in stage["modes"]]
        if not of_mode:
            continue
        _latency(say, of_mode, mode)
        _ratios(say, of_mode, mode)
        _classification(say, of_mode, mode)
        _many(say, of_mode, mode)
        _hops(say, of_mode, mode)
        for stage in of_mode:
            if again := stage["modes"][mode].get("taken_again"):
                say(f"{stage['name']}, {mode}: {again} measurements were taken again, because a part was left out")
            _verdict(say, stage, mode)
    _growth(say, stages, report["plan"]["modes"])
    if any(stage["synthetic"] for stage in stages):
        say("`*`: stored vectors are invented by a seeded encoder; questions are encoded for real")


def _table(title: str, columns: Sequence[str]) -> Table:
    table = Table(title=title, title_justify="left")
    for place, heading in enumerate(columns):
        table.add_column(heading, justify="left" if place == 0 else "right", no_wrap=place > 0)
    return table


def _filling(say: Say, stages: Stages) -> None:
    table = _table(
        "writing, six processes",
        ("blocks", "blocks/s", "with graph", "cpu ms/block", "encoding a text", "KB/block", "graph: nodes, edges"),
    )
    for stage in stages:
        filled = stage["filled"]
        encoding = stage.get("encoding_ms")
        table.add_row(
            stage["name"],
            f"{filled['blocks'] / filled['searchable_s']:.1f}",
            f"{filled['blocks'] / filled['in_graph_s']:.1f}",
            f"{filled['cpu_ms']:.1f}",
            f"{encoding:.1f} ms" if encoding else "invented",
            f"{sum(stage['disk'].values()) / stage['size'] / 1000:.1f}",
            "{:,}, {:,}".format(*stage["graph"]),
        )
    say(table)


def _latency(say: Say, stages: Stages, mode: str) -> None:
    loads = "; ".join(f"{stage['name']}: {stage['modes'][mode]['load']}" for stage in stages)
    table = _table(
        f"p50 (p95, p99) in ms, {WHERE[mode]}, one client; load {loads}",
        ("operation", *(stage["name"] for stage in stages)),
    )
    names = list(dict.fromkeys(name for stage in stages for name in stage["modes"][mode]["rows"]))
    for name in names:
        table.add_row(name, *(_cell(stage["modes"][mode]["rows"].get(name)) for stage in stages))
    say(table)


def _ratios(say: Say, stages: Stages, mode: str) -> None:
    table = _table(f"as multiples of the floor, p50, {WHERE[mode]}", ("operation", "floor", *_names(stages)))
    for name, parts in FLOORS.items():
        values = [stage["modes"][mode]["ratios"].get(name) for stage in stages]
        table.add_row(name, " + ".join(parts), *(f"{value:.2f}" if value else "" for value in values))
    for name in stages[0]["modes"][mode]["processor_ratios"]:
        values = [stage["modes"][mode]["processor_ratios"][name] for stage in stages]
        table.add_row(f"{name}: processor time", "the same", *(f"{value:.2f}" for value in values))
    say(table)


def _classification(say: Say, stages: Stages, mode: str) -> None:
    title = f"classifying a question, p50 in ms and as a share of the embedding, {WHERE[mode]}"
    table = _table(title, ("part", *_names(stages)))
    for name in ABOUT:
        table.add_row(name, *(_share(stage["modes"][mode]["classification"].get(name)) for stage in stages))
    say(table)
    for name, about in ABOUT.items():
        say(f"- {name}: {about}")


def _share(found: Mapping[str, float] | None) -> str:
    return f"{found['p50']:.2f}, {found['ratio']:.3f}" if found else ""


def _many(say: Say, stages: Stages, mode: str) -> None:
    table = _table(
        f"many fast recalls at once, {WHERE[mode]}: done/s, then p50 (p95, p99) in ms", ("load", *_names(stages))
    )
    first = stages[0]["modes"][mode]
    for place, one in enumerate(first["closed"]):
        cells = [stage["modes"][mode]["closed"][place] for stage in stages]
        table.add_row(
            f"{one['clients']} at once", *(f"{cell['done']:.1f}/s {_cell(cell['latency'])}" for cell in cells)
        )
        read = [cell.get("reranker", {}) for cell in cells]
        if any(read):
            table.add_row("  calls a batch of the reranker", *(_batch(one) for one in read))
    for place, one in enumerate(first["open"]):
        cells = [stage["modes"][mode]["open"][place] for stage in stages]
        table.add_row(
            f"Poisson {one['share']:.0%}", *(f"{cell['offered']:.1f}/s {_cell(cell['latency'])}" for cell in cells)
        )
    say(table)


def _batch(reranker: Mapping[str, int]) -> str:
    """How many calls a batch of the reranker held: 1 when no two waited at the same time."""
    batches = reranker.get("batches", 0)
    return f"{reranker.get('readings', 0) / batches:.2f}, {batches} batches" if batches else "none"


def _hops(say: Say, stages: Stages, mode: str) -> None:
    table = _table(
        f"where the time of an explained recall goes, {WHERE[mode]}, p50 in ms: fast | deep", ("hop", *_names(stages))
    )
    last = stages[-1]["modes"][mode]["hops"]
    names = sorted({*last["fast"], *last["deep"]}, key=lambda name: -last["deep"].get(name, {"p50": 0.0})["p50"])
    for name in names[:SHOWN_HOPS]:
        cells = []
        for stage in stages:
            found = [stage["modes"][mode]["hops"][kind].get(name) for kind in ("fast", "deep")]
            cells.append(" | ".join("-" if one is None else f"{one['p50']:.1f}" for one in found))
        table.add_row(name, *cells)
    say(table)


def _growth(say: Say, stages: Stages, modes: Sequence[str]) -> None:
    found = growth(stages, modes)
    if not found:
        return
    table = _table(
        "growth of medians and of cost with the size of the vault", ("what", *(one["name"] for one in found))
    )
    for name in found[0]["times"]:
        table.add_row(name, *(f"{one['times'][name]:.2f} x" if name in one["times"] else "" for one in found))
    say(table)


def _verdict(say: Say, stage: Mapping[str, Any], mode: str) -> None:
    figures = stage["modes"][mode]
    said = []
    for name, aim in AIMS[mode].items():
        ratio = figures["ratios"][name]
        said.append(f"{name} {ratio:.2f} x its floor (aim {aim:g}: {'reached' if ratio <= aim else 'missed'})")
        spent = figures["processor_ratios"][name]
        said[-1] += f", {spent:.2f} x in processor time"
    hit = figures["rows"]["prefetch hit"]["p50"]
    said.append(f"prefetch hit {hit:.1f} ms (aim {HIT_AIM_MS:g} ms: {'reached' if hit <= HIT_AIM_MS else 'missed'})")
    memory = sum(figures["memory_mb"].values())
    say(
        f"{stage['name']}, {WHERE[mode]}: {'; '.join(said)}. {memory:.0f} MB resident; "
        f"{figures['reranked_share']:.0%} reranked, {figures['cards']:.1f} cards an answer; "
        f"an answer lies prepared {figures['stored_s']:.1f} s after the utterance."
    )


def _names(stages: Stages) -> list[str]:
    return [stage["name"] for stage in stages]


def _cell(row: Mapping[str, float] | None) -> str:
    if row is None:
        return ""
    return f"{_ms(row['p50'])} ({_ms(row['p95'])}, {_ms(row['p99'])})"


def _ms(value: float) -> str:
    """Three digits that mean something, so that four sizes fit beside each other."""
    return f"{value:.0f}" if value >= HUNDRED else f"{value:.1f}" if value >= 1 else f"{value:.2f}"
