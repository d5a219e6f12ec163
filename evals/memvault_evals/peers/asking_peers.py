"""Puts the questions of a set to one peer, and keeps its answers for an interrupted run."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from memvault_evals.asking import DEPTH
from memvault_evals.datasets import Scope
from memvault_evals.house import load_average, stamp
from memvault_evals.peers.catalogue import Peer
from memvault_evals.peers.environments import HERE, PeerError, environ, python_of, requirements, staged
from memvault_evals.peers.protocol import Runner, checked
from memvault_evals.peers.runners.e5 import Encoder
from memvault_evals.peers.runners.endpoint import endpoint

# a busy machine must not decide who takes part
START_LIMIT_S, ASK_LIMIT_S = 1800.0, 300.0
FILL_LIMIT_S, FILL_LIMIT_S_A_BLOCK = 600.0, 5.0
SILENT_SHARE = 0.5  # of a set's questions: more without any answer is a broken peer, not a bad one
Step = Callable[[int], None]


@dataclass(frozen=True)
class Answers:
    """What one contestant answered to a set.

    Attributes:
        ranked: Ids by question, best first.
        ms: Milliseconds by question, as the contestant's caller waits.
        blocks: How many were written.
        fill_s: Seconds that took; None when they were there already.
        kept_vectors: Whether vectors may have come from earlier runs, so that `fill_s` tells nothing about encoding.
        at: When it was asked, RFC 3339 in UTC.
        load: The machine's load averages when it began.
    """

    ranked: Mapping[str, Sequence[str]]
    ms: Mapping[str, float]
    blocks: int
    fill_s: float | None
    kept_vectors: bool
    at: str
    load: str


@dataclass(frozen=True)
class Place:
    """Folders of a run.

    Attributes:
        cache: What is kept: environments, answers, logs.
        models: The unpacked model of memvault's encoder.
        kept: Vectors of earlier runs; None embeds everything anew.
    """

    cache: Path
    models: Path
    kept: Path | None

    @property
    def environments(self) -> Path:
        """One folder for each list of requirements."""
        return self.cache / "environments"

    def log(self, peer: Peer, name: str) -> Path:
        """What the runner of a peer printed."""
        return self.cache / "logs" / f"{peer.name}-{name}.log"


class OurEncoder:
    """memvault's encoder at a local address. OpenAI's protocol does not tell a question from a block: `asking` does."""

    def __init__(self, encoder: Encoder) -> None:
        """`asking`: texts are questions from now on."""
        self._encoder, self.asking, self.address = encoder, False, ""

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Encode texts as what they are."""
        vectors = self._encoder.queries(texts) if self.asking else self._encoder.passages(texts)
        return [one.tolist() for one in vectors]


@contextmanager
def our_encoder(place: Place) -> Iterator[OurEncoder]:
    """Serve memvault's encoder while peers run with it."""
    encoder = Encoder(place.models, place.kept)
    try:
        ours = OurEncoder(encoder)
        with endpoint(ours.embed) as ours.address:
            yield ours
    finally:
        encoder.close()


def ask_peer(peer: Peer, name: str, scopes: Sequence[Scope], place: Place, encoder: OurEncoder, step: Step) -> Answers:
    """Fill a new store for every scope and ask its questions.

    Raises:
        PeerError: When the peer cannot be installed or started, fails, hangs, or answers what it was not given.
    """
    python = python_of(peer, place.environments)
    work = Path(tempfile.mkdtemp(prefix=f"memvault-peer-{peer.name}-"))
    try:
        code = staged(work / "code")
        command = [str(python), "-m", f"memvault_evals.peers.runners.{peer.runner}"]
        with Runner(command, environ(work, code), place.log(peer, name)) as runner:
            runner.call("start", START_LIMIT_S, settings=_settings(peer, place, encoder, work))
            return put(runner, peer, scopes, work, encoder, step, kept=place.kept is not None)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def put(
    runner: Runner, peer: Peer, scopes: Sequence[Scope], work: Path, encoder: OurEncoder, step: Step, *, kept: bool
) -> Answers:
    """Put blocks and questions to a runner that has started; see `ask_peer`."""
    at, load, fill_s = stamp(), load_average(), 0.0
    ranked: dict[str, list[str]] = {}
    ms: dict[str, float] = {}
    for number, scope in enumerate(scopes):
        folder = work / "stores" / str(number)
        folder.mkdir(parents=True)
        blocks = texts_of(scope, spoken=peer.spoken)
        encoder.asking = False
        limit_s = FILL_LIMIT_S + FILL_LIMIT_S_A_BLOCK * len(blocks)
        fill_s += float(runner.call("fill", limit_s, folder=str(folder), blocks=blocks)["seconds"])
        encoder.asking = True
        known = {block["id"] for block in blocks}
        for query in scope.queries:
            answer = runner.call("ask", ASK_LIMIT_S, question=query.text, depth=DEPTH)
            ranked[query.id], ms[query.id] = checked(answer, known)
            step(1)
    silent = sum(not ids for ids in ranked.values())
    if silent > SILENT_SHARE * len(ranked):
        raise PeerError(f"it answered nothing to {silent} of {len(ranked)} questions")
    blocks_written = sum(len(scope.blocks) for scope in scopes)
    return Answers(ranked, ms, blocks_written, fill_s, kept and peer.encoder == "e5", at, load)


def texts_of(scope: Scope, *, spoken: bool) -> list[dict[str, str]]:
    """Return id and text of every block; `spoken` puts the speaker first where more than one person speaks."""
    speakers = {block.get("speaker") for block in scope.blocks}
    told = spoken and len(speakers) > 1
    return [
        {"id": block["id"], "text": f"{block['speaker']}: {block['text']}" if told else block["text"]}
        for block in scope.blocks
    ]


def _settings(peer: Peer, place: Place, encoder: OurEncoder, work: Path) -> dict[str, Any]:
    return {
        "encoder": peer.encoder,
        "address": encoder.address,
        "models": str(place.models),
        "kept": str(place.kept or ""),
        "work": str(work),
        **peer.settings,
    }


class Shelf:
    """Answers of earlier runs, by peer, its code and requirements, and what was asked."""

    def __init__(self, folder: Path) -> None:
        """`folder` is made when something is put into it."""
        self._folder = folder

    def get(self, peer: Peer, name: str, scopes: Sequence[Scope]) -> Answers | None:
        """Return answers to the very same questions over the very same blocks, if there are any."""
        path = self._path(peer, name, scopes)
        return Answers(**json.loads(path.read_text(encoding="utf-8"))) if path.exists() else None

    def put(self, peer: Peer, name: str, scopes: Sequence[Scope], answers: Answers) -> None:
        """Keep answers."""
        path = self._path(peer, name, scopes)
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part")
        part.write_text(json.dumps(asdict(answers), ensure_ascii=False), encoding="utf-8")
        part.replace(path)

    def _path(self, peer: Peer, name: str, scopes: Sequence[Scope]) -> Path:
        told = hashlib.sha256(repr((peer, DEPTH)).encode())
        if peer.needs:
            told.update(requirements(peer).read_bytes())
        for source in sorted((HERE / "runners").glob("*.py")):
            told.update(source.read_bytes())
        for scope in scopes:
            told.update(json.dumps([texts_of(scope, spoken=peer.spoken), _asked(scope)], ensure_ascii=False).encode())
        return self._folder / f"{peer.name}-{name}-{told.hexdigest()[:12]}.json"


def _asked(scope: Scope) -> list[list[str]]:
    return [[query.id, query.text] for query in scope.queries]
