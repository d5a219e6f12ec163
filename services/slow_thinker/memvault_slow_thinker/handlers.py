"""Decode, use case, encode: events of the bus and RPCs of `SlowThinkerService`."""

from __future__ import annotations

import re
from datetime import UTC
from typing import TYPE_CHECKING

from memvault.bus.envelope import Event, Reject
from memvault.events.v1.events_pb2 import BlockForgotten, BlockIndexed, UtteranceAppended
from memvault.faults import Fault, Reason
from memvault.rpc.stamps import timestamp_of
from memvault.runtime import telemetry
from memvault.slow_thinker.v1 import slow_thinker_pb2 as pb
from memvault.slow_thinker.v1.slow_thinker_pb2_grpc import SlowThinkerServiceServicer
from memvault_slow_thinker.domain.conversation import Place, Utterance
from memvault_slow_thinker.usecases.keep import Keep
from memvault_slow_thinker.usecases.listen import FORGOTTEN, Heard, Listen

if TYPE_CHECKING:
    from grpc.aio import ServicerContext

_USER = re.compile(r"[A-Za-z0-9._@-]{1,128}")
_TEXT_BYTES = 64 * 1024
_CONVERSATION_CHARS = 200
_SPEAKER_CHARS = 200
_NO_CONVERSATION = "default"


class BusHandlers:
    """Facts that concern the slow thinker."""

    def __init__(self, listen: Listen, keep: Keep) -> None:
        self._listen = listen
        self._keep = keep

    async def utterance(self, event: Event[UtteranceAppended]) -> None:
        """Handle `conversation.utterance.appended`."""
        heard = _heard(event)
        with telemetry.span("slow_thinker.listen") as span:
            outcome = await self._listen(heard)
            if outcome.refused_by == FORGOTTEN:
                await self._keep.erase_late(heard.place.user_id, heard.sequence)
            span.set(**{"memvault.prefetch.refused_by": outcome.refused_by})
            span.set(**{"memvault.prefetch.questions": len(outcome.questions)})

    async def indexed(self, event: Event[BlockIndexed]) -> None:
        """Handle `memory.block.indexed`."""
        block = event.message.block
        user_id = _event_user(block.user_id)
        changed, told_at = event.message.changed, event.time.timestamp()
        await self._keep.block_indexed(user_id, block.id, block.conversation_id, changed=changed, told_at=told_at)

    async def forgotten(self, event: Event[BlockForgotten]) -> None:
        """Handle `memory.block.forgotten`."""
        user_id = _event_user(event.message.user_id)
        if event.message.whole_user:
            await self._keep.user_forgotten(user_id, event.time.timestamp())
        elif event.message.block_ids:
            await self._keep.drop_blocks(user_id, list(event.message.block_ids))


class SlowThinkerHandlers(SlowThinkerServiceServicer):
    """See the contract."""

    def __init__(self, keep: Keep) -> None:
        self._keep = keep

    async def GetFigures(
        self, request: pb.GetFiguresRequest, context: ServicerContext[pb.GetFiguresRequest, pb.GetFiguresResponse]
    ) -> pb.GetFiguresResponse:
        report = await self._keep.report(_user(request.user_id) if request.user_id else "")
        return pb.GetFiguresResponse(
            counts=report.counts,
            saved_ms=report.saved_ms,
            prepared=[
                pb.PreparedQuestion(
                    query=one.query, confidence=one.confidence, expires_at=timestamp_of(one.expires_at), cards=one.cards
                )
                for one in report.prepared
            ],
        )

    async def ForgetPrepared(
        self,
        request: pb.ForgetPreparedRequest,
        context: ServicerContext[pb.ForgetPreparedRequest, pb.ForgetPreparedResponse],
    ) -> pb.ForgetPreparedResponse:
        user_id = _user(request.user_id)
        if request.block_ids:
            dropped = await self._keep.drop_blocks(user_id, list(request.block_ids))
            return pb.ForgetPreparedResponse(entries=dropped)
        removed = await self._keep.forget_user(user_id)
        return pb.ForgetPreparedResponse(entries=removed.entries, utterances=removed.utterances)


def _heard(event: Event[UtteranceAppended]) -> Heard:
    message = event.message
    user_id = _event_user(message.user_id)
    if not message.text.strip():
        raise Reject("text is empty: send what was said")
    if len(message.text.encode()) > _TEXT_BYTES:
        raise Reject(f"text is longer than {_TEXT_BYTES} bytes: send it in parts")
    if len(message.conversation_id) > _CONVERSATION_CHARS or len(message.speaker) > _SPEAKER_CHARS:
        raise Reject(f"conversation_id and speaker have at most {_CONVERSATION_CHARS} characters")
    at = message.event_time.ToDatetime(UTC) if message.HasField("event_time") else event.time
    return Heard(
        place=Place(user_id, message.conversation_id or _NO_CONVERSATION),
        utterance=Utterance(event.id, message.speaker or "user", message.text, at.timestamp(), event.sequence or 0),
        published_at=event.time.timestamp(),
        sequence=event.sequence,
    )


def _event_user(user_id: str) -> str:
    if not _USER.fullmatch(user_id):
        raise Reject("user_id must match [A-Za-z0-9._@-]{1,128}")
    return user_id


def _user(user_id: str) -> str:
    if not user_id:
        raise Fault(Reason.USER_REQUIRED, "send user_id", field="user_id")
    if not _USER.fullmatch(user_id):
        raise Fault(Reason.USER_INVALID, "user_id must match [A-Za-z0-9._@-]{1,128}", field="user_id")
    return user_id
