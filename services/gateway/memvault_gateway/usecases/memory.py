"""Single blocks, feedback, what was said, and forgetting."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass

from memvault.faults import Fault, Reason
from memvault_gateway.domain.model import Carried, Degradation, Filters, StoredBlock, Utterance
from memvault_gateway.domain.screen import screen_texts
from memvault_gateway.ports import Clock, Facts, Forgetters, MemorySearch
from memvault_gateway.settings import DeadlineSettings
from memvault_gateway.usecases.watch import degradation


@dataclass(frozen=True)
class Opened:
    """A block read whole: `texts` are clean."""

    block: StoredBlock
    texts: dict[str, str]
    redacted: bool


@dataclass(frozen=True)
class Forgotten:
    """What was removed, and parts that will follow from the bus."""

    block_ids: tuple[str, ...]
    degraded: tuple[Degradation, ...]


class Memory:
    """Everything about a user's blocks but writing and recalling them."""

    def __init__(
        self,
        search: MemorySearch,
        facts: Facts,
        forgetters: Forgetters,
        clock: Clock,
        new_id: Callable[[], str],
        limits: DeadlineSettings,
    ) -> None:
        self._search = search
        self._facts = facts
        self._forgetters = forgetters
        self._clock = clock
        self._new_id = new_id
        self._limits = limits

    async def open(self, user_id: str, block_id: str) -> Opened:
        """Read one block whole, screened. Fault: NOT_FOUND."""
        blocks, _ = await self._search.read(user_id, [block_id], timeout_s=self._limits.read_ms / 1000)
        if not blocks:
            raise Fault(Reason.NOT_FOUND, f"{user_id} has no block {block_id!r}: check the id", block_id=block_id)
        block, call_id = blocks[0], self._new_id()
        clean, hits = screen_texts(block_id, block.texts, "get", block.screened_version)
        try:
            if hits:
                await self._facts.redacted(user_id, hits, recall_id=call_id, at=self._clock.now())
            await self._facts.accessed(
                user_id, [block_id], (), recall_id=call_id, kind="expanded", at=self._clock.now()
            )
        except Fault:
            # The bus is away: the adapter counted it, and reading a memory does not depend on it.
            return Opened(block, clean, bool(hits))
        return Opened(block, clean, bool(hits))

    def export(self, user_id: str, *, after: str, limit: int) -> AsyncIterator[Carried]:
        """Blocks as stored, ordered by id: those behind `after`, `limit` at most, 0: all."""
        return self._search.export(user_id, after=after, limit=limit, timeout_s=self._limits.export_ms / 1000)

    async def forget(self, user_id: str, *, block_ids: Sequence[str], filters: Filters, whole_user: bool) -> Forgotten:
        """Remove exactly one of: these blocks, all that match, the whole user (R-62).

        Raises:
            Fault: FIELD_INVALID when not exactly one is named.
        """
        if (bool(block_ids), bool(filters), whole_user).count(True) != 1:
            message = "say what to forget: exactly one of block_ids, filters or whole_user"
            raise Fault(Reason.FIELD_INVALID, message, field="block_ids")
        limit_s = self._limits.write_ms / 1000
        gone = await self._search.forget(
            user_id, block_ids=block_ids, filters=filters, whole_user=whole_user, timeout_s=limit_s
        )
        named = tuple(dict.fromkeys((*block_ids, *gone)))
        degraded: list[Degradation] = []
        if named or whole_user:
            missing = await self._forgetters.forget(user_id, named, whole_user=whole_user, timeout_s=limit_s)
            degraded.extend(Degradation(part, "UNREACHABLE", "follows from the bus") for part in missing)
            try:
                await self._facts.forget_dead_letters(user_id, frozenset() if whole_user else frozenset(named))
            except Fault as fault:
                degraded.append(degradation("bus", fault))
        return Forgotten(gone, tuple(degraded))

    async def feedback(self, user_id: str, block_id: str, verdict: str, recall_id: str) -> str:
        """Store a judgement; returns the event's id. Fault: NOT_FOUND for a block the user does not have."""
        blocks, _ = await self._search.read(user_id, [block_id], timeout_s=self._limits.read_ms / 1000)
        if not blocks:
            raise Fault(Reason.NOT_FOUND, f"{user_id} has no block {block_id!r}: check the id", block_id=block_id)
        event_id = self._new_id()
        await self._facts.feedback(user_id, block_id, verdict, recall_id=recall_id, event_id=event_id)
        return event_id

    async def said(self, user_id: str, conversation_id: str, said: Utterance, event_id: str) -> str:
        """Store an utterance; returns the event's id."""
        known_id = event_id or self._new_id()
        await self._facts.utterance(user_id, conversation_id, said, event_id=known_id)
        return known_id
