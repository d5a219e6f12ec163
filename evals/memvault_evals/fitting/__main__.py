"""`make fit DATA=folder`: fits what the specification calls fitted, and writes it into `memvault/defaults.toml`.

Fitted are the router's fusion (R-03), and of search's tuned profile how rankers are fused, how far boosts may go, how
the rerank is blended (R-10, R-13a, R-16), and the attention gate (R-15). Everything is chosen on development data by
cross-validation over scopes and told again with each set left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Annotated

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from memvault.runtime.settings import DEFAULTS, load
from memvault_evals.datasets import Data
from memvault_evals.fitting.cases import Case
from memvault_evals.fitting.choosing import (
    FINDING,
    RERANKING,
    Setting,
    Trials,
    compared,
    cross_validated,
    descend,
    left_out,
    setting_of,
)
from memvault_evals.fitting.collected import collected
from memvault_evals.fitting.gates import RuleReport, by_set, gains_of, report
from memvault_evals.fitting.replay import Setup, agrees
from memvault_evals.fitting.router import Fitted, fit_router
from memvault_evals.fitting.writing import Values, write
from memvault_evals.house import EvalError
from memvault_evals.metrics import Figure
from memvault_evals.workspace import Workspace, default_folder
from memvault_search.settings import SearchSettings

SEED = 20261129
FITTED_ON = (
    "locomo",
    "lme_s_partial",
    "beam100k",
    "ikat_ptkb",
    "memorybank_zh",
    "madial_zh",
    "memdaily_zh",
    "drcd_zh",
    "xquad_zh2en",
)
MOST_QUESTIONS = 200
GATE = "tuned.search.gate"

app = typer.Typer(help="Fit the numbers of the tuned profile and of the router on development data.")


@app.command()
def fit(
    data: Annotated[Path, typer.Option(help="Folder with the normalised sets.", exists=True, file_okay=False)],
    sets: Annotated[str, typer.Option(help="Sets to fit search on; empty: those of recall and chinese.")] = "",
    parts: Annotated[str, typer.Option(help="Of: router, search, or of search only the gate.")] = "router,search",
    dry: Annotated[bool, typer.Option("--dry", help="Print only, write nothing.")] = False,
    workspace: Annotated[Path | None, typer.Option(help="Where vectors, vaults and answers are kept.")] = None,
) -> None:
    """Fit, print the tables, and write the numbers."""
    console, place = Console(), Workspace(workspace or default_folder())
    source = Data(data, data.parent / "corpora")
    names = [one.strip() for one in sets.split(",") if one.strip()]
    names = names or list(FITTED_ON)
    values: dict[str, dict[str, object]] = {}
    remarks: dict[str, str] = {}
    try:
        if "router" in parts:
            found = fit_router(source, place.embeddings)
            if found is not None:
                _take(router_values(found, console), values, remarks)
        if "search" in parts or "gate" in parts:
            cases = collected(source, names, place, console.print)
            fitting = search_values if "search" in parts else gate_values
            _take(fitting(cases, console), values, remarks)
    except EvalError as error:
        console.print(f"fit: {error}", style="red", highlight=False, markup=False)
        raise typer.Exit(1) from error
    if dry:
        console.print("nothing was written")
        return
    write(DEFAULTS, values, remarks)
    console.print(f"{DEFAULTS} holds the new numbers: review the difference, run make golden, write down why")


def _take(found: tuple[Values, dict[str, str]], values: dict[str, dict[str, object]], remarks: dict[str, str]) -> None:
    for path, table in found[0].items():
        values.setdefault(path, {}).update(table)
    remarks.update(found[1])


def router_values(found: Fitted, console: Console) -> tuple[Values, dict[str, str]]:
    """Print the router's figures, and return its numbers."""
    table = Table(
        "funnel", "questions", "n", "accuracy", "macro-F1", "calibration error", title="Router, held-out folds"
    )
    for title, part, count, accuracy, score, error in found.figures:
        table.add_row(title, part, str(count), f"{accuracy:.3f}", f"{score:.3f}", f"{error:.3f}")
    console.print(table)
    console.print(
        f"nearest share {found.nearest_share}, {found.numbers}; usual verdicts {found.usual}", highlight=False
    )
    fused = {part: accuracy for title, part, _, accuracy, _, _ in found.figures if title == "fused"}
    told = ", ".join(f"{part} {accuracy:.2f}" for part, accuracy in fused.items())
    remark = f"make fit, {_today()}, {found.rows} rows, 5 folds: fused accuracy {told}"
    numbers = asdict(found.numbers)
    values = {
        "router": {"nearest_share": found.nearest_share},
        "router.intent_fusion": numbers,
        "tuned.router.personal.habits": {"usual": found.usual},
    }
    return values, {"router.intent_fusion": remark}


def search_values(cases: Sequence[Case], console: Console) -> tuple[Values, dict[str, str]]:
    """Fit search, print its tables, and return its numbers."""
    numbers = _in_force(cases)
    chosen = sampled(cases)
    console.print(f"{len(cases)} questions replayed exactly; fitting on {len(chosen)}")
    every, shipped = np.ones(len(chosen), np.bool_), setting_of(numbers)
    without = Trials(chosen, numbers, frozenset({"rerank"}))
    found = descend(without, shipped, FINDING, every)
    _show("Finding, no rerank: fitted - shipped", without, found, shipped, console)
    held = cross_validated(without, shipped, FINDING)
    apart, settings = left_out(without, shipped, FINDING)
    _paired(
        "Finding, no rerank, against shipped, points of (recall@5 + nDCG@10) / 2",
        {
            "fitted": compared(without.values(found), without.values(shipped), chosen),
            "cross-validated": compared(held, without.values(shipped), chosen),
            "set left out": compared(apart, without.values(shipped), chosen),
        },
        console,
    )
    for name, setting in settings.items():
        console.print(f"without {name}: {setting}", highlight=False)
    reranked = Trials(chosen, numbers, frozenset({"gate"}))
    final = descend(reranked, found, RERANKING, every)
    _show("Rerank of every question: fitted", reranked, final, shipped, console)
    _paired("Rerank of every question - no rerank", {"fitted": _gain(reranked, without, final)}, console)
    gates = _gate(cases, final.applied(numbers), console)
    told = _remark(chosen, f", {without.settings + reranked.settings} settings")
    remarks = dict.fromkeys(("tuned.search.finding.weights", GATE), told)
    return _search_numbers(final, gates), remarks


def gate_values(cases: Sequence[Case], console: Console) -> tuple[Values, dict[str, str]]:
    """Fit the gate alone, with all other numbers as they are in force."""
    return _gate(cases, _in_force(cases), console), {GATE: _remark(cases)}


def _in_force(cases: Sequence[Case]) -> SearchSettings:
    numbers = load("search", SearchSettings, profile="tuned")
    wrong = strayed(cases, numbers)
    if wrong:
        raise EvalError(f"the replay of {len(wrong)} questions is not what the product answered, such as {wrong[0]}")
    return numbers


def _gate(cases: Sequence[Case], numbers: SearchSettings, console: Console) -> Values:
    gains = gains_of(cases, numbers)
    rules = report(gains)
    _gates(rules, console)
    bounds = {"" if intent == "all" else intent: one.bounds for intent, one in rules.items()}
    table = Table("set", "n", "skipped", "costs", "rerank of all gains", title="The same by set, all intents together")
    for name, one in by_set(gains, bounds).items():
        table.add_row(name, str(one.questions), f"{one.skipped:.1f}", _interval(one.cost), _interval(one.gain))
    console.print(table)
    return {f"{GATE}.intents.{intent}" if intent else GATE: asdict(one) for intent, one in bounds.items()}


def strayed(cases: Sequence[Case], numbers: SearchSettings) -> list[str]:
    """Ids of questions whose replay with the numbers in force is not the order that the product gave."""
    setup = Setup(numbers)
    return [case.id for case in cases if not agrees(case, setup)]


def sampled(cases: Sequence[Case]) -> list[Case]:
    """At most `MOST_QUESTIONS` of each set, drawn once and for all."""
    by_set: dict[str, list[Case]] = {}
    for case in cases:
        by_set.setdefault(case.set_name, []).append(case)
    return [
        one
        for listed in by_set.values()
        for one in (listed if len(listed) <= MOST_QUESTIONS else Random(SEED).sample(listed, MOST_QUESTIONS))
    ]


def _gain(reranked: Trials, without: Trials, setting: Setting) -> dict[str, Figure]:
    return compared(reranked.values(setting), without.values(setting), without.cases)


def _show(title: str, trials: Trials, found: Setting, shipped: Setting, console: Console) -> None:
    table = Table("number", "shipped", "fitted", title=f"{title} ({trials.settings} settings tried)")
    before = asdict(shipped)
    for name, value in asdict(found).items():
        table.add_row(name, str(before[name]), str(value) if value != before[name] else "")
    console.print(table)


def _paired(title: str, columns: dict[str, dict[str, Figure]], console: Console) -> None:
    table = Table("set", "n", *columns, title=title)
    for name, first in next(iter(columns.values())).items():
        table.add_row(name, str(first.n), *(_interval(one[name]) for one in columns.values()))
    console.print(table)


def _interval(one: Figure) -> str:
    return f"{one.value:+.1f} [{one.low:.1f}, {one.high:.1f}]"


def _gates(rules: dict[str, RuleReport], console: Console) -> None:
    headings = ("intent", "n", "lead from", "skips", "costs", "spread up to", "skips", "costs", "held out costs")
    table = Table(*headings, title="Gate: share of questions in percent, cost in points of nDCG@10 (negative: a gain)")
    for intent, one in rules.items():
        table.add_row(
            intent,
            str(one.questions),
            f"{one.bounds.dominant_lead:g}",
            f"{one.dominant_share:.1f}",
            f"{one.dominant_cost:+.2f}",
            f"{one.bounds.cluster_spread:g}",
            f"{one.tight_share:.1f}",
            f"{one.tight_cost:+.2f}",
            f"{one.held_out_cost:+.2f}",
        )
    console.print(table)


def _search_numbers(found: Setting, gates: Values) -> Values:
    weights = ("dense_self", "dense_context", "sparse_self", "sparse_context", "speaker")
    return {
        "tuned.search.finding": {"grouping_share": found.grouping_share},
        "tuned.search.finding.weights": {name: getattr(found, name) for name in weights},
        "tuned.search.fusion": {"method": found.method, "k": found.k},
        "tuned.search.scoring": {"clamp_low": 1.0 - found.clamp, "clamp_high": 1.0 + found.clamp},
        "tuned.search.strengths": {"blend_scoring": found.blend_scoring},
        **gates,
        GATE: {"depth": found.depth, **gates[GATE]},
    }


def _remark(cases: Sequence[Case], more: str = "") -> str:
    return f"make fit, {_today()}: {len(cases)} questions of {len({case.set_name for case in cases})} sets{more}"


def _today() -> str:
    return datetime.now(UTC).date().isoformat()


if __name__ == "__main__":
    app()
