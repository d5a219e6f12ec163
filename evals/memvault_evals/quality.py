"""`make eval`, `memvault eval`: how well memvault finds, knows, refuses and foresees what public data asks of it."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from memvault.runtime.exits import Exit
from memvault_evals.answers import AnswerLog
from memvault_evals.asking import Variant
from memvault_evals.datasets import Data
from memvault_evals.house import Client, EvalError, House, Mode, stamp
from memvault_evals.progress import Bars
from memvault_evals.report.about import about
from memvault_evals.report.document import document
from memvault_evals.report.page import write_report
from memvault_evals.report.tables import show
from memvault_evals.results import SetReport
from memvault_evals.suites import SUITES
from memvault_evals.suites.suite import Gateway, Run, Suite
from memvault_evals.variants import ABLATIONS, INTENTS, PROFILES, variants_of
from memvault_evals.vault import SETTINGS, Vault, fingerprint
from memvault_evals.workspace import VARIABLE, WORKERS, Workspace, default_folder
from memvault_gateway.domain.words import SWITCHES

AT_ONCE = 4  # questions asked side by side: while one is on its way between processes, others keep the cores busy
MODES: Mapping[str, Mode] = {"one": "one", "six": "six"}
PRODUCT = (
    "memvault", "memvault_router", "memvault_search", "memvault_rerank", "memvault_cascade", "memvault_slow_thinker",
    "memvault_gateway", "memvault_laptop", "memvault_evals",
)  # fmt: skip

POINTS = 100

OFF_HELP = (
    f"Parts to switch off together, by comma: {', '.join(SWITCHES)}, view:self, view:context, ranker:NAME, stage:NAME. "
    "Each --off is one more variant, compared with the first."
)
MODE_HELP = "one: all services in one process; six: a process each, as `memvault up` starts them."
OUT_HELP = (
    "Folder for results.json, report.html and charts; default: a folder named by the time, under results in --folder."
)

app = typer.Typer(subcommand_metavar="")


@app.callback(invoke_without_command=True)
def evaluate(  # noqa: PLR0913, PLR0917 - every option of a command is a parameter
    data: Annotated[
        Path, typer.Option(help="Folder with the sets; docs/data.md describes it.", exists=True, file_okay=False)
    ],
    corpora: Annotated[
        Path | None, typer.Option(help="Folder with what multi-hop sets search; default: corpora beside --data.")
    ] = None,
    suite: Annotated[str, typer.Option(help=f"By comma, of {', '.join(one.name for one in SUITES)}, all.")] = "all",
    sets: Annotated[str, typer.Option(help="Only these sets of the suites, such as locomo,madial_zh.")] = "",
    scopes: Annotated[str, typer.Option(help="Only these scopes of the sets, such as conv-26.")] = "",
    points: Annotated[int, typer.Option(help="Prefetch: so many points of a set, drawn; 0: all.", min=0)] = POINTS,
    profile: Annotated[str, typer.Option(help=f"Of {', '.join(PROFILES)}; the first is compared with.")] = "tuned",
    ablate: Annotated[str, typer.Option(help=f"Switch off one by one: {', '.join(ABLATIONS)}.")] = "",
    off: Annotated[list[str] | None, typer.Option(help=OFF_HELP)] = None,
    thinking: Annotated[str, typer.Option(help="Also force fast, slow.")] = "",
    intent: Annotated[str, typer.Option(help=f"Also force {', '.join(INTENTS)}, or all of them.")] = "",
    mode: Annotated[str, typer.Option(help=MODE_HELP)] = "one",
    workers: Annotated[int, typer.Option(help="Texts that are embedded side by side.", min=1)] = WORKERS,
    folder: Annotated[
        Path | None,
        typer.Option(
            help=f"Keeps vectors, vault and results; default: {VARIABLE}, or memvault/evals among your caches."
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option(help=OUT_HELP)] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Do not go on with an interrupted run.")] = False,
    json_only: Annotated[bool, typer.Option("--json", help="Print the results as JSON instead of tables.")] = False,
) -> None:
    """Measure quality against public data: tables here, and a page with charts. docs/quality.md explains the figures.

    Stopped with ctrl-C, the same command goes on where it stopped, as long as neither code nor data has changed.
    """
    errors = Console(stderr=True)
    try:
        chosen = _chosen(_listed(suite), _listed(sets))
        variants = variants_of(
            _listed(profile),
            ablate=_listed(ablate),
            off=[_listed(one) for one in off or ()],
            thinking=_listed(thinking),
            intents=_listed(intent),
        )
        workspace = Workspace(folder or default_folder())
        where = Data(data, corpora or data.parent / "corpora")
        measuring = Measuring(where, chosen, variants, frozenset(_listed(scopes)), points)
        with stoppable(errors, fresh=fresh):
            found = measuring.run(workspace, _mode(mode), workers, errors, fresh=fresh)
            profiles = dict.fromkeys(variant.profile for variant in variants)
            overrides = workspace.settings(workers) | SETTINGS
            told = document(found, about(sys.argv[1:], data, profiles, corpora=where.corpora, overrides=overrides))
            page = write_report(out or workspace.results(stamp().replace(":", "")), told)
    except EvalError as error:
        errors.print(f"eval: {error}", style="red", highlight=False, markup=False, soft_wrap=True)
        raise typer.Exit(Exit.FAILED) from error
    measuring.answers(workspace, _mode(mode)).unlink(missing_ok=True)
    if json_only:
        print(json.dumps(told, indent=2, ensure_ascii=False))  # noqa: T201 - the result itself
    else:
        show(Console(width=None if sys.stdout.isatty() else 140), told)
    errors.print(f"report: {page}", highlight=False, soft_wrap=True)


@contextmanager
def stoppable(errors: Console, *, fresh: bool) -> Iterator[None]:
    """Tell who stops a run how it goes on, and end with the exit code of an interruption."""
    try:
        yield
    except KeyboardInterrupt as stop:
        again = "the same command without --fresh" if fresh else "the same command"
        errors.print(f"eval: stopped; {again} goes on where it stopped", highlight=False, soft_wrap=True)
        raise typer.Exit(Exit.INTERRUPTED) from stop


def _listed(text: str) -> list[str]:
    return [one.strip() for one in text.split(",") if one.strip()]


def _mode(text: str) -> Mode:
    if text not in MODES:
        raise EvalError(f"--mode: unknown {text}; there are {', '.join(MODES)}")
    return MODES[text]


def _chosen(suites: Sequence[str], sets: Sequence[str]) -> list[tuple[Suite, str]]:
    names = [one.name for one in SUITES]
    wanted = names if "all" in suites else suites
    known = [name for one in SUITES for name in one.sets]
    for option, given, there in (("--suite", wanted, [*names, "all"]), ("--sets", sets, known)):
        unknown = [one for one in given if one not in there]
        if unknown:
            raise EvalError(f"{option}: unknown {', '.join(unknown)}; there are {', '.join(there)}")
    if not wanted:
        raise EvalError(f"--suite: name at least one of {', '.join(names)}, or all")
    chosen = [(one, name) for one in SUITES if one.name in wanted for name in one.sets if not sets or name in sets]
    if not chosen:
        raise EvalError(f"--sets: {', '.join(sets)} belongs to none of the suites {', '.join(wanted)} of --suite")
    return chosen


class Measuring:
    """What is measured: sets of suites under variants."""

    def __init__(
        self,
        data: Data,
        chosen: Sequence[tuple[Suite, str]],
        variants: Sequence[Variant],
        scopes: frozenset[str],
        points: int,
    ) -> None:
        """Keep them; see `Run`."""
        self._data, self._chosen, self._variants, self._scopes = data, chosen, variants, scopes
        self._points = points

    def run(
        self, workspace: Workspace, mode: Mode, workers: int, errors: Console, *, fresh: bool
    ) -> dict[str, dict[str, SetReport]]:
        """Fill the vault, let it settle, ask; returns reports by variant, then by set.

        Raises:
            EvalError: When a part of the product did not take part.
        """
        answers = self.answers(workspace, mode)
        if fresh:
            answers.unlink(missing_ok=True)
        with ExitStack() as stack:
            stack.enter_context(workspace.taken())
            errors.print(f"starting memvault in {workspace.vault}", highlight=False)
            vault = Vault(workspace.vault, fingerprint() + str(SETTINGS))
            house = stack.enter_context(House(vault.home, mode, workspace.settings(workers) | SETTINGS))
            state = house.state()
            client = stack.enter_context(closing(Client(house.http, state["grpc"])))
            log = stack.enter_context(closing(AnswerLog(answers)))
            bars = stack.enter_context(Bars(errors))
            stack.enter_context(stoppable(errors, fresh=fresh))  # said at once: shutting down takes a while
            gateway = Gateway(client, state["nats"], state["redis"])
            sets = frozenset(name for _, name in self._chosen)
            run = Run(self._data, gateway, self._variants, log, bars, vault, self._scopes, self._points, AT_ONCE, sets)
            found = self._measure(run)
            if log.reused:
                errors.print(f"went on with an interrupted run: {log.reused} answers were there", highlight=False)
        return found

    def answers(self, workspace: Workspace, mode: Mode) -> Path:
        """Where the answers of this run lie until its results are written."""
        return workspace.unfinished(self._name(mode))

    def _measure(self, run: Run) -> dict[str, dict[str, SetReport]]:
        for suite, name in self._chosen:
            suite.fill(name, run)
        run.vault.settle(run.gateway.client, run.gateway.nats, run.progress)
        found: dict[str, dict[str, SetReport]] = {}
        for suite, name in self._chosen:
            for label, report in suite.measure(name, run).items():
                found.setdefault(label, {})[name] = report
        return found

    def _name(self, mode: Mode) -> str:
        """Of the run: another product, data, or question is another run."""
        told = hashlib.sha256(fingerprint(PRODUCT).encode())
        told.update(repr((mode, sorted(self._scopes), self._points, [one.label for one in self._variants])).encode())
        told.update(repr([(suite.name, name) for suite, name in self._chosen]).encode())
        for folder in (self._data.folder, self._data.folder / "restricted", self._data.corpora):
            for path in sorted(folder.glob("*.jsonl*")):
                told.update(f"{path.name} {path.stat().st_size} {path.stat().st_mtime_ns}".encode())
        return told.hexdigest()[:16]


if __name__ == "__main__":
    app()
