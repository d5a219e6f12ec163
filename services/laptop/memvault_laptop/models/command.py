"""`memvault models`: list, check, fetch, bench."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer
from pydantic import BaseModel, ConfigDict

from memvault.cli import output, where
from memvault.cli.failure import CommandError
from memvault.cli.options import Json
from memvault.faults import Fault
from memvault.models.catalogue import CATALOGUE, Model, model_named
from memvault.models.shelf import folder_of, missing_files
from memvault.runtime.exits import Exit
from memvault.runtime.settings import SettingsError, load
from memvault_laptop.models.roles import COUNTER, EMBEDDER, RERANKER, Role, on_disk, roles
from memvault_rerank.app import configured_model
from memvault_rerank.settings import RerankSettings
from memvault_search.adapters.embedder_opening import open_embedder
from memvault_search.ports import RunningEmbedder
from memvault_search.settings import EmbedderSettings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memvault.models.fetching import Offer, Progress
    from memvault_laptop.models.sanity import Finding

M = TypeVar("M", bound=BaseModel)

app = typer.Typer(help="Models: which are used, whether they work, how fast they are.", no_args_is_help=True)
_TRIES = {
    "qwen3-embedding-0.6b": ("embedder", "qwen3"),
    "jina-reranker-v3": ("reranker", "jina_v3"),
    "qwen3-reranker-0.6b": ("reranker", "qwen3"),
}
Name = Annotated[str, typer.Argument(help="A name that `memvault models list` shows.")]


class ModelsSettings(BaseModel):
    """Section `models`: `endpoint` is the address of the hub; empty: its client's own."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    endpoint: str


@dataclass(frozen=True)
class _Chosen:
    """What to check or measure; None: that role is not looked at."""

    embedder: EmbedderSettings | None
    rerank: RerankSettings | None


@app.command("list")
def list_(json: Json = False) -> None:
    """Show what each role uses now, and which models can be fetched."""
    home = where.home()
    now = _looked_at(home)
    if json:
        catalogue = [asdict(model) | {"on_disk": on_disk(model, home)} for model in CATALOGUE]
        output.print_json({"roles": [asdict(role) for role in now], "catalogue": catalogue})
        return
    from rich.markup import escape  # noqa: PLC0415 - only for people
    from rich.table import Table  # noqa: PLC0415

    table = Table(title="In use", title_justify="left", box=None, pad_edge=False)
    for column in ("", "role", "model", "licence", "size", "where"):
        table.add_column(column, overflow="fold")
    for role in now:
        mark = "[green]✓[/]" if role.ready and role.uses else "[dim]·[/]" if role.ready else "[red]✗[/]"
        table.add_row(mark, role.role, role.uses or "none", role.licence, _size(role.bytes), escape(role.where))
    known = Table(title="\nTo fetch", title_justify="left", box=None, pad_edge=False)
    for column in ("", "name", "role", "licence", "download", "to use it, set"):
        known.add_column(column, overflow="fold")
    for model in CATALOGUE:
        mark = "[green]on disk[/]" if on_disk(model, home) else ""
        known.add_row(mark, model.name, model.role, model.licence, _size(model.bytes), escape(model.setting))
    console = output.console()
    console.print(table)
    for role in now:
        if role.advice:
            console.print(f"  [dim]{role.role}: {escape(role.advice)}[/]", soft_wrap=True)
    console.print(known)


@app.command()
def check(
    name: Annotated[str, typer.Argument(help="A model that lies here but is not in use yet; none: those in use.")] = "",
    json: Json = False,
) -> None:
    """Load the models and look whether they do what their roles need. Exit code 1 when one does not."""
    home = where.home()
    found = [] if name else _missing(_looked_at(home))
    found += asyncio.run(_checked(_chosen(name, home), home, {role for role, _ in found}))
    if json:
        output.print_json({"findings": [{"role": role, **asdict(finding)} for role, finding in found]})
    else:
        from rich.markup import escape  # noqa: PLC0415 - only for people

        console = output.console()
        for role, finding in found:
            mark = "[green]✓[/]" if finding.good else "[red]✗[/]"
            seen = f" [dim]({escape(finding.seen)})[/]" if finding.seen else ""
            console.print(f"{mark} {role}: {escape(finding.what)}{seen}", soft_wrap=True)
    if not all(finding.good for _, finding in found):
        if json:
            raise typer.Exit(Exit.FAILED)
        raise CommandError(Exit.FAILED, "a model does not do what it should: fetch it again, or set another one")


@app.command()
def fetch(
    name: Name,
    accept_licence: Annotated[bool, typer.Option("--accept-licence", help="Do not ask.")] = False,
    json: Json = False,
) -> None:
    """Download a model after showing its licence and size; what was broken off goes on where it stopped."""
    from memvault.models import fetching  # noqa: PLC0415 - for this command only
    from memvault.runtime.folder import Folder  # noqa: PLC0415

    model, home = _known(name), where.home()
    folder, endpoint = folder_of(model, home), load_settings("models", ModelsSettings, home).endpoint
    if missing_files(model, folder):
        try:
            offer = fetching.offered(model, endpoint)
            _agree(offer, folder, accepted=accept_licence)
            with contextlib.suppress(OSError):  # fetching tells what is wrong with the folder
                Folder(home).create()
            with _bar(offer, silent=json) as progress:
                fetching.fetch(offer, folder, progress)
        except Fault as fault:
            raise CommandError(Exit.UNAVAILABLE, fault.message) from fault
    if json:
        output.print_json({"name": name, "folder": str(folder), "setting": model.setting})
    else:
        console = output.console()
        console.print(f"[green]✓[/] {name} is in {folder}", soft_wrap=True)
        console.print(f"  look at it with `memvault models check {name}`; to use it, set {model.setting}", markup=False)


@app.command()
def bench(
    documents: Annotated[int, typer.Option(min=1, help="Passages embedded in one call.")] = 200,
    queries: Annotated[int, typer.Option(min=1, help="Queries embedded one by one.")] = 60,
    candidates: Annotated[int, typer.Option(min=1, max=200, help="Documents of a list to rerank.")] = 15,
    lists: Annotated[int, typer.Option(min=1, help="Lists reranked one by one.")] = 10,
    json: Json = False,
) -> None:
    """Measure the models in use on this machine, beside the packaged encoder."""
    home = where.home()
    lacking = _missing(_looked_at(home))
    if lacking:
        raise CommandError(Exit.UNAVAILABLE, lacking[0][1].seen)
    figures = asyncio.run(_measured(home, documents=documents, queries=queries, candidates=candidates, lists=lists))
    if json:
        output.print_json(figures)
        return
    console = output.console()
    for what, numbers in figures.items():
        console.print(f"[bold]{what.replace('_', ' ')}[/]")
        for key, value in numbers.items():
            console.print(f"  {key.replace('_', ' ')}: {f'{value:.4g}' if isinstance(value, float) else value}")


async def _checked(chosen: _Chosen, home: Path, missing: set[str]) -> list[tuple[str, Finding]]:
    """Look at every chosen model whose role is not among the missing ones."""
    from memvault_laptop.models.sanity import check_embedder, check_reranker  # noqa: PLC0415 - loads numpy

    found: list[tuple[str, Finding]] = []
    if chosen.embedder is not None and EMBEDDER not in missing:
        embedder = await _opened(chosen.embedder, home)
        found += [(EMBEDDER, finding) for finding in await check_embedder(embedder)]
    model = None if chosen.rerank is None or RERANKER in missing else configured_model(chosen.rerank, home)
    if model is not None:
        feeding = await _feeding(chosen, home)
        found += [(RERANKER, finding) for finding in await check_reranker(model, feeding)]
    return found


async def _measured(
    home: Path, *, documents: int, queries: int, candidates: int, lists: int
) -> dict[str, dict[str, Any]]:
    from memvault_laptop.models.speed import embedder_speed, reranker_speed  # noqa: PLC0415 - loads numpy

    chosen = _chosen("", home)
    if chosen.embedder is None:
        raise RuntimeError("an embedder is always configured")
    figures: dict[str, dict[str, Any]] = {}
    own = await embedder_speed(await _opened(chosen.embedder, home), documents=documents, queries=queries)
    figures["embedder"] = asdict(own)
    if chosen.embedder.kind != "e5":
        packaged = await _opened(chosen.embedder.model_copy(update={"kind": "e5"}), home)
        other = await embedder_speed(packaged, documents=documents, queries=queries)
        figures["packaged_encoder"] = asdict(other)
        figures["embedder_against_the_packaged_one"] = {
            "documents_per_s": own.documents_per_s / other.documents_per_s,
            "queries_per_s": own.queries_per_s / other.queries_per_s,
        }
    model = None if chosen.rerank is None else configured_model(chosen.rerank, home)
    if model is not None:
        feeding = await _feeding(chosen, home)
        figures["reranker"] = asdict(await reranker_speed(model, feeding, documents=candidates, lists=lists))
    return figures


async def _opened(settings: EmbedderSettings, home: Path) -> RunningEmbedder:
    try:
        return await asyncio.to_thread(open_embedder, settings, home)
    except Fault as fault:
        raise CommandError(Exit.UNAVAILABLE, fault.message) from fault


async def _feeding(chosen: _Chosen, home: Path) -> RunningEmbedder | None:
    """Late interaction reads what the embedder made; other models read texts."""
    if chosen.rerank is None or chosen.rerank.model != "late_interaction" or chosen.embedder is None:
        return None
    return await _opened(chosen.embedder, home)


def _chosen(name: str, home: Path) -> _Chosen:
    embedder = load_settings("search.embedder", EmbedderSettings, home)
    rerank = load_settings("rerank", RerankSettings, home)
    if not name:
        return _Chosen(embedder, rerank)
    model = _known(name)
    if name not in _TRIES:
        raise CommandError(Exit.REFUSED, f"{name} is a language model: set {model.setting} and run `memvault up`")
    role, kind = _TRIES[name]
    if role == "embedder":
        return _Chosen(embedder.model_copy(update={"kind": kind}), None)
    return _Chosen(None, rerank.model_copy(update={"model": kind}))


def _missing(now: tuple[Role, ...]) -> list[tuple[str, Finding]]:
    """The roles that cannot work, as findings; a role that nobody plays is none."""
    from memvault_laptop.models.sanity import Finding  # noqa: PLC0415 - loads numpy

    lacking = [role for role in now if role.uses and not role.ready and role.role != COUNTER]
    return [(role.role, Finding(f"{role.uses} is ready", good=False, seen=role.advice)) for role in lacking]


def _agree(offer: Offer, folder: Path, *, accepted: bool) -> None:
    """Show what is offered and under which terms; go on only when somebody agrees."""
    model = offer.model
    told = [
        f"{model.name} from {model.repository}, revision {offer.revision[:12]}, {_size(offer.bytes)}, into {folder}",
        f"licence: {model.licence}: {model.terms}",
    ]
    if offer.licence and offer.licence.casefold() != model.licence.casefold():
        told.append(f"the hub's card names another licence: {offer.licence}")
    sys.stderr.write("\n".join(told) + "\n")
    if accepted:
        return
    if not sys.stdin.isatty():
        raise CommandError(Exit.REFUSED, "nobody is there to agree: run it again with --accept-licence")
    if not typer.confirm("Do you accept the licence and want to download it?", err=True):
        raise CommandError(Exit.REFUSED, "nothing was downloaded")


@contextlib.contextmanager
def _bar(offer: Offer, *, silent: bool) -> Iterator[Progress]:
    """Show on stderr how far it is, where somebody looks."""
    if silent or not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.progress import BarColumn, DownloadColumn, TimeRemainingColumn, TransferSpeedColumn  # noqa: PLC0415
    from rich.progress import Progress as Bars  # noqa: PLC0415 - only for people

    columns = (BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    with Bars(*columns, console=output.messages()) as bars:
        task = bars.add_task(offer.model.name, total=offer.bytes)
        yield lambda more: bars.advance(task, more)


def _known(name: str) -> Model:
    model = model_named(name)
    if model is None:
        names = ", ".join(one.name for one in CATALOGUE)
        raise CommandError(Exit.NOT_FOUND, f"no model is called {name}: there are {names}")
    return model


def _looked_at(home: Path) -> tuple[Role, ...]:
    try:
        return roles(home)
    except SettingsError as error:
        raise CommandError(Exit.MISCONFIGURED, str(error)) from error


def load_settings(section: str, model: type[M], home: Path) -> M:
    """Read a section; a wrong setting ends the command."""
    try:
        return load(section, model, home=home)
    except SettingsError as error:
        raise CommandError(Exit.MISCONFIGURED, str(error)) from error


def _size(count: int) -> str:
    if not count:
        return ""
    return f"{count / 1e9:.2f} GB" if count >= 1e9 else f"{count / 1e6:.0f} MB"  # noqa: PLR2004 - a gigabyte
