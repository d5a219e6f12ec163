"""The reranker behind its gRPC contract; whatever goes wrong there is a status here, never an exception."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from memvault.faults import Fault, Reason
from memvault.rerank.v1 import rerank_pb2 as pb
from memvault.rpc.client import call
from memvault.slow_thinker.v1 import prefetch_pb2
from memvault_search.domain.embedding import TokenVectors
from memvault_search.ports import RerankCandidate, Reranked, RerankStatus

if TYPE_CHECKING:  # generated, and only there for type checkers
    from memvault.rerank.v1.rerank_pb2_grpc import RerankServiceAsyncStub

_STATUSES: dict[str, RerankStatus] = {
    "OK": "OK",
    "NO_MODEL": "NO_MODEL",
    "BYPASSED": "BREAKER_OPEN",
    "TIMEOUT": "TIMEOUT",
    "EXPIRED": "TIMEOUT",
    "FAILED": "FAILED",
}
_TOO_LATE = frozenset({Reason.DEADLINE_EXCEEDED, Reason.CANCELLED})


class RerankClient:
    """A `Reranker` over the service's stub."""

    def __init__(self, stub: RerankServiceAsyncStub, *, encoder_id: str) -> None:
        self._stub = stub
        self._encoder_id = encoder_id

    async def rerank(
        self,
        query: str,
        candidates: Sequence[RerankCandidate],
        *,
        query_tokens: TokenVectors | None,
        timeout_s: float,
    ) -> Reranked:
        """Ask the service."""
        request = pb.RerankRequest(
            query=query,
            documents=[
                pb.RerankDocument(
                    id=one.id, text=one.text, signals=one.signals, tokens=[_tokens(view) for view in one.tokens]
                )
                for one in candidates
            ],
            query_tokens=None if query_tokens is None else _tokens(query_tokens),
            encoder_id=self._encoder_id,
        )
        try:
            async with asyncio.timeout(timeout_s):
                response = await call(self._stub.Rerank, request, timeout_s=timeout_s)
        except TimeoutError:
            return Reranked("TIMEOUT", detail=f"no answer within {timeout_s:.2f} s")
        except Fault as fault:
            status: RerankStatus = "TIMEOUT" if fault.reason in _TOO_LATE else "UNREACHABLE"
            if fault.reason in {Reason.INTERNAL, Reason.MODEL_FAILED}:
                status = "FAILED"
            return Reranked(status, detail=fault.message)
        return _answer(response, {one.id for one in candidates})


def _answer(response: pb.RerankResponse, asked: set[str]) -> Reranked:
    status = _STATUSES.get(response.status, "FAILED")
    scores = {one.id: one.score for one in response.scores}
    if status == "OK" and set(scores) != asked:
        return Reranked("FAILED", detail=f"{len(scores)} of {len(asked)} candidates were scored")
    relevance = {one.id: one.relevance for one in response.scores if one.HasField("relevance")}
    return Reranked(status, scores if status == "OK" else {}, relevance, response.model, response.detail)


def _tokens(tokens: TokenVectors) -> prefetch_pb2.TokenVectors:
    rows, columns = tokens.values.shape
    return prefetch_pb2.TokenVectors(values=tokens.values.tobytes(), rows=rows, columns=columns)
