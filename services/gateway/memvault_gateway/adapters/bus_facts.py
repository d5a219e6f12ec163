"""Tells the others over the bus, and listens for what became of writes."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime

import structlog
from google.protobuf.json_format import Parse, ParseError

from memvault.bus import subjects
from memvault.bus.envelope import Event
from memvault.bus.port import Bus, DeadLetter
from memvault.events.v1 import events_pb2 as pb
from memvault.faults import Fault
from memvault.recall.v1 import types_pb2
from memvault.rpc.stamps import timestamp
from memvault.runtime import telemetry
from memvault.screening import RULESET_VERSION
from memvault_gateway.domain.model import AuditHit, Carried, Utterance

_log = structlog.get_logger("memvault.gateway")
_DEAD_LETTERS_READ = 1000


class BusFacts:
    """See `ports.Facts`."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus

    async def block_upserted(self, block: Carried, on_unsafe: str, event_id: str, *, restore: bool) -> None:
        """See `ports.Facts`."""
        if not isinstance(block, types_pb2.Block):
            raise TypeError(f"a block of the contract is needed, not {type(block).__name__}")
        message = pb.BlockUpserted(block=block, on_unsafe=on_unsafe, restore=restore)
        await self._bus.publish(subjects.BLOCK_UPSERTED, message, event_id=event_id)

    async def accessed(
        self, user_id: str, block_ids: Sequence[str], topics: Sequence[str], *, recall_id: str, kind: str, at: datetime
    ) -> None:
        """See `ports.Facts`."""
        message = pb.BlockAccessed(
            user_id=user_id,
            block_ids=block_ids,
            recall_id=recall_id,
            accessed_at=timestamp(at),
            kind=kind,
            topics=topics,
        )
        await self._signal(subjects.BLOCK_ACCESSED, message, f"{recall_id}-{kind}", at)

    async def redacted(self, user_id: str, hits: Sequence[AuditHit], *, recall_id: str, at: datetime) -> None:
        """See `ports.Facts`."""
        for hit in hits:
            message = pb.InjectionRedacted(
                user_id=user_id,
                block_id=hit.block_id,
                rule=hit.rule,
                ruleset_version=RULESET_VERSION,
                where=hit.where,
                time=timestamp(at),
                recall_id=recall_id,
                ingest_version=hit.ingest_version,
            )
            await self._signal(subjects.INJECTION_REDACTED, message, None, at)

    async def feedback(self, user_id: str, block_id: str, verdict: str, *, recall_id: str, event_id: str) -> None:
        """See `ports.Facts`."""
        message = pb.FeedbackRecorded(user_id=user_id, block_id=block_id, verdict=verdict, recall_id=recall_id)
        await self._bus.publish(subjects.FEEDBACK_RECORDED, message, event_id=event_id)

    async def utterance(self, user_id: str, conversation_id: str, said: Utterance, *, event_id: str) -> None:
        """See `ports.Facts`."""
        message = pb.UtteranceAppended(
            user_id=user_id,
            conversation_id=conversation_id,
            speaker=said.speaker,
            text=said.text,
            event_time=timestamp(said.event_time),
        )
        await self._bus.publish(subjects.UTTERANCE_APPENDED, message, event_id=event_id)

    async def dream(self, user_id: str, *, event_id: str, at: datetime) -> None:
        """See `ports.Facts`."""
        message = pb.DreamRequested(run_id=event_id, user_id=user_id, now=timestamp(at))
        await self._bus.publish(subjects.DREAM_REQUESTED, message, event_id=event_id)

    async def forget_dead_letters(self, user_id: str, block_ids: frozenset[str]) -> int:
        """See `ports.Facts`."""
        erased = 0
        for letter in await self._bus.dead_letters(_DEAD_LETTERS_READ):
            if _concerns(letter, user_id, block_ids):
                erased += await self._bus.erase_dead_letter(letter.id)
        return erased

    async def _signal(
        self, subject: str, message: pb.BlockAccessed | pb.InjectionRedacted, event_id: str | None, at: datetime
    ) -> None:
        """Publish what must not hold up an answer; what could not be told is counted and logged."""
        try:
            await self._bus.publish(subject, message, event_id=event_id, time=at)
        except Fault as fault:
            telemetry.counter("memvault.gateway.untold", **{"messaging.destination.name": subject})
            _log.warning("gateway.untold", subject=subject, reason=fault.reason.value)
            raise


class BusConfirmations:
    """See `ports.Confirmations`. Register it with `watch` before the bus is started."""

    def __init__(self) -> None:
        self._waiting: dict[str, asyncio.Future[tuple[str, str, str]]] = {}

    def watch(self, bus: Bus) -> None:
        """Listen to outcomes."""
        bus.watch(subjects.BLOCK_INDEXED, pb.BlockIndexed, self._indexed)
        bus.watch(subjects.BLOCK_REFUSED, pb.BlockRefused, self._refused)

    def expect(self, event_id: str) -> None:
        """See `ports.Confirmations`."""
        self._waiting[event_id] = asyncio.get_running_loop().create_future()

    async def outcome(self, event_id: str, timeout_s: float) -> tuple[str, str, str] | None:
        """See `ports.Confirmations`."""
        try:
            return await asyncio.wait_for(self._waiting[event_id], timeout_s)
        except TimeoutError:
            return None
        finally:
            self._waiting.pop(event_id, None)

    async def _indexed(self, event: Event[pb.BlockIndexed]) -> None:
        self._settle(event.message.upsert_event_id, ("indexed" if event.message.changed else "unchanged", "", ""))

    async def _refused(self, event: Event[pb.BlockRefused]) -> None:
        self._settle(event.message.upsert_event_id, ("refused", event.message.reason, event.message.detail))

    def _settle(self, event_id: str, outcome: tuple[str, str, str]) -> None:
        waiting = self._waiting.get(event_id)
        if waiting is not None and not waiting.done():
            waiting.set_result(outcome)


def _concerns(letter: DeadLetter, user_id: str, block_ids: frozenset[str]) -> bool:
    """Whether a dead letter is about these blocks of this user; where none is named, about the user at all."""
    body = letter.body
    if letter.subject == subjects.BLOCK_UPSERTED:
        try:
            block = Parse(body, pb.BlockUpserted(), ignore_unknown_fields=True).block
        except ParseError:
            return user_id.encode() in body
        return block.user_id == user_id and (not block_ids or block.id in block_ids)
    if block_ids:
        return user_id.encode() in body and any(block_id.encode() in body for block_id in block_ids)
    return f'"{user_id}"'.encode() in body
