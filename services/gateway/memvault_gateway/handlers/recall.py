"""`RecallService`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from memvault.recall.v1 import recall_pb2 as pb
from memvault.recall.v1.recall_pb2_grpc import RecallServiceServicer
from memvault.recall.v1.types_pb2 import TraceSpan
from memvault.rpc import deadline
from memvault.runtime import telemetry
from memvault.runtime.spans import AttributeValue, SpanRecord
from memvault_gateway.domain.model import Answer, Ask
from memvault_gateway.handlers.decode import read_ask
from memvault_gateway.handlers.encode import answer_message
from memvault_gateway.settings import Settings
from memvault_gateway.usecases.recall import Recall

if TYPE_CHECKING:
    from grpc.aio import ServicerContext


class RecallHandlers(RecallServiceServicer):
    """See the contract."""

    def __init__(self, recall: Recall, settings: Settings, new_id: Callable[[], str]) -> None:
        self._recall = recall
        self._settings = settings
        self._new_id = new_id

    async def Recall(
        self, request: pb.RecallRequest, context: ServicerContext[pb.RecallRequest, pb.RecallResponse]
    ) -> pb.RecallResponse:
        ask = read_ask(request, self._settings, self._new_id())
        if not request.context.trace:
            return answer_message(await self._answer(ask), explain=ask.explain)
        with telemetry.collect() as spans:
            message = answer_message(await self._answer(ask), explain=ask.explain)
        message.trace.extend(_span(record) for record in spans)
        if spans:
            message.trace_id = spans[0].trace_id
        return message

    async def _answer(self, ask: Ask) -> Answer:
        limits = self._settings.deadline
        async with deadline.limit((ask.deadline_ms or limits.deep_ms) / 1000):
            with telemetry.span("memvault.recall") as span:
                span.set(**{"memvault.origin": ask.origin, "memvault.caller": ask.caller})
                answer = await self._recall(ask)
                span.set(**_attributes(answer))
        telemetry.record(
            "memvault.recall.duration",
            answer.took_ms / 1000,
            **{"memvault.thinking_mode": answer.thinking_mode, "memvault.answered_from": answer.answered_from},
        )
        for part in answer.degraded:
            telemetry.counter("memvault.recall.degraded", **{"memvault.part": part.part, "error.type": part.reason})
        return answer


def _attributes(answer: Answer) -> dict[str, AttributeValue]:
    return {
        "memvault.intent": answer.intent,
        "memvault.facet": answer.facet,
        "memvault.thinking_mode": answer.thinking_mode,
        "memvault.retrieval_mode": answer.retrieval_mode,
        "memvault.answered_from": answer.answered_from,
        "memvault.confidence": answer.confidence,
        "memvault.cards": len(answer.cards),
        "memvault.withheld": sum(one.count for one in answer.withheld),
        "memvault.degraded": ",".join(f"{part.part}:{part.reason}" for part in answer.degraded),
    }


def _span(record: SpanRecord) -> TraceSpan:
    return TraceSpan(
        span_id=record.span_id,
        parent_id=record.parent_id,
        name=record.name,
        service=record.service,
        start_ns=str(record.start_unix_ns),
        took_ms=record.duration_ns / 1e6,
        status="ok" if record.ok else "error",
        attributes={name: str(value) for name, value in record.attributes.items()},
    )
