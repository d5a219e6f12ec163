"""What happened, told over the bus."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from memvault.bus.subjects import BLOCK_ANNOTATED, DREAM_FINISHED, DREAM_REQUESTED
from memvault.events.v1 import events_pb2
from memvault.rpc.stamps import timestamp

if TYPE_CHECKING:
    from datetime import datetime

    from memvault.bus.port import Bus
    from memvault_cascade.ports import Annotation

_PER_EVENT = 500


class BusAnnouncer:
    """An `Announcer` on a bus."""

    def __init__(self, bus: Bus) -> None:
        """The bus is started and stopped by the app."""
        self._bus = bus

    async def annotate(self, user_id: str, annotations: Sequence[Annotation]) -> None:
        """See `Announcer.annotate`."""
        for start in range(0, len(annotations), _PER_EVENT):
            message = events_pb2.BlockAnnotated(user_id=user_id)
            for note in annotations[start : start + _PER_EVENT]:
                entry = message.annotations.add(block_id=note.block_id)
                if note.centrality is not None:
                    entry.centrality = note.centrality
                if note.superseded_by is not None:
                    entry.superseded_by = note.superseded_by
            await self._bus.publish(BLOCK_ANNOTATED, message)

    async def request_dream(self, run_id: str, now: datetime) -> None:
        """See `Announcer.request_dream`."""
        message = events_pb2.DreamRequested(run_id=run_id, now=timestamp(now))
        await self._bus.publish(DREAM_REQUESTED, message, event_id=run_id)

    async def finish_dream(self, run_id: str, changes: Mapping[str, int], took_ms: float) -> None:
        """See `Announcer.finish_dream`."""
        message = events_pb2.DreamFinished(run_id=run_id, owner="cascade", changes=dict(changes), took_ms=took_ms)
        await self._bus.publish(DREAM_FINISHED, message, event_id=f"{run_id}:cascade")

    async def claim(self, key: str, ttl_s: float) -> bool:
        """See `Announcer.claim`."""
        return await self._bus.claim(key, ttl_s)

    async def release(self, key: str) -> None:
        """See `Announcer.release`."""
        await self._bus.release(key)
