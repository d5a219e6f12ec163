"""Facts about blocks on the bus. Ids are made from what caused them, so that a fact told twice is stored once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from memvault.bus import subjects
from memvault.bus.port import Bus
from memvault.events.v1 import events_pb2 as pb
from memvault.recall.v1 import types_pb2
from memvault_search.domain.block import REJECTED_TAG, Block, StoredBlock

_IDS_IN_ONE_EVENT = 2000
"""200 characters of id at most: well below the bus's limit of 1 MB a message."""
_TAGS_IN_ONE_EVENT = 500


class BusAnnouncer:
    """An `Announcer` on the bus."""

    def __init__(self, bus: Bus, encode: Callable[[Block], types_pb2.Block]) -> None:
        """`encode` makes the contract's message of a block."""
        self._bus = bus
        self._encode = encode

    async def indexed(self, stored: StoredBlock, *, upsert_event_id: str, write_version: int, changed: bool) -> None:
        """`memory.block.indexed`."""
        message = pb.BlockIndexed(
            block=self._encode(stored.block),
            upsert_event_id=upsert_event_id,
            write_version=write_version,
            changed=changed,
        )
        event_id = f"{upsert_event_id}:indexed" if upsert_event_id else None
        await self._bus.publish(subjects.BLOCK_INDEXED, message, event_id=event_id)

    async def refused(self, user_id: str, block_id: str, *, upsert_event_id: str, reason: str, detail: str) -> None:
        """`memory.block.refused`."""
        message = pb.BlockRefused(
            user_id=user_id,
            block_id=block_id,
            upsert_event_id=upsert_event_id,
            reason=reason,
            detail=detail,
        )
        event_id = f"{upsert_event_id}:refused" if upsert_event_id else None
        await self._bus.publish(subjects.BLOCK_REFUSED, message, event_id=event_id)

    async def forgotten(self, user_id: str, block_ids: Sequence[str], tags: Sequence[str], *, whole_user: bool) -> int:
        """`memory.block.forgotten`, in parts when there are many."""
        if whole_user:
            message = pb.BlockForgotten(user_id=user_id, whole_user=True)
            return await self._bus.publish(subjects.BLOCK_FORGOTTEN, message)
        parts = _parts(block_ids, _IDS_IN_ONE_EVENT) or [()]
        messages = [pb.BlockForgotten(user_id=user_id, block_ids=part) for part in parts]
        messages += [pb.BlockForgotten(user_id=user_id, tags=part) for part in _parts(tags, _TAGS_IN_ONE_EVENT)]
        sequence = 0
        for message in messages:
            sequence = await self._bus.publish(subjects.BLOCK_FORGOTTEN, message)
        return sequence

    async def rejected(self, user_id: str, block_id: str, *, feedback_event_id: str) -> None:
        """`memory.block.annotated`, which search hears too and finds done."""
        annotation = pb.BlockAnnotation(block_id=block_id, quarantine_set=[REJECTED_TAG])
        message = pb.BlockAnnotated(user_id=user_id, annotations=[annotation])
        await self._bus.publish(subjects.BLOCK_ANNOTATED, message, event_id=f"{feedback_event_id}:rejected")

    async def dream_finished(self, run_id: str, changes: Mapping[str, int], took_ms: float) -> None:
        """`maintenance.dream.finished`."""
        message = pb.DreamFinished(run_id=run_id, owner="search", changes=changes, took_ms=took_ms)
        await self._bus.publish(subjects.DREAM_FINISHED, message, event_id=f"{run_id}:search:finished")


def _parts(names: Sequence[str], size: int) -> list[Sequence[str]]:
    return [names[start : start + size] for start in range(0, len(names), size)]
