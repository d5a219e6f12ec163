"""Writing blocks (R-60): screened, completed, encoded in both views, stored, then announced.

Writes of one user that wait at the same time are encoded together. A write returns after it survives a kill.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from memvault.batches import Batches
from memvault.faults import Fault, Reason
from memvault_search.domain import intake
from memvault_search.domain.block import Block, StoredBlock, carry_over, content_hash, restored
from memvault_search.domain.intake import OnUnsafe
from memvault_search.domain.moment import Moment
from memvault_search.domain.passages import PassageLimits, cut
from memvault_search.domain.scoring.numbers import Tier
from memvault_search.domain.vault import Vault
from memvault_search.ports import Announcer, BlockIndex, Clock
from memvault_search.settings import SearchSettings
from memvault_search.usecases.storing import Storing
from memvault_search.usecases.succession import Succession
from memvault_search.usecases.vaults import Vaults


@dataclass(frozen=True)
class Write:
    """One block to store, as an event asked for it; with `restore` it is a line of an export (R-63)."""

    block: Block
    on_unsafe: OnUnsafe
    event_id: str
    moment: Moment
    restore: bool = False


Status = Literal["indexed", "unchanged", "outdated"]
Outcome = Literal["new", "again", "same", "outdated"]
"""`again`: this very write was stored before, but perhaps not announced; `same`: another one brought the content."""


@dataclass(frozen=True)
class Written:
    """What became of a write. `outdated`: the block was forgotten, or written anew, after this event."""

    status: Status
    stored: StoredBlock | None
    write_version: int


class Writing:
    """The use case; one object serves all users."""

    def __init__(
        self,
        vaults: Vaults,
        index: BlockIndex,
        storing: Storing,
        succession: Succession,
        announcer: Announcer,
        clock: Clock,
        settings: SearchSettings,
    ) -> None:
        self._vaults = vaults
        self._index = index
        self._storing = storing
        self._succession = succession
        self._announcer = announcer
        self._clock = clock
        self._settings = settings
        numbers = settings.writing
        self._limits = PassageLimits(numbers.passage_whole, numbers.passage_target)
        self._defaults = intake.Defaults(settings.sources.trust, settings.sources.confidence)
        self._batches = Batches(self._write, numbers.batch)

    async def write(self, write: Write) -> Written:
        """Store one block and announce it.

        Raises:
            Fault: UNSAFE_CONTENT or a field's fault, already announced as `memory.block.refused`.
        """
        block = write.block
        try:
            ready = intake.screened(intake.checked(block), write.on_unsafe)
            now = self._clock.now()
            ready = intake.completed(ready, self._defaults, self._tier, now=now, restore=write.restore)
        except Fault as fault:
            await self._refuse(write, fault)
            raise
        written = await self._batches.submit(block.user_id, replace(write, block=ready))
        if written.stored is None:
            detail = "the block was forgotten, or written anew, after this write was accepted"
            await self._refuse(write, Fault(Reason.VERSION_CONFLICT, detail))
            return written
        await self._announcer.indexed(
            written.stored,
            upsert_event_id=write.event_id,
            write_version=written.write_version,
            changed=written.status == "indexed",
        )
        return written

    async def _refuse(self, write: Write, fault: Fault) -> None:
        if not write.block.user_id:
            return
        await self._announcer.refused(
            write.block.user_id,
            write.block.id,
            upsert_event_id=write.event_id,
            reason=fault.reason,
            detail=fault.metadata.get("rule") or fault.message,
        )

    def _tier(self, confidence: float) -> str:
        return tier_of(confidence, self._settings.scoring.tiers)

    async def _write(self, user_id: str, writes: Sequence[Write]) -> list[Written]:
        """Store the writes of one user, in order; the last one of each block's id wins."""
        async with self._vaults.changing(user_id) as vault:
            user_gone = await self._index.user_forgotten(user_id)
            plan: dict[str, StoredBlock] = {}
            outcomes: list[Outcome] = []
            for write in writes:
                known = plan.get(write.block.id) or vault.get(write.block.id)
                outcome = self._judged(write, known, user_gone)
                if outcome == "new":
                    plan[write.block.id] = self._stored(write, known, vault.write_version + 1)
                outcomes.append(outcome)
            if plan:
                kept = {write.block.id for write in writes if write.restore}
                await self._storing.store(vault, list(plan.values()), tags_kept=kept)
            await self._succession.settle(vault, [write.block.id for write in writes])
            return [self._written(outcome, vault, write) for outcome, write in zip(outcomes, writes, strict=True)]

    def _judged(self, write: Write, known: StoredBlock | None, user_gone: Moment | None) -> Outcome:
        gone = self._vaults.forgotten(write.block.user_id, write.block.id)
        if any(mark is not None and write.moment.is_before(mark) for mark in (gone, user_gone)):
            return "outdated"
        if known is None:
            return "new"
        if write.event_id in known.event_ids:
            return "again"
        if write.restore and _merged(write, known) == known.block:
            return "same"
        if not write.restore and write.block.frozen and not known.block.frozen:
            return "same"  # the summary that an older export holds never takes the place of the whole text
        thaws = known.block.frozen and not write.block.frozen
        if not write.restore and not thaws and content_hash(write.block) == known.content_hash:
            return "same"
        return "outdated" if write.moment.is_before(known.written) else "new"

    def _stored(self, write: Write, known: StoredBlock | None, write_version: int) -> StoredBlock:
        block = write.block if known is None else _merged(write, known)
        events = (*(known.event_ids if known else ()), write.event_id)
        return StoredBlock(
            block=block,
            content_hash=content_hash(block if write.restore else write.block),
            event_ids=events[-self._settings.writing.event_ids_kept :],
            written=write.moment,
            write_version=write_version,
            passages=cut(block.user_id, block.id, block.text, self._limits),
            revision=known.revision + 1 if known else 1,
        )

    @staticmethod
    def _written(outcome: Outcome, vault: Vault, write: Write) -> Written:
        if outcome == "outdated":
            return Written("outdated", None, vault.write_version)
        status: Status = "unchanged" if outcome == "same" else "indexed"
        return Written(status, vault.get(write.block.id), vault.write_version)


def _merged(write: Write, known: StoredBlock) -> Block:
    """The written block with what the stored one keeps; of an export, the stored one itself when nothing is new."""
    if not write.restore:
        return carry_over(write.block, known.block)
    # what was annotated since, such as a summary, is in the export, too, but not in the hash of what was written
    hashes = {known.content_hash, content_hash(known.block)}
    same = content_hash(write.block) in hashes and write.block.frozen == known.block.frozen
    return restored(write.block, known.block, same_content=same)


def tier_of(confidence: float, tiers: Sequence[Tier]) -> str:
    """The tier of stage 6 that a confidence belongs to."""
    return next(tier.name for tier in tiers if confidence >= tier.min_confidence)
