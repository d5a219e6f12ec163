"""`python -m memvault_evals.quality --data DIR`: how well memvault finds what public data says it must find."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from memvault_evals.asking import Outcome, Variant, ask, by_type
from memvault_evals.datasets import SETS, SUITES, Scope, read_set
from memvault_evals.house import Client, EvalError, House, Mode, load_average, stamp, temporary_folder
from memvault_evals.metrics import difference, figure

PROFILES = ("tuned", "reference")
COLUMNS = ("recall@5", "recall@10", "hit@5", "mrr", "ndcg@10")
PAIRED = ("recall@5", "ndcg@10")
Outcomes = dict[str, dict[str, list[Outcome]]]  # by variant, then by set

app = typer.Typer(help="Measure quality against public data, and switch parts off to see what each brings.")


@app.callback(invoke_without_command=True)
def evaluate(  # noqa: PLR0913, PLR0917 - every option of a command is a parameter
    data: Annotated[Path, typer.Option(help="Folder with the normalised sets.", exists=True, file_okay=False)],
    suites: Annotated[str, typer.Option(help=f"Of: {', '.join(SUITES)}.")] = "recall,chinese",
    sets: Annotated[str, typer.Option(help=f"Instead of suites, of: {', '.join(SETS)}.")] = "",
    scopes: Annotated[str, typer.Option(help="Only these scopes, such as conv-26.")] = "",
    profiles: Annotated[str, typer.Option(help="Of: tuned, reference.")] = "tuned",
    off: Annotated[
        list[str] | None,
        typer.Option(help="Parts to switch off, by comma: rerank, gate, view:context, ... Again for another variant."),
    ] = None,
    thinking: Annotated[str, typer.Option(help="fast or slow; empty: as the router chooses.")] = "",
    mode: Annotated[str, typer.Option(help="six processes, or one.")] = "one",
    address: Annotated[str, typer.Option(help="Gateway that runs already, host:port; it keeps the data.")] = "",
    folder: Annotated[Path | None, typer.Option(help="Keep the vault there: a later run need not fill it.")] = None,
    outcomes: Annotated[Path | None, typer.Option(help="Write every question's ranked ids there, as JSONL.")] = None,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the figures there.")] = None,
) -> None:
    """Measure quality against public data, and switch parts off to see what each brings."""
    console = Console(width=None if sys.stdout.isatty() else 140)
    try:
        variants = _variants(_listed(profiles), off or [""], thinking)
        chosen = {name: read_set(data, name, frozenset(_listed(scopes))) for name in _chosen(suites, sets)}
        with _gateway(address, folder, mode) as where, closing(Client(where)) as client:
            found = _run(client, chosen, variants, console)
    except EvalError as error:
        console.print(f"eval: {error}", style="red", highlight=False, markup=False)
        raise typer.Exit(1) from error
    report = _report(found)
    _show(console, report, found)
    if json_file:
        json_file.write_text(json.dumps(report, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    if outcomes:
        outcomes.write_text("".join(_lines(found)), encoding="utf-8")


def _listed(text: str) -> list[str]:
    return [one.strip() for one in text.split(",") if one.strip()]


def _chosen(suites: str, sets: str) -> list[str]:
    unknown = [one for one in _listed(suites) if one not in SUITES] + [one for one in _listed(sets) if one not in SETS]
    if unknown:
        raise EvalError(f"unknown: {', '.join(unknown)}; suites are {', '.join(SUITES)}, sets are {', '.join(SETS)}")
    return _listed(sets) or list(dict.fromkeys(name for suite in _listed(suites) for name in SUITES[suite]))


def _variants(profiles: Sequence[str], off: Sequence[str], thinking: str) -> list[Variant]:
    if not profiles or not set(profiles) <= set(PROFILES):
        raise EvalError(f"--profiles takes {', '.join(PROFILES)}")
    return [Variant(profile, tuple(_listed(parts)), thinking) for profile in profiles for parts in off]


@contextmanager
def _gateway(address: str, folder: Path | None, mode: str) -> Iterator[str]:
    if address:
        yield address
        return
    modes: dict[str, Mode] = {"six": "six", "one": "one"}
    if mode not in modes:
        raise EvalError("--mode takes six or one")
    with temporary_folder() if folder is None else nullcontext(folder) as where:
        with House(where, modes[mode]) as house:
            yield house.http


def _run(
    client: Client, chosen: Mapping[str, Sequence[Scope]], variants: Sequence[Variant], console: Console
) -> Outcomes:
    found: Outcomes = {variant.label: {name: [] for name in chosen} for variant in variants}
    for name, scopes in chosen.items():
        for scope in scopes:
            for done in client.write(scope.user_id, scope.blocks):
                console.print(f"{scope.user_id}: {done} of {len(scope.blocks)} written", style="dim", highlight=False)
        for scope in scopes:
            for query in scope.queries:
                for variant in variants:
                    found[variant.label][name].append(ask(client, scope, query, variant))
    return found


def _report(found: Outcomes) -> dict[str, Any]:
    """`results` is the first variant's: set -> level -> metric -> {value, low, high, n}; `variants` holds all."""
    labels = list(found)
    variants = {
        label: {
            "results": {name: _figures(outcomes) for name, outcomes in by_set.items()},
            "by_type": {
                name: {kind: _figures(some) for kind, some in by_type(outcomes).items()}
                for name, outcomes in by_set.items()
            },
            "against_first": {
                name: _differences(outcomes, found[labels[0]][name]) for name, outcomes in by_set.items()
            },
        }
        for label, by_set in found.items()
    }
    first = variants[labels[0]]
    return {
        "at": stamp(),
        "load": load_average(),
        "first": labels[0],
        "results": first["results"],
        "variants": variants,
    }


def _figures(outcomes: Sequence[Outcome]) -> dict[str, dict[str, Any]]:
    return {
        level: {
            metric: asdict(figure([one.levels[level][metric] for one in outcomes]))
            for metric in outcomes[0].levels[level]
        }
        for level in outcomes[0].levels
    }


def _differences(outcomes: Sequence[Outcome], base: Sequence[Outcome]) -> dict[str, dict[str, Any]]:
    return {
        metric: asdict(
            difference([one.levels["turn"][metric] for one in outcomes], [one.levels["turn"][metric] for one in base])
        )
        for metric in PAIRED
    }


def _show(console: Console, report: Mapping[str, Any], found: Outcomes) -> None:
    for name in report["results"]:
        table = Table(title=f"{name}, {report['at']}, load {report['load']}", title_justify="left")
        for heading in ("variant", "level", "type", "n", *COLUMNS, *(f"{one} - first" for one in PAIRED)):
            table.add_column(heading, justify="left" if heading in {"variant", "level", "type"} else "right")
        for label, figures in report["variants"].items():
            for level, metrics in figures["results"][name].items():
                paired = figures["against_first"][name] if level == "turn" and label != report["first"] else {}
                table.add_row(label, level, "", *_cells(metrics), *(_interval(paired[one]) for one in PAIRED if paired))
            for kind, levels in figures["by_type"][name].items():
                table.add_row(label, "turn", kind, *_cells(levels["turn"]))
        console.print(table)
    for label, by_set in found.items():
        every = [one for outcomes in by_set.values() for one in outcomes]
        intents, slow = Counter(one.intent for one in every), sum(one.thinking_mode == "slow" for one in every)
        console.print(
            f"{label}: intents {dict(intents.most_common())}, slow {slow} of {len(every)}, "
            f"reranked {sum(one.reranked for one in every)}",
            highlight=False,
        )


def _cells(metrics: Mapping[str, Any]) -> list[str]:
    return [str(metrics[COLUMNS[0]]["n"]), *(_interval(metrics[one]) for one in COLUMNS)]


def _interval(one: Mapping[str, float]) -> str:
    return f"{one['value']:.1f} [{one['low']:.1f}, {one['high']:.1f}]"


def _lines(found: Outcomes) -> Iterator[str]:
    for label, by_set in found.items():
        for name, outcomes in by_set.items():
            for one in outcomes:
                row = {
                    "variant": label,
                    "set": name,
                    "id": one.query.id,
                    "type": one.query.kind,
                    "intent": one.intent,
                    "thinking": one.thinking_mode,
                    "reranked": one.reranked,
                    "gold": sorted(one.query.gold),
                    "ranked": one.ranked,
                    **one.levels["turn"],
                }
                yield json.dumps(row, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    app()
