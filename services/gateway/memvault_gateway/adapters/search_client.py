"""Asks search for blocks."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from typing import TYPE_CHECKING

from memvault.faults import Fault, Reason
from memvault.recall.v1 import recall_pb2
from memvault.rpc.client import call, stream
from memvault.rpc.stamps import timestamp
from memvault.search.v1 import search_pb2 as pb
from memvault_gateway.adapters import wire
from memvault_gateway.adapters.block_texts import stored
from memvault_gateway.adapters.vectors import QueryVectors
from memvault_gateway.domain.model import (
    Ask,
    Card,
    Carried,
    Filters,
    Found,
    Prepared,
    Rescored,
    StoredBlock,
    Understanding,
)
from memvault_gateway.domain.withheld import HeldBack

if TYPE_CHECKING:
    from memvault.search.v1.search_pb2_grpc import SearchServiceAsyncStub


class SearchClient:
    """See `ports.MemorySearch`."""

    def __init__(self, stub: SearchServiceAsyncStub) -> None:
        self._stub = stub

    async def search(self, ask: Ask, understanding: Understanding, *, timeout_s: float) -> Found:
        """See `ports.MemorySearch`."""
        request = pb.SearchRequest(
            understanding=_understanding(ask, understanding), conditions=_conditions(ask), limit=ask.limit
        )
        found = await call(self._stub.Search, request, timeout_s=timeout_s)
        return Found(
            cards=_cards(found.hits),
            confidence=found.confidence,
            relevance=found.relevance,
            relevances=tuple(hit.similarity for hit in found.hits),
            reranked=found.reranked,
            candidates=tuple(found.candidates),
            reference=found.reference,
            candidates_found=found.candidates_found,
            write_version=found.write_version,
            scoring_profile=found.scoring_profile,
            profile=found.profile,
            query_vector=found.query_vector,
            time_filtered=found.time_filtered,
            held_back=_held_back(found.withheld),
            parts=tuple(found.parts),
            degraded=wire.degradations(found.degraded),
            skipped=wire.skips(found.skipped),
            times=wire.hop_times(found.times),
        )

    async def score(
        self, ask: Ask, understanding: Understanding, block_ids: Sequence[str], reference: Carried, *, timeout_s: float
    ) -> Rescored:
        """See `ports.MemorySearch`."""
        request = pb.ScoreRequest(
            understanding=_understanding(ask, understanding),
            conditions=_conditions(ask),
            block_ids=block_ids,
            limit=min(100, len(block_ids)),
        )
        if isinstance(reference, pb.ScoreReference):
            request.reference.CopyFrom(reference)
        return _rescored(await call(self._stub.Score, request, timeout_s=timeout_s))

    async def rescore(
        self, ask: Ask, understanding: Understanding, prepared: Prepared, *, timeout_s: float
    ) -> Rescored:
        """See `ports.MemorySearch`."""
        request = pb.ScoreRequest(
            understanding=_understanding(ask, understanding),
            conditions=_conditions(ask),
            candidates=_candidates(prepared.candidates),
            since_write_version=prepared.write_version,
            limit=ask.limit,
        )
        return _rescored(await call(self._stub.Score, request, timeout_s=timeout_s))

    async def read(
        self, user_id: str, block_ids: Sequence[str], *, timeout_s: float
    ) -> tuple[tuple[StoredBlock, ...], int]:
        """See `ports.MemorySearch`."""
        request = pb.ReadBlocksRequest(user_id=user_id, block_ids=block_ids)
        found = await call(self._stub.ReadBlocks, request, timeout_s=timeout_s)
        return tuple(stored(block) for block in found.blocks), found.write_version

    async def export(self, user_id: str, *, after: str, limit: int, timeout_s: float) -> AsyncIterator[Carried]:
        """See `ports.MemorySearch`."""
        request = pb.ListBlocksRequest(user_id=user_id, after=after, limit=limit)
        async for part in stream(self._stub.ListBlocks, request, timeout_s=timeout_s):
            for block in part.blocks:
                yield block

    async def forget(
        self, user_id: str, *, block_ids: Sequence[str], filters: Filters, whole_user: bool, timeout_s: float
    ) -> tuple[str, ...]:
        """See `ports.MemorySearch`."""
        request = pb.ForgetBlocksRequest(
            user_id=user_id,
            block_ids=block_ids,
            filters=wire.filters_message(filters) if filters else None,
            whole_user=whole_user,
        )
        return tuple((await call(self._stub.ForgetBlocks, request, timeout_s=timeout_s)).block_ids)


def _understanding(ask: Ask, understanding: Understanding) -> pb.Understanding:
    message = pb.Understanding(
        user_id=ask.user_id,
        query=understanding.query,
        intent=understanding.intent,
        distribution=[
            recall_pb2.IntentProbability(intent=intent, probability=probability)
            for intent, probability in understanding.distribution
        ],
        facet=understanding.facet,
        time_range=wire.range_message(understanding.time_range),
        time_explicit=understanding.time_explicit,
        grouping=understanding.grouping,
        bare=understanding.bare,
    )
    vectors = understanding.vectors
    if isinstance(vectors, QueryVectors):
        message.query_vector = vectors.query
        message.hyde_vector = vectors.hyde
        message.raw_query_vector = vectors.raw_query
        message.encoder_id = vectors.encoder_id
        if vectors.tokens.rows:
            message.query_tokens.CopyFrom(vectors.tokens)
    return message


def _conditions(ask: Ask) -> pb.SearchConditions:
    return pb.SearchConditions(
        filters=wire.filters_message(ask.filters) if ask.filters else None,
        as_of=timestamp(ask.as_of),
        now=timestamp(ask.evaluation.now),
        profile=ask.evaluation.profile,
        off=ask.evaluation.off,
        explain=ask.explain,
        include_candidates=ask.evaluation.include_candidates,
    )


def _candidates(carried: Carried) -> list[recall_pb2.Candidate]:
    if not isinstance(carried, tuple):
        raise Fault(Reason.INTERNAL, "candidates of a prepared answer are not what search sent")
    return list(carried)


def _rescored(scored: pb.ScoreResponse) -> Rescored:
    return Rescored(
        cards=_cards(scored.hits),
        changed=tuple(scored.changed_block_ids),
        write_version=scored.write_version,
        relevance=scored.relevance,
        confidence=scored.confidence,
        margin=scored.margin,
        held_back=_held_back(scored.withheld),
        degraded=wire.degradations(scored.degraded),
        skipped=wire.skips(scored.skipped),
        times=wire.hop_times(scored.times),
    )


def _held_back(blocks: Iterable[pb.WithheldBlock]) -> tuple[HeldBack, ...]:
    return tuple(HeldBack(one.block_id, tuple(one.rules), one.screened_version) for one in blocks)


def _cards(hits: Iterable[pb.SearchHit]) -> tuple[Card, ...]:
    return tuple(_card(hit) for hit in hits)


def _card(hit: pb.SearchHit) -> Card:
    block = hit.block
    return Card(
        block_id=block.id,
        kind="block",
        title=block.title,
        text=block.text or block.summary,
        summary=block.summary,
        score=hit.score,
        service=block.service,
        source_kind=block.source.kind,
        source_uri=block.source.uri,
        speaker=block.speaker,
        conversation_id=block.conversation_id,
        event_time=wire.instant(block, "event_time"),
        recorded_at=wire.instant(block, "recorded_at"),
        trust=block.trust,
        confidence=block.confidence,
        tags=tuple(block.tags),
        frozen=block.frozen,
        superseded_by=block.superseded_by,
        highlight=hit.highlight,
        explanation=hit.explanation if hit.HasField("explanation") else None,
        similarity=hit.similarity,
        screened_version=block.screened_version,
    )
