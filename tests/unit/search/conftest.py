"""The whole search service on the embedded store, with a small encoder that needs no model."""

from __future__ import annotations

import warnings
import zlib
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from qdrant_client import AsyncQdrantClient

from memvault.bus.memory import MemoryBus
from memvault.runtime.settings import load
from memvault.text import search_tokens
from memvault.vectors import CollectionSpec
from memvault.vectors.server import ServerStore
from memvault_search.adapters.memory import RuleReranker, StandingClock
from memvault_search.app import App, Peers, build
from memvault_search.domain.block import Block
from memvault_search.domain.embedding import EmbeddedTexts, TextKind, TokenVectors, unit_rows
from memvault_search.domain.moment import Moment
from memvault_search.domain.similarity import EncoderMeans
from memvault_search.settings import Profile, SearchSettings
from memvault_search.usecases.asking import Conditions, Found, Question
from memvault_search.usecases.writing import Write, Written

DIMENSION = 64
NOW = datetime(2026, 3, 18, 9, 0, tzinfo=UTC)


class LastingStore(ServerStore):
    """The server adapter on a client in memory, which outlives the service that uses it."""

    def __init__(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            super().__init__(AsyncQdrantClient(":memory:"))

    async def ensure(self, collection: CollectionSpec) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the client in memory says that it has no field indexes
            await super().ensure(collection)

    async def close(self) -> None:
        """Stay, as a server does."""

    async def let_go(self) -> None:
        await super().close()


class WordEncoder:
    """Texts that share words are close: each word is a fixed direction. `outage` makes it fail."""

    id = "words-64"
    dimension = DIMENSION
    prefix_version = "1"
    means = EncoderMeans("words-64", *(np.zeros(DIMENSION, np.float32) for _ in range(3)))

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.outage: Exception | None = None

    async def start(self) -> None:
        """Nothing to load."""

    async def stop(self) -> None:
        """Nothing to release."""

    async def embed(
        self, texts: Sequence[str], kind: TextKind, *, token_vectors: bool = False, soon: bool = False
    ) -> EmbeddedTexts:
        if self.outage is not None:
            raise self.outage
        if kind == "passage":
            self.texts += texts
        rows = [np.stack([self.direction(word) for word in search_tokens(text) or ["?"]]) for text in texts]
        vectors = unit_rows(np.stack([row.sum(axis=0) for row in rows]))
        tokens = tuple(TokenVectors(np.rint(row * 127).astype(np.int8)) if token_vectors else None for row in rows)
        return EmbeddedTexts(vectors, tokens)

    def direction(self, word: str) -> np.ndarray:
        """Float32 [dimension] of length 1, another one for each word."""
        rng = np.random.default_rng(zlib.crc32(word.encode()))
        vector = rng.normal(size=self.dimension).astype(np.float32)
        return cast("np.ndarray", vector / np.linalg.norm(vector))


@dataclass
class House:
    """A running service with short words for what tests do."""

    app: App
    bus: MemoryBus
    encoder: WordEncoder
    reranker: RuleReranker
    clock: StandingClock
    folder: Path
    store: LastingStore
    sequence: int = 0
    defaults: dict[str, Any] = field(default_factory=dict)

    async def write(self, *blocks: Block, on_unsafe: str = "refuse") -> list[Written]:
        written = []
        for block in blocks:
            self.sequence += 1
            write = Write(block, cast("Any", on_unsafe), f"event-{self.sequence}", self.moment())
            written.append(await self.app.usecases.writing.write(write))
        return written

    def moment(self, *, ago: timedelta = timedelta(0)) -> Moment:
        return Moment(self.sequence, self.clock.now() - ago)

    async def ask(self, text: str, *, user: str = "ann", limit: int = 15, **more: Any) -> Found:
        asked = {name: more.pop(name) for name in list(more) if name in Question.__dataclass_fields__}
        conditions = Conditions(**{"now": self.clock.now(), "explain": True, **more})
        return await self.app.usecases.searching.search(Question(user, text, **asked), conditions, limit=limit)

    async def get(self, block_id: str, user: str = "ann") -> Block:
        return (await self.app.usecases.reading.read(user, [block_id]))[0][0]

    async def reopened(self) -> House:
        """The same data in a new process, as far as that can be had in one."""
        await self.app.stop()
        return await started(self.folder, self.store, self.encoder, self.reranker, self.clock, self.sequence)


def note(block_id: str, text: str, **more: Any) -> Block:
    return Block(id=block_id, user_id=more.pop("user_id", "ann"), text=text, **more)


def turn(number: int, text: str, **more: Any) -> Block:
    said = NOW - timedelta(days=2) + timedelta(minutes=number)
    return note(
        f"turn-{number}",
        text,
        speaker=more.pop("speaker", "Ann"),
        conversation_id="talk",
        position=number,
        event_time=said,
        service="chat",
        **more,
    )


async def started(
    folder: Path,
    store: Any,
    encoder: WordEncoder,
    reranker: RuleReranker,
    clock: StandingClock,
    sequence: int = 0,
    *,
    former: WordEncoder | None = None,
    house: WordEncoder | None = None,
    store_name: str = "server",
) -> House:
    names: tuple[Profile, ...] = ("reference", "tuned")
    profiles = {name: load("search", SearchSettings, profile=name, environ={}, home=folder) for name in names}
    bus = MemoryBus("search")
    app = await build(
        profiles,
        profile="tuned",
        peers=Peers(cast("Any", None)),
        bus=bus,
        store=store,
        store_name=store_name,
        embedder=encoder,
        former=former,
        house=house,
        clock=clock,
        reranker=reranker,
    )
    await app.start()
    await bus.start(1)
    return House(app, bus, encoder, reranker, clock, folder, store, sequence)


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    running = await started(tmp_path, LastingStore(), WordEncoder(), RuleReranker(), StandingClock(NOW))
    yield running
    await running.bus.stop()
    await running.app.stop()
    await running.store.let_go()


@pytest.fixture
def ids() -> Callable[[Found], list[str]]:
    return lambda found: [hit.stored.block.id for hit in found.hits]


__all__ = ["NOW", "House", "note", "replace", "turn"]
