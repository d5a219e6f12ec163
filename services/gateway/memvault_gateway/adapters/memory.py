"""What the gateway asks of others, in this process's memory: for tests, and for trying the gateway out alone.

A part that is set to `down` raises that fault at each call, as its client would.
"""

# ruff: noqa: ARG002 - a port says more than a memory has to know

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from memvault.faults import Fault
from memvault.recall.v1 import types_pb2
from memvault.text import search_tokens
from memvault_gateway.adapters import wire
from memvault_gateway.adapters.block_texts import stored
from memvault_gateway.domain.model import (
    Ask,
    Card,
    Carried,
    Filters,
    Found,
    Prepared,
    Rescored,
    StoredBlock,
    Understanding,
    Walked,
)


@dataclass
class Part:
    """Something that can be down."""

    down: Fault | None = None

    def reach(self) -> None:
        """Raise the fault while the part is down."""
        if self.down is not None:
            raise self.down


@dataclass
class FixedClock:
    """See `ports.Clock`; `monotonic` advances by `step_s` at each look."""

    instant: datetime = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)
    step_s: float = 0.001
    seconds: float = 0.0

    def now(self) -> datetime:
        """See `ports.Clock`."""
        return self.instant

    def monotonic(self) -> float:
        """See `ports.Clock`."""
        self.seconds += self.step_s
        return self.seconds


@dataclass
class MemoryRouter(Part):
    """See `ports.QueryUnderstanding`: understands the questions it was told about, others as `unknown`."""

    known: dict[str, Understanding] = field(default_factory=dict)
    asked: list[Ask] = field(default_factory=list)

    async def classify(self, ask: Ask, *, timeout_s: float) -> Understanding:
        """See `ports.QueryUnderstanding`."""
        self.reach()
        self.asked.append(ask)
        return self.known.get(ask.query, Understanding(query=ask.query, confidence=0.5))


@dataclass
class MemoryBlocks(Part):
    """See `ports.MemorySearch`: a score is the share of the question's tokens that a block holds."""

    blocks: dict[tuple[str, str], types_pb2.Block] = field(default_factory=dict)
    write_version: int = 1
    margin: float = 1.0

    def put(self, user_id: str, block_id: str, text: str, **fields: Any) -> None:  # noqa: ANN401 - any field of a block
        """Store a block."""
        self.blocks[user_id, block_id] = types_pb2.Block(id=block_id, user_id=user_id, text=text, **fields)

    async def search(self, ask: Ask, understanding: Understanding, *, timeout_s: float) -> Found:
        """See `ports.MemorySearch`."""
        self.reach()
        cards = self._cards(ask.user_id, understanding.query)
        best = max((card.similarity for card in cards), default=0.0)
        return Found(
            cards=cards,
            confidence="high" if best > 0 else "low",
            relevance=best,
            relevances=tuple(card.similarity for card in cards),
            write_version=self.write_version,
            candidates_found=len(cards),
        )

    async def score(
        self, ask: Ask, understanding: Understanding, block_ids: Sequence[str], reference: Carried, *, timeout_s: float
    ) -> Rescored:
        """See `ports.MemorySearch`."""
        self.reach()
        cards = self._cards(ask.user_id, understanding.query, set(block_ids))
        return Rescored(cards=cards, write_version=self.write_version, confidence="high", margin=self.margin)

    async def rescore(
        self, ask: Ask, understanding: Understanding, prepared: Prepared, *, timeout_s: float
    ) -> Rescored:
        """See `ports.MemorySearch`."""
        wanted = [card.block_id for card in prepared.answer.cards]
        return await self.score(ask, understanding, wanted, None, timeout_s=timeout_s)

    async def read(
        self, user_id: str, block_ids: Sequence[str], *, timeout_s: float
    ) -> tuple[tuple[StoredBlock, ...], int]:
        """See `ports.MemorySearch`."""
        self.reach()
        known = [self.blocks[user_id, name] for name in block_ids if (user_id, name) in self.blocks]
        return tuple(stored(one) for one in known), self.write_version

    async def export(self, user_id: str, *, after: str, limit: int, timeout_s: float) -> AsyncIterator[Carried]:
        """See `ports.MemorySearch`."""
        self.reach()
        names = sorted(name for owner, name in self.blocks if owner == user_id and name > after)
        for name in names[: limit or None]:
            yield self.blocks[user_id, name]

    async def forget(
        self, user_id: str, *, block_ids: Sequence[str], filters: Filters, whole_user: bool, timeout_s: float
    ) -> tuple[str, ...]:
        """See `ports.MemorySearch`."""
        self.reach()
        gone = [
            name
            for (owner, name), block in self.blocks.items()
            if owner == user_id and (whole_user or name in block_ids or block.service in filters.services)
        ]
        for name in gone:
            del self.blocks[user_id, name]
        return tuple(gone)

    def _cards(self, user_id: str, query: str, among: set[str] | None = None) -> tuple[Card, ...]:
        wanted = set(search_tokens(query))
        cards = [
            _card(block, len(wanted & set(search_tokens(block.text))) / max(1, len(wanted)))
            for (owner, name), block in self.blocks.items()
            if owner == user_id and (among is None or name in among)
        ]
        found = [card for card in cards if card.similarity > 0 or among is not None]
        return tuple(sorted(found, key=lambda card: (-card.similarity, card.block_id)))


def _card(block: types_pb2.Block, share: float) -> Card:
    return Card(
        block_id=block.id,
        kind="block",
        text=block.text,
        title=block.title,
        summary=block.summary,
        score=share,
        similarity=share,
        service=block.service,
        source_kind=block.source.kind,
        source_uri=block.source.uri,
        event_time=wire.instant(block, "event_time"),
        trust=block.trust,
        tags=tuple(block.tags),
    )


@dataclass
class MemoryGraph(Part):
    """See `ports.GraphWalk`: every walk finds the same."""

    walked: Walked = field(default_factory=Walked)
    modes: list[str] = field(default_factory=list)

    async def walk(self, ask: Ask, understanding: Understanding, found: Found, *, timeout_s: float) -> Walked:
        """See `ports.GraphWalk`."""
        self.reach()
        self.modes.append(understanding.retrieval_mode)
        return self.walked
