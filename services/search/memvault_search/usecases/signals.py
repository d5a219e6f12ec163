"""What reading, judging and the graph write back to blocks (R-18, R-14), each event exactly once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from memvault_search.domain.block import REJECTED_TAG, Block, StoredBlock
from memvault_search.ports import Announcer
from memvault_search.usecases.saving import Saving
from memvault_search.usecases.succession import awaits_its_successor
from memvault_search.usecases.vaults import Vaults

Verdict = Literal["up", "down", "rejected"]
VERDICTS: tuple[Verdict, ...] = ("up", "down", "rejected")


@dataclass(frozen=True)
class Annotation:
    """What another service changes on a block; None leaves a field as it is, an empty text clears it."""

    block_id: str
    centrality: float | None = None
    quarantine_set: frozenset[str] = frozenset()
    quarantine_unset: frozenset[str] = frozenset()
    superseded_by: str | None = None
    summary: str | None = None
    screened_version: str | None = None

    @property
    def is_visible(self) -> bool:
        """Whether a reader could see the change; nobody sees a centrality."""
        changes = (self.superseded_by, self.summary, self.screened_version)
        return bool(self.quarantine_set or self.quarantine_unset) or any(one is not None for one in changes)


class Signals:
    """The use case; one object serves all users."""

    def __init__(self, vaults: Vaults, saving: Saving, announcer: Announcer, *, event_ids_kept: int) -> None:
        """`event_ids_kept`: events remembered per block, so that one delivered twice counts once."""
        self._vaults = vaults
        self._saving = saving
        self._announcer = announcer
        self._event_ids_kept = event_ids_kept

    async def accessed(
        self, user_id: str, block_ids: Sequence[str], *, at: datetime, counts: bool, event_id: str
    ) -> int:
        """Count a delivery of cards; with `counts` False only the time of reading moves. Returns blocks changed."""

        def read(block: Block) -> Block:
            last = max(at, block.last_accessed_at or at)
            return replace(block, access_count=block.access_count + counts, last_accessed_at=last)

        return await self._apply(user_id, block_ids, event_id, read)

    async def judged(self, user_id: str, block_id: str, verdict: Verdict, *, event_id: str) -> int:
        """Count a judgement; `rejected` also puts the block into quarantine, everywhere. Returns blocks changed."""

        def judge(block: Block) -> Block:
            if verdict == "up":
                return replace(block, ups=block.ups + 1)
            judged = replace(block, downs=block.downs + 1)
            if verdict == "down":
                return judged
            quarantine = block.quarantine | {REJECTED_TAG}
            return replace(judged, quarantine=quarantine, version=block.version + 1)

        rejected = verdict == "rejected"
        changed = await self._apply(user_id, [block_id], event_id, judge, visible=rejected)
        if rejected and (await self._vaults.of(user_id)).get(block_id) is not None:
            # Told again when the event is delivered again: the bus keeps the same id once.
            await self._announcer.rejected(user_id, block_id, feedback_event_id=event_id)
        return changed

    async def annotated(self, user_id: str, annotations: Sequence[Annotation], *, event_id: str) -> int:
        """Apply what other services found out. Returns blocks changed."""
        by_id = {one.block_id: one for one in annotations}
        vault = await self._vaults.of(user_id)

        def annotate(block: Block) -> Block:
            wanted = by_id[block.id]
            gone = wanted.superseded_by and vault.get(wanted.superseded_by) is None  # it was forgotten meanwhile
            if gone or awaits_its_successor(vault, block):
                wanted = replace(wanted, superseded_by=None)
            return _annotated(block, wanted)

        visible = any(one.is_visible for one in annotations)
        return await self._apply(user_id, list(by_id), event_id, annotate, visible=visible)

    async def _apply(
        self,
        user_id: str,
        block_ids: Sequence[str],
        event_id: str,
        change: Callable[[Block], Block],
        *,
        visible: bool = False,
    ) -> int:
        again = False

        def once(stored: StoredBlock) -> StoredBlock | None:
            nonlocal again
            if event_id in stored.event_ids:
                again = True
                return None
            block = change(stored.block)
            events = (*stored.event_ids, event_id)[-self._event_ids_kept :]
            return None if block == stored.block else replace(stored, block=block, event_ids=events)

        async with self._vaults.changing(user_id) as vault:
            changed = await self._saving.apply(vault, block_ids, once)
            if visible and again and not changed:
                # The first delivery may have died between the block and the write version.
                await self._saving.announce_change(vault)
            return changed


def _annotated(block: Block, wanted: Annotation) -> Block:
    quarantine = (block.quarantine | wanted.quarantine_set) - wanted.quarantine_unset
    visible = replace(
        block,
        quarantine=quarantine,
        superseded_by=block.superseded_by if wanted.superseded_by is None else wanted.superseded_by,
        summary=block.summary if wanted.summary is None else wanted.summary,
        screened_version=block.screened_version if wanted.screened_version is None else wanted.screened_version,
    )
    version = block.version if visible == block else block.version + 1
    centrality = block.centrality if wanted.centrality is None else wanted.centrality
    return replace(visible, centrality=centrality, version=version)
