"""What the gateway tells others and what operators see, in this process's memory; see `memory`."""

# ruff: noqa: ARG002 - a port says more than a memory has to know

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from memvault.recall.v1 import admin_pb2
from memvault_gateway.adapters.memory import Part
from memvault_gateway.domain.model import AuditHit, Carried, PartState, Prepared, Utterance


@dataclass
class MemoryFacts(Part):
    """See `ports.Facts`: keeps what was told."""

    upserted: list[tuple[Carried, str, str]] = field(default_factory=list)
    accesses: list[tuple[str, tuple[str, ...], str, str]] = field(default_factory=list)
    hits: list[tuple[str, AuditHit]] = field(default_factory=list)
    verdicts: list[tuple[str, str, str]] = field(default_factory=list)
    said: list[tuple[str, str, Utterance, str]] = field(default_factory=list)
    dreams: list[str] = field(default_factory=list)
    restored: int = 0

    async def block_upserted(self, block: Carried, on_unsafe: str, event_id: str, *, restore: bool) -> None:
        """See `ports.Facts`."""
        self.reach()
        self.restored += restore
        self.upserted.append((block, on_unsafe, event_id))

    async def accessed(
        self, user_id: str, block_ids: Sequence[str], topics: Sequence[str], *, recall_id: str, kind: str, at: datetime
    ) -> None:
        """See `ports.Facts`."""
        self.reach()
        self.accesses.append((user_id, tuple(block_ids), recall_id, kind))

    async def redacted(self, user_id: str, hits: Sequence[AuditHit], *, recall_id: str, at: datetime) -> None:
        """See `ports.Facts`."""
        self.reach()
        self.hits.extend((user_id, hit) for hit in hits)

    async def feedback(self, user_id: str, block_id: str, verdict: str, *, recall_id: str, event_id: str) -> None:
        """See `ports.Facts`."""
        self.reach()
        self.verdicts.append((user_id, block_id, verdict))

    async def utterance(self, user_id: str, conversation_id: str, said: Utterance, *, event_id: str) -> None:
        """See `ports.Facts`."""
        self.reach()
        self.said.append((user_id, conversation_id, said, event_id))

    async def dream(self, user_id: str, *, event_id: str, at: datetime) -> None:
        """See `ports.Facts`."""
        self.reach()
        self.dreams.append(user_id)

    async def forget_dead_letters(self, user_id: str, block_ids: frozenset[str]) -> int:
        """See `ports.Facts`."""
        self.reach()
        return 0


@dataclass
class MemoryConfirmations:
    """See `ports.Confirmations`: every write gets the same outcome."""

    answer: tuple[str, str, str] | None = ("indexed", "", "")

    def expect(self, event_id: str) -> None:
        """See `ports.Confirmations`."""

    async def outcome(self, event_id: str, timeout_s: float) -> tuple[str, str, str] | None:
        """See `ports.Confirmations`."""
        return self.answer


@dataclass
class MemoryUse:
    """See `ports.PreparedUse`."""

    uses: list[tuple[str, str, float]] = field(default_factory=list)

    async def used(self, user_id: str, prepared: Prepared, saved_ms: float) -> None:
        """See `ports.PreparedUse`."""
        self.uses.append((user_id, prepared.match, saved_ms))


@dataclass
class MemoryForgetters:
    """See `ports.Forgetters`: `away` are the parts that cannot confirm."""

    away: list[str] = field(default_factory=list)

    async def forget(self, user_id: str, block_ids: Sequence[str], *, whole_user: bool, timeout_s: float) -> list[str]:
        """See `ports.Forgetters`."""
        return list(self.away)


@dataclass
class MemoryHealth:
    """See `ports.Health`."""

    states: dict[str, str] = field(default_factory=lambda: {"search": "ready", "router": "ready"})

    async def parts(self, timeout_s: float) -> tuple[PartState, ...]:
        """See `ports.Health`."""
        return tuple(PartState(part, state) for part, state in self.states.items())


@dataclass
class MemoryOperations(Part):
    """See `ports.Operations`: nothing has happened yet. `wholes`: whether each profile was asked for whole."""

    wholes: list[bool] = field(default_factory=list)

    async def prefetch(self, user_id: str, *, timeout_s: float) -> Carried:
        """See `ports.Operations`."""
        self.reach()
        return admin_pb2.GetPrefetchResponse()

    async def profile(self, user_id: str, *, whole: bool, timeout_s: float) -> Carried:
        """See `ports.Operations`."""
        self.reach()
        self.wholes.append(whole)
        return admin_pb2.GetProfileResponse()

    async def restore_profile(self, user_id: str, given: Carried, *, timeout_s: float) -> Carried:
        """See `ports.Operations`."""
        self.reach()
        return admin_pb2.RestoreProfileResponse()

    async def erase_profile(self, user_id: str, *, timeout_s: float) -> bool:
        """See `ports.Operations`."""
        self.reach()
        return False

    async def dead_letters(self, limit: int) -> Carried:
        """See `ports.Operations`."""
        self.reach()
        return admin_pb2.ListDeadLettersResponse()

    async def replay(self, dead_letter_id: str) -> int:
        """See `ports.Operations`."""
        self.reach()
        return 0

    async def reindex(self, action: str, *, timeout_s: float) -> Carried:
        """See `ports.Operations`."""
        self.reach()
        return admin_pb2.ReindexResponse(state="running" if action in {"start", "anew"} else "none")

    async def audit(self, user_id: str, limit: int) -> Carried:
        """See `ports.Operations`."""
        self.reach()
        return admin_pb2.ListAuditResponse()
