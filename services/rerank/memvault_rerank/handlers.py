"""`memvault.rerank.v1.RerankService`: decode, rerank, encode."""

import math
from datetime import UTC, datetime

import numpy as np

from memvault.faults import Fault, Reason
from memvault.rerank.v1 import rerank_pb2 as pb
from memvault.rerank.v1 import rerank_pb2_grpc as rpc
from memvault.rpc.deadline import remaining_s
from memvault.rpc.stamps import timestamp_of
from memvault.runtime import telemetry
from memvault.slow_thinker.v1 import prefetch_pb2
from memvault_rerank.domain.breaker import Breaker, Phase
from memvault_rerank.domain.reading import Document, Int8Array, Reading
from memvault_rerank.settings import RerankSettings
from memvault_rerank.usecases import Rerank, Reranked

MOST_DOCUMENTS = 200  # the contract's
CALLS = "memvault.rerank.calls"
MODEL_DURATION = "memvault.rerank.model.duration"


class RerankHandlers(rpc.RerankServiceServicer):
    """Answers about candidates and about the breaker."""

    def __init__(self, rerank: Rerank, settings: RerankSettings) -> None:
        self._rerank, self._settings = rerank, settings

    async def Rerank(self, request: pb.RerankRequest, context: object) -> pb.RerankResponse:
        reading = _reading(request)
        within_s = remaining_s(self._settings.default_deadline_s) - self._settings.answer_margin_s
        with telemetry.span("rerank.model") as span:
            reranked = await self._rerank(reading, within_s=within_s)
            span.set(
                **{
                    "memvault.rerank.documents": len(reading.documents),
                    "memvault.rerank.status": reranked.status.value,
                    "memvault.rerank.model": self._rerank.model_name,
                    "memvault.rerank.breaker": reranked.breaker.phase.value,
                    "memvault.rerank.failures": reranked.breaker.failures,
                    "memvault.rerank.retry_at": _retry_at(reranked.breaker),
                }
            )
        _count(reranked)
        return pb.RerankResponse(
            status=reranked.status.value,
            scores=[
                pb.RerankScore(id=score.id, score=score.score, relevance=score.relevance) for score in reranked.scores
            ],
            model=self._rerank.model_name,
            model_ms=reranked.model_ms,
            breaker=reranked.breaker.phase.value,
            detail=reranked.detail,
        )

    async def GetBreaker(self, request: pb.GetBreakerRequest, context: object) -> pb.GetBreakerResponse:
        breaker, batched = self._rerank.breaker, self._rerank.batched
        closed = breaker.phase is Phase.CLOSED
        return pb.GetBreakerResponse(
            state=breaker.phase.value,
            consecutive_failures=breaker.failures,
            retry_at=None if closed else timestamp_of(breaker.retry_at),
            opened=breaker.opened,
            bypassed=breaker.bypassed,
            model=self._rerank.model_name,
            readings=batched.readings,
            batches=batched.batches,
        )


def _retry_at(breaker: Breaker) -> str:
    return "" if breaker.phase is Phase.CLOSED else datetime.fromtimestamp(breaker.retry_at, UTC).isoformat()


def _count(reranked: Reranked) -> None:
    labels = {"memvault.rerank.status": reranked.status.value, "memvault.rerank.breaker": reranked.breaker.phase.value}
    telemetry.counter(CALLS, **labels)
    if reranked.model_ms:
        telemetry.record(MODEL_DURATION, reranked.model_ms / 1000)


def _reading(request: pb.RerankRequest) -> Reading:
    if not request.query.strip():
        raise Fault(Reason.QUERY_REQUIRED, "send the query that the documents are to be read for", field="query")
    if not 1 <= len(request.documents) <= MOST_DOCUMENTS:
        raise Fault(Reason.FIELD_INVALID, f"send 1 to {MOST_DOCUMENTS} documents", field="documents")
    ids = [document.id for document in request.documents]
    if len(set(ids)) != len(ids) or not all(ids):
        raise Fault(Reason.FIELD_INVALID, "give every document an id of its own", field="documents.id")
    query_tokens = _tokens(request.query_tokens) if request.HasField("query_tokens") else None
    documents = tuple(_document(document) for document in request.documents)
    views = [view for document in documents for view in document.tokens if len(view)]
    dimensions = {view.shape[1] for view in ([] if query_tokens is None else [query_tokens]) + views}
    if len(dimensions) > 1:
        raise Fault(Reason.FIELD_INVALID, "all token vectors must come from one encoder", field="tokens")
    return Reading(request.query, documents, query_tokens, request.encoder_id)


def _document(message: pb.RerankDocument) -> Document:
    if not all(math.isfinite(value) for value in message.signals.values()):
        raise Fault(Reason.FIELD_INVALID, "signals must be finite numbers", field="documents.signals")
    return Document(message.id, message.text, dict(message.signals), tuple(_tokens(view) for view in message.tokens))


def _tokens(message: prefetch_pb2.TokenVectors) -> Int8Array:
    rows, columns = message.rows, message.columns
    if rows < 0 or columns < 0 or rows * columns != len(message.values):
        raise Fault(Reason.FIELD_INVALID, "token vectors: send rows x columns bytes", field="tokens")
    return np.frombuffer(message.values, np.int8).reshape(rows, columns)
