"""`python -m memvault_evals.peers --data DIR`: memvault beside other ways to find a memory, in one run."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from memvault_evals.datasets import SETS, Data, Scope, read_set
from memvault_evals.house import MODELS_VARIABLE, Client, EvalError, House, Mode, stamp
from memvault_evals.peers.asking_ours import ask_ours, fill, open_vault
from memvault_evals.peers.asking_peers import Answers, OurEncoder, Place, Shelf, ask_peer, our_encoder
from memvault_evals.peers.catalogue import ENCODERS, PEERS, Peer
from memvault_evals.peers.comparing import Standing, standings
from memvault_evals.peers.environments import PeerError, python_of, versions
from memvault_evals.peers.tables import as_document, markdown, show
from memvault_evals.progress import Bars
from memvault_evals.report.about import about
from memvault_evals.vault import SETTINGS
from memvault_evals.workspace import Workspace, default_folder

DEFAULT_SETS = "madial_zh,memorybank_zh,locomo,lme_s_partial"
MODES: Mapping[str, Mode] = {"six": "six", "one": "one"}
app = typer.Typer(help=__doc__)


class Comparing:
    """One run: its sets, its peers, its folders, and who was dropped."""

    def __init__(self, sets: Mapping[str, Sequence[Scope]], peers: Sequence[Peer], place: Place, bars: Bars) -> None:
        """Keep them."""
        self._sets, self._peers, self._place, self._bars = sets, list(peers), place, bars
        self._shelf = Shelf(place.cache / "answers")
        # opened once: code that changes under a run must not empty what was just written
        self._vault = open_vault(place.cache / "vault")
        self.dropped: list[dict[str, str]] = []
        self.peers: dict[str, dict[str, Any]] = {}

    def prepare(self) -> None:
        """Make the environments, and note what lies in them; who has none is dropped."""
        for peer in list(self._peers):
            try:
                self._bars.begin(f"environment of {peer.name}", 1)
                held = versions(python_of(peer, self._place.environments), peer.packages)
                self._bars.step()
            except PeerError as error:
                self._drop(peer, "", error)
                continue
            told = {"encoder": ENCODERS[peer.encoder], "speaker in the text": peer.spoken, "configuration": peer.told}
            self.peers[peer.name] = {**told, "versions": held}

    def fill(self, workspace: Workspace, mode: Mode) -> None:
        """Write what memvault does not hold yet."""
        total = sum(len(scope.blocks) for scopes in self._sets.values() for scope in scopes)
        self._bars.begin("blocks into memvault", total)
        settings = workspace.settings() if self._place.kept else {}
        fill(self._vault, self._sets, mode, settings, self._bars)

    def run(self, mode: Mode, profile: str, *, reuse: bool) -> Iterator[dict[str, list[Standing]]]:
        """Ask memvault, then each peer, set by set; gives all that is known after each set."""
        found: dict[str, list[Standing]] = {}
        with ExitStack() as stack:
            house = stack.enter_context(House(self._vault.home, mode, SETTINGS))
            client = stack.enter_context(closing(Client(house.http, house.state()["grpc"])))
            encoder = stack.enter_context(our_encoder(self._place))
            for name, scopes in self._sets.items():
                self._bars.begin(f"{name}: memvault", sum(len(scope.queries) for scope in scopes))
                kept = self._place.kept is not None
                ours = ask_ours(client, self._vault, name, scopes, profile, self._bars.step, kept=kept)
                theirs, reused = self._ask_all(name, scopes, encoder, reuse=reuse)
                found[name] = standings(scopes, ours, theirs, reused)
                yield found

    def _ask_all(
        self, name: str, scopes: Sequence[Scope], encoder: OurEncoder, *, reuse: bool
    ) -> tuple[dict[str, Answers], frozenset[str]]:
        theirs: dict[str, Answers] = {}
        reused: set[str] = set()
        for peer in self._peers:
            kept = self._shelf.get(peer, name, scopes) if reuse else None
            if kept:
                theirs[peer.name] = kept
                reused.add(peer.name)
                continue
            self._bars.begin(f"{name}: {peer.name}", sum(len(scope.queries) for scope in scopes))
            try:
                answers = ask_peer(peer, name, scopes, self._place, encoder, self._bars.step)
            except PeerError as error:
                self._drop(peer, name, error)
                continue
            self._shelf.put(peer, name, scopes, answers)
            theirs[peer.name] = answers
        return theirs, frozenset(reused)

    def _drop(self, peer: Peer, name: str, error: PeerError) -> None:
        self.dropped.append({"peer": peer.name, "set": name, "reason": str(error)})
        if not name:
            self._peers.remove(peer)


@app.command()
def compare(  # noqa: PLR0913, PLR0917 - every option of a command is a parameter
    data: Annotated[Path, typer.Option(help="Folder with the normalised sets.", exists=True, file_okay=False)],
    sets: Annotated[str, typer.Option(help="By comma.")] = DEFAULT_SETS,
    scopes: Annotated[str, typer.Option(help="Only these scopes, such as conv-26.")] = "",
    peers: Annotated[str, typer.Option(help=f"Only these of: {', '.join(one.name for one in PEERS)}.")] = "",
    profile: Annotated[str, typer.Option(help="tuned or reference.")] = "tuned",
    mode: Annotated[str, typer.Option(help="memvault as six processes, or one.")] = "six",
    folder: Annotated[Path | None, typer.Option(help="Where environments, vectors and answers are kept.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for the results.")] = None,
    cold: Annotated[bool, typer.Option("--cold", help="Use no vectors of earlier runs: ingestion compares.")] = False,
    reuse: Annotated[bool, typer.Option("--reuse", help="Take peers' answers of an earlier run, marked.")] = False,
) -> None:
    """Ask memvault and its peers the same questions over the same blocks. `--reuse` goes on after an interruption."""
    errors = Console(stderr=True)
    workspace = Workspace(folder or default_folder())
    models = Path(os.environ.get(MODELS_VARIABLE) or Path.cwd() / ".cache" / "models").expanduser()
    place = Place(workspace.folder / "peers", models, None if cold else workspace.embeddings)
    where = out or workspace.results(f"{stamp().replace(':', '')}-peers")
    told = replace(about(sys.argv[1:], data, [profile]), command=_command(sys.argv[1:]))
    try:
        chosen = _chosen(data, sets, frozenset(_listed(scopes)))
        with Bars(errors) as bars:
            run = Comparing(chosen, _peers(peers), place, bars)
            run.prepare()
            run.fill(workspace, _mode(mode))
            for found in run.run(_mode(mode), profile, reuse=reuse):
                _save(where, found, run, {**asdict(told), "mode": mode, "profile": profile})
    except EvalError as error:
        errors.print(f"peers: {error}", style="red", highlight=False, markup=False)
        raise typer.Exit(1) from error
    show(Console(width=None if sys.stdout.isatty() else 220), found, run.dropped)
    errors.print(f"results: {where}", highlight=False, soft_wrap=True)


def _save(where: Path, found: Mapping[str, Sequence[Standing]], run: Comparing, told: Mapping[str, Any]) -> None:
    """Write what is known so far: an interrupted run has told something too."""
    where.mkdir(parents=True, exist_ok=True)
    document = as_document(found, run.dropped, run.peers, {**told, "at": stamp()})
    (where / "peers.json").write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    (where / "peers.md").write_text(markdown(found, run.dropped), encoding="utf-8")


def _listed(text: str) -> list[str]:
    return [one.strip() for one in text.split(",") if one.strip()]


def _chosen(data: Path, sets: str, scopes: frozenset[str]) -> dict[str, list[Scope]]:
    unknown = [name for name in _listed(sets) if name not in SETS]
    if unknown or not _listed(sets):
        raise EvalError(f"--sets: unknown {', '.join(unknown) or 'set'}; there are {', '.join(SETS)}")
    where = Data(data, data.parent / "corpora")
    return {name: read_set(where, name, scopes) for name in _listed(sets)}


def _peers(names: str) -> list[Peer]:
    unknown = set(_listed(names)) - {one.name for one in PEERS}
    if unknown:
        there = ", ".join(one.name for one in PEERS)
        raise EvalError(f"--peers: unknown {', '.join(sorted(unknown))}; there are {there}")
    return [one for one in PEERS if not names or one.name in _listed(names)]


def _mode(text: str) -> Mode:
    if text not in MODES:
        raise EvalError(f"--mode: unknown {text}; there are {', '.join(MODES)}")
    return MODES[text]


def _command(words: Sequence[str]) -> str:
    shown = [Path(word).name if "/" in word else word for word in words]
    return " ".join(["python -m memvault_evals.peers", *shown])


if __name__ == "__main__":
    app()
