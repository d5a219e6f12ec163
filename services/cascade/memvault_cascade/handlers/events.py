"""Facts from the bus. What can never be handled is rejected with its reason; anything else is tried again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from memvault.bus.envelope import Event, Reject
from memvault.bus.subjects import (
    CASCADE_ANNOTATIONS,
    CASCADE_BLOCKS,
    CASCADE_DREAM,
    CASCADE_FORGET,
    CASCADE_TRIPLES,
)
from memvault.events.v1 import events_pb2
from memvault.faults import Fault, Reason
from memvault_cascade.handlers import decode

if TYPE_CHECKING:
    from memvault.bus.port import Bus
    from memvault_cascade.usecases.dream import Dream
    from memvault_cascade.usecases.ingest import Ingest

_CALLERS_FAULT = frozenset(
    {
        Reason.USER_REQUIRED,
        Reason.USER_INVALID,
        Reason.TEXT_REQUIRED,
        Reason.TEXT_TOO_LONG,
        Reason.FIELD_INVALID,
    }
)


class EventHandlers:
    """Subscribes to what concerns the graph."""

    def __init__(self, ingest: Ingest, dream: Dream, at_once: int) -> None:
        """`at_once` blocks are taken from the bus side by side, so that those of one user can be written together."""
        self._ingest = ingest
        self._dream = dream
        self._at_once = at_once

    def subscribe(self, bus: Bus) -> None:
        """Register every handler; before the bus starts."""
        bus.subscribe(CASCADE_BLOCKS, events_pb2.BlockIndexed, self.indexed, at_once=self._at_once)
        bus.subscribe(CASCADE_TRIPLES, events_pb2.TripleUpserted, self.triple)
        bus.subscribe(CASCADE_FORGET, events_pb2.BlockForgotten, self.forgotten)
        bus.subscribe(CASCADE_ANNOTATIONS, events_pb2.BlockAnnotated, self.annotated)
        bus.subscribe(CASCADE_DREAM, events_pb2.DreamRequested, self.dream)

    async def indexed(self, event: Event[events_pb2.BlockIndexed]) -> None:
        """A block can be recalled: link it to the graph."""
        with _rejecting():
            block = decode.incoming(event.message.block, event.sequence or 0, event.time)
        # What failed among others may have failed through no fault of its own, and must not do the same to them.
        await self._ingest.block(block, alone=event.delivery > 1)

    async def triple(self, event: Event[events_pb2.TripleUpserted]) -> None:
        """A fact from outside."""
        message = event.message
        with _rejecting():
            user_id = decode.user(message.user_id)
            fact = decode.fact(message.triple)
            blocks = [decode.block_id(identity) for identity in message.block_ids]
            start = decode.moment(message.valid_from, "valid_from") if message.HasField("valid_from") else None
            await self._ingest.fact(user_id, fact, blocks, event.time, start)

    async def forgotten(self, event: Event[events_pb2.BlockForgotten]) -> None:
        """Blocks are gone, or everything of a user."""
        message = event.message
        with _rejecting():
            user_id = decode.user(message.user_id)
            blocks = [decode.block_id(identity) for identity in message.block_ids]
        if message.whole_user:
            await self._ingest.forget_user(user_id, event.sequence or 0)
        elif blocks:
            await self._ingest.forget(user_id, blocks, event.sequence or 0)

    async def annotated(self, event: Event[events_pb2.BlockAnnotated]) -> None:
        """Marks on blocks that change how the graph uses them."""
        with _rejecting():
            user_id = decode.user(event.message.user_id)
        marks: dict[str, tuple[bool | None, str | None]] = {}
        for note in event.message.annotations:
            quarantined = True if note.quarantine_set else (False if note.quarantine_unset else None)
            superseded_by = note.superseded_by if note.HasField("superseded_by") else None
            if quarantined is not None or superseded_by is not None:
                marks[note.block_id] = (quarantined, superseded_by)
        if marks:
            await self._ingest.annotate(user_id, marks)

    async def dream(self, event: Event[events_pb2.DreamRequested]) -> None:
        """The nightly loop."""
        with _rejecting():
            user_id = decode.user(event.message.user_id) if event.message.user_id else ""
        await self._dream.run(event.message.run_id or event.id, user_id)


@contextmanager
def _rejecting() -> Iterator[None]:
    try:
        yield
    except Fault as fault:
        if fault.reason in _CALLERS_FAULT:
            raise Reject(fault.message) from fault
        raise
