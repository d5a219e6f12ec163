"""Keeping the cache true: changed and forgotten blocks, forgotten users, and the figures (R-54, R-56, R-62)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memvault_slow_thinker.ports import (
    Clock,
    Conversations,
    Figures,
    PreparedAnswers,
    PreparedQuestion,
    UtteranceLog,
)

SAVED_MS = "saved_ms"


@dataclass(frozen=True)
class Removed:
    """What was removed."""

    entries: int
    utterances: int


@dataclass(frozen=True)
class Report:
    """Counters by name, milliseconds saved by hits, and what lies ready."""

    counts: dict[str, int]
    saved_ms: float
    prepared: tuple[PreparedQuestion, ...]


class Keep:
    """Looks after what is kept: conversations, prepared answers, figures."""

    def __init__(
        self,
        conversations: Conversations,
        prepared: PreparedAnswers,
        figures: Figures,
        log: UtteranceLog,
        *,
        clock: Clock,
    ) -> None:
        self._conversations = conversations
        self._prepared = prepared
        self._figures = figures
        self._log = log
        self._clock = clock

    async def block_indexed(
        self, user_id: str, block_id: str, conversation_id: str, *, changed: bool, told_at: float
    ) -> int:
        """Count the block's conversation; drop the answers that hold an older form of the block."""
        if conversation_id:
            await self._conversations.note(user_id, conversation_id, told_at=told_at)
        return await self.drop_blocks(user_id, [block_id]) if changed else 0

    async def drop_blocks(self, user_id: str, block_ids: Sequence[str]) -> int:
        """Drop the answers that hold one of the blocks, and return how many there were."""
        dropped = await self._prepared.drop_holding(user_id, block_ids)
        if dropped:
            await self._figures.add(user_id, {"invalidated": dropped}, told_at=self._now())
        return dropped

    async def forget_user(self, user_id: str) -> Removed:
        """Remove everything of a user: answers, utterances here and on the bus, predictions and figures.

        What was told before and is still on its way leaves nothing afterwards.
        """
        return await self._forget(user_id, self._now())

    async def user_forgotten(self, user_id: str, at: float) -> None:
        """Do the same as of `at`, unless nothing was left then or later: the user may have begun anew meanwhile."""
        if not await self._conversations.settled(user_id, at):
            await self._forget(user_id, at)

    async def erase_late(self, user_id: str, sequence: int | None) -> None:
        """Remove the bus's copy of an utterance that was still on its way when its user was forgotten."""
        await self._log.erase(user_id, [] if sequence is None else [sequence])

    async def _forget(self, user_id: str, at: float) -> Removed:
        entries = await self._prepared.forget(user_id, at)
        words = await self._conversations.forget(user_id, at)
        await self._figures.forget(user_id, at)
        await self._log.erase(user_id, words.sequences)
        await self._conversations.settle(user_id, at)
        return Removed(entries, words.utterances)

    def _now(self) -> float:
        return self._clock.now().timestamp()

    async def report(self, user_id: str) -> Report:
        """Return the figures of a user, or of all users for an empty id.

        `wasted`: stored answers that nobody used and that nobody can use any more.
        """
        known = await self._figures.read(user_id)
        ready = await self._prepared.live(user_id, now=self._now()) if user_id else ()
        saved_ms = known.pop(SAVED_MS, 0.0)
        counts = {name: round(value) for name, value in known.items()}
        counts["hits"] = counts.get("hits.exact", 0) + counts.get("hits.near", 0)
        if user_id:
            gone = counts.get("stored", 0) - len(ready)
            counts["wasted"] = max(gone - counts.get("used", 0), 0)
        return Report(counts, saved_ms, ready)
