"""What the gateway needs of others, named for the need. Every one takes the user as a mandatory argument."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from typing import Protocol

from memvault_gateway.domain.model import (
    Ask,
    AuditHit,
    Carried,
    Filters,
    Found,
    PartState,
    Prepared,
    Rescored,
    StoredBlock,
    Understanding,
    Utterance,
    Walked,
)


class Clock(Protocol):
    """Time."""

    def now(self) -> datetime:
        """The current instant, UTC."""
        ...

    def monotonic(self) -> float:
        """Seconds that never run backwards."""
        ...


class QueryUnderstanding(Protocol):
    """Finds out what is being asked."""

    async def classify(self, ask: Ask, *, timeout_s: float) -> Understanding:
        """Faults pass through."""
        ...


class MemorySearch(Protocol):
    """Finds, scores and reads blocks."""

    async def search(self, ask: Ask, understanding: Understanding, *, timeout_s: float) -> Found:
        """Hybrid search with scores."""
        ...

    async def score(
        self, ask: Ask, understanding: Understanding, block_ids: Sequence[str], reference: Carried, *, timeout_s: float
    ) -> Rescored:
        """Score named blocks in the frame of a search."""
        ...

    async def rescore(
        self, ask: Ask, understanding: Understanding, prepared: Prepared, *, timeout_s: float
    ) -> Rescored:
        """Score the candidates of a prepared answer for the real question."""
        ...

    async def read(
        self, user_id: str, block_ids: Sequence[str], *, timeout_s: float
    ) -> tuple[tuple[StoredBlock, ...], int]:
        """Blocks by id, and the user's write version."""
        ...

    def export(self, user_id: str, *, after: str, limit: int, timeout_s: float) -> AsyncIterator[Carried]:
        """Blocks of a user, ordered by id: those behind `after`, `limit` at most, 0: all."""
        ...

    async def forget(
        self, user_id: str, *, block_ids: Sequence[str], filters: Filters, whole_user: bool, timeout_s: float
    ) -> tuple[str, ...]:
        """Remove blocks and announce it; returns their ids."""
        ...


class GraphWalk(Protocol):
    """Walks the graph for a deep question."""

    async def walk(self, ask: Ask, understanding: Understanding, found: Found, *, timeout_s: float) -> Walked:
        """Facts, blocks, communities and summaries near the question."""
        ...


class Facts(Protocol):
    """What the gateway tells the others. Publishing waits until the bus has stored it."""

    async def block_upserted(self, block: Carried, on_unsafe: str, event_id: str, *, restore: bool) -> None:
        """A block is to be stored; with `restore` it is a line of an export. Fault: BUS_UNAVAILABLE."""
        ...

    async def accessed(
        self, user_id: str, block_ids: Sequence[str], topics: Sequence[str], *, recall_id: str, kind: str, at: datetime
    ) -> None:
        """Cards were delivered."""
        ...

    async def redacted(self, user_id: str, hits: Sequence[AuditHit], *, recall_id: str, at: datetime) -> None:
        """Cards were redacted."""
        ...

    async def feedback(self, user_id: str, block_id: str, verdict: str, *, recall_id: str, event_id: str) -> None:
        """A user judged a block."""
        ...

    async def utterance(self, user_id: str, conversation_id: str, said: Utterance, *, event_id: str) -> None:
        """Something was said."""
        ...

    async def dream(self, user_id: str, *, event_id: str, at: datetime) -> None:
        """The nightly loop is to start."""
        ...

    async def forget_dead_letters(self, user_id: str, block_ids: frozenset[str]) -> int:
        """Erase dead letters of these blocks, or of the user where none is named."""
        ...


class Confirmations(Protocol):
    """Tells what became of writes."""

    def expect(self, event_id: str) -> None:
        """Begin to listen for the outcome of one write."""
        ...

    async def outcome(self, event_id: str, timeout_s: float) -> tuple[str, str, str] | None:
        """Status, reason and detail; None when none came in time. Stops listening."""
        ...


class PreparedUse(Protocol):
    """Counts the use of prepared answers."""

    async def used(self, user_id: str, prepared: Prepared, saved_ms: float) -> None:
        """A prepared answer was delivered."""
        ...


class Forgetters(Protocol):
    """Other owners of a user's data."""

    async def forget(self, user_id: str, block_ids: Sequence[str], *, whole_user: bool, timeout_s: float) -> list[str]:
        """Remove what stands on these blocks; returns the parts that could not confirm."""
        ...


class Health(Protocol):
    """State of every part."""

    async def parts(self, timeout_s: float) -> tuple[PartState, ...]:
        """Ask all of them at once."""
        ...


class Operations(Protocol):
    """What operators and the owner of a vault may look at."""

    async def prefetch(self, user_id: str, *, timeout_s: float) -> Carried:
        """Figures of the Slow Thinker, and the user's prepared answers."""
        ...

    async def profile(self, user_id: str, *, whole: bool, timeout_s: float) -> Carried:
        """The attention profile; `whole`: with all that it is made of."""
        ...

    async def restore_profile(self, user_id: str, given: Carried, *, timeout_s: float) -> Carried:
        """Give back what a whole profile told; returns how much of it was not known."""
        ...

    async def erase_profile(self, user_id: str, *, timeout_s: float) -> bool:
        """Erase it; False when there was none."""
        ...

    async def dead_letters(self, limit: int) -> Carried:
        """Events that could not be handled, oldest first."""
        ...

    async def replay(self, dead_letter_id: str) -> int:
        """Publish one again, or `all`; returns how many."""
        ...

    async def reindex(self, action: str, *, timeout_s: float) -> Carried:
        """Start or stop a reindex, or only look; how it stands."""
        ...

    async def audit(self, user_id: str, limit: int) -> Carried:
        """Hits of the screening on the way out, newest first."""
        ...
