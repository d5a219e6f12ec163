"""`AdminService`."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version
from typing import TYPE_CHECKING, TypeVar

from google.protobuf.message import Message

from memvault.faults import Fault, Reason
from memvault.recall.v1 import admin_pb2 as pb
from memvault.recall.v1.admin_pb2_grpc import AdminServiceServicer
from memvault_gateway.domain import edge
from memvault_gateway.handlers.decode import refuse_unknown
from memvault_gateway.ports import Clock, Facts, Health, Operations
from memvault_gateway.settings import DeadlineSettings

if TYPE_CHECKING:
    from grpc.aio import ServicerContext

_M = TypeVar("_M", bound=Message)
_LISTED = 100
_RESTORED_AT_ONCE = 1000


class AdminHandlers(AdminServiceServicer):
    """See the contract."""

    def __init__(
        self,
        operations: Operations,
        health: Health,
        facts: Facts,
        clock: Clock,
        new_id: Callable[[], str],
        limits: DeadlineSettings,
    ) -> None:
        self._operations = operations
        self._health = health
        self._facts = facts
        self._clock = clock
        self._new_id = new_id
        self._timeout_s = limits.read_ms / 1000

    async def GetStatus(
        self, request: pb.GetStatusRequest, context: ServicerContext[pb.GetStatusRequest, pb.GetStatusResponse]
    ) -> pb.GetStatusResponse:
        refuse_unknown(request)
        parts = await self._health.parts(self._timeout_s)
        return pb.GetStatusResponse(
            parts=[pb.PartStatus(part=one.part, state=one.state, details=one.details) for one in parts],
            version=version("memvault"),
        )

    async def GetPrefetch(
        self, request: pb.GetPrefetchRequest, context: ServicerContext[pb.GetPrefetchRequest, pb.GetPrefetchResponse]
    ) -> pb.GetPrefetchResponse:
        refuse_unknown(request)
        user_id = edge.check_user(request.user_id) if request.user_id else ""
        return _as(pb.GetPrefetchResponse, await self._operations.prefetch(user_id, timeout_s=self._timeout_s))

    async def GetProfile(
        self, request: pb.GetProfileRequest, context: ServicerContext[pb.GetProfileRequest, pb.GetProfileResponse]
    ) -> pb.GetProfileResponse:
        refuse_unknown(request)
        user_id = edge.check_user(request.user_id)
        found = await self._operations.profile(user_id, whole=request.whole, timeout_s=self._timeout_s)
        return _as(pb.GetProfileResponse, found)

    async def RestoreProfile(
        self,
        request: pb.RestoreProfileRequest,
        context: ServicerContext[pb.RestoreProfileRequest, pb.RestoreProfileResponse],
    ) -> pb.RestoreProfileResponse:
        refuse_unknown(request)
        user_id = edge.check_user(request.user_id)
        if max(len(request.questions), len(request.lasting_interests)) > _RESTORED_AT_ONCE:
            message = f"give back at most {_RESTORED_AT_ONCE} questions and interests in one call"
            raise Fault(Reason.FIELD_INVALID, message, field="questions")
        for one in request.questions:
            edge.check_block_id(one.id, "questions.id")
            if not one.HasField("asked_at"):
                raise Fault(Reason.FIELD_INVALID, "say when each question was asked", field="questions.asked_at")
        for interest in request.lasting_interests:
            edge.check_short(interest.name, "lasting_interests.name")
        told = await self._operations.restore_profile(user_id, request, timeout_s=self._timeout_s)
        return _as(pb.RestoreProfileResponse, told)

    async def EraseProfile(
        self,
        request: pb.EraseProfileRequest,
        context: ServicerContext[pb.EraseProfileRequest, pb.EraseProfileResponse],
    ) -> pb.EraseProfileResponse:
        refuse_unknown(request)
        user_id = edge.check_user(request.user_id)
        return pb.EraseProfileResponse(erased=await self._operations.erase_profile(user_id, timeout_s=self._timeout_s))

    async def ListDeadLetters(
        self,
        request: pb.ListDeadLettersRequest,
        context: ServicerContext[pb.ListDeadLettersRequest, pb.ListDeadLettersResponse],
    ) -> pb.ListDeadLettersResponse:
        refuse_unknown(request)
        limit = edge.check_count(request.limit, 1, 1000, "limit") if request.HasField("limit") else _LISTED
        return _as(pb.ListDeadLettersResponse, await self._operations.dead_letters(limit))

    async def ReplayDeadLetter(
        self,
        request: pb.ReplayDeadLetterRequest,
        context: ServicerContext[pb.ReplayDeadLetterRequest, pb.ReplayDeadLetterResponse],
    ) -> pb.ReplayDeadLetterResponse:
        refuse_unknown(request)
        if not request.id:
            message = "say which dead letter: send its id from the list, or all"
            raise Fault(Reason.FIELD_INVALID, message, field="id")
        return pb.ReplayDeadLetterResponse(replayed=await self._operations.replay(request.id))

    async def ListAudit(
        self, request: pb.ListAuditRequest, context: ServicerContext[pb.ListAuditRequest, pb.ListAuditResponse]
    ) -> pb.ListAuditResponse:
        refuse_unknown(request)
        user_id = edge.check_user(request.user_id)
        limit = edge.check_count(request.limit, 1, 1000, "limit") if request.HasField("limit") else _LISTED
        return _as(pb.ListAuditResponse, await self._operations.audit(user_id, limit))

    async def RequestDream(
        self,
        request: pb.RequestDreamRequest,
        context: ServicerContext[pb.RequestDreamRequest, pb.RequestDreamResponse],
    ) -> pb.RequestDreamResponse:
        refuse_unknown(request)
        user_id = edge.check_user(request.user_id) if request.user_id else ""
        event_id = self._new_id()
        await self._facts.dream(user_id, event_id=event_id, at=self._clock.now())
        return pb.RequestDreamResponse(event_id=event_id)

    async def Reindex(
        self, request: pb.ReindexRequest, context: ServicerContext[pb.ReindexRequest, pb.ReindexResponse]
    ) -> pb.ReindexResponse:
        refuse_unknown(request)
        return _as(pb.ReindexResponse, await self._operations.reindex(request.action, timeout_s=self._timeout_s))


def _as(kind: type[_M], carried: object) -> _M:
    if not isinstance(carried, kind):
        raise TypeError(f"an adapter returned {type(carried).__name__} where {kind.__name__} is due")
    return carried
