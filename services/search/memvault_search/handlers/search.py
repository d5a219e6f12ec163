"""`memvault.search.v1.SearchService` over the use cases."""

from __future__ import annotations

from collections.abc import AsyncIterator
from collections.abc import Set as AbstractSet

import numpy as np

from memvault.faults import Fault, Reason
from memvault.recall.v1 import recall_pb2, types_pb2
from memvault.search.v1 import search_pb2 as pb
from memvault_search.domain.fusion import Cutoffs
from memvault_search.handlers.convert import (
    block_to,
    candidate_to,
    explanation_to,
    instant,
    selection_from,
    time_range_from,
    vector_from,
)
from memvault_search.handlers.embed import packed, unpacked_tokens
from memvault_search.ports import Clock
from memvault_search.usecases.asking import Conditions, Found, Hit, Left, Question, Reference, Withheld
from memvault_search.usecases.forgetting import Forgetting
from memvault_search.usecases.preparing import Preparing
from memvault_search.usecases.rankers import side_of
from memvault_search.usecases.reading import Reading
from memvault_search.usecases.searching import Searching

MOST_HITS = 100
MOST_NAMED = 1000
PAGE = 256


class SearchHandlers:
    """Decodes, calls, encodes: the calls of one index."""

    def __init__(  # noqa: PLR0913 - use cases and what the answers say of the service
        self,
        searching: Searching,
        preparing: Preparing,
        forgetting: Forgetting,
        reading: Reading,
        clock: Clock,
        *,
        dimension: int,
        encoder_id: str,
        other_encoders: AbstractSet[str],
        house_encoder_id: str,
        store: str,
        advised_blocks: int,
        profile: str,
        limit: int,
    ) -> None:
        self._searching = searching
        self._preparing = preparing
        self._forgetting = forgetting
        self._reading = reading
        self._clock = clock
        self._dimension = dimension
        self._encoder_id = encoder_id
        self._other_encoders = other_encoders
        self._tells_vector = house_encoder_id == encoder_id  # others could not read it
        self._store = store
        self._advised_blocks = advised_blocks
        self._profile = profile
        self._limit = limit

    async def Search(self, request: pb.SearchRequest, context: object) -> pb.SearchResponse:
        question = self._question(request.understanding)
        conditions = self._conditions(request.conditions)
        found = await self._searching.search(question, conditions, limit=self._most(request.limit))
        return pb.SearchResponse(
            hits=[_hit(one) for one in found.hits],
            confidence=found.confidence,
            relevance=found.relevance,
            candidates=[candidate_to(one) for one in found.candidates],
            reference=_reference_to(found.reference),
            degraded=_degraded(found.degraded),
            skipped=_skipped(found.skipped),
            times=_times(found),
            candidates_found=found.found,
            reranked=found.reranked,
            write_version=found.write_version,
            scoring_profile=found.strengths,
            profile=found.profile,
            query_vector=packed(found.vector) if self._tells_vector else b"",
            time_filtered=found.time_filtered,
            withheld=_withheld(found.withheld),
            parts=found.parts,
        )

    async def Score(self, request: pb.ScoreRequest, context: object) -> pb.ScoreResponse:
        question = self._question(request.understanding)
        conditions = self._conditions(request.conditions)
        if len(request.block_ids) > MOST_NAMED or len(request.candidates) > MOST_NAMED:
            raise Fault(Reason.FIELD_INVALID, f"name at most {MOST_NAMED} blocks in one call", field="block_ids")
        reference = self._reference(request.reference) if request.HasField("reference") else None
        kept = {one.block_id: one.version for one in request.candidates}
        ids, changed = await self._preparing.pool(
            question.user_id, list(request.block_ids), kept, since=request.since_write_version
        )
        found = await self._searching.score(question, conditions, ids, reference, limit=self._most(request.limit))
        return pb.ScoreResponse(
            hits=[_hit(one) for one in found.hits],
            changed_block_ids=changed,
            degraded=_degraded(found.degraded),
            write_version=found.write_version,
            relevance=found.relevance,
            confidence=found.confidence,
            skipped=_skipped(found.skipped),
            times=_times(found),
            margin=found.margin,
            withheld=_withheld(found.withheld),
        )

    async def ReadBlocks(self, request: pb.ReadBlocksRequest, context: object) -> pb.ReadBlocksResponse:
        if len(request.block_ids) > MOST_NAMED:
            raise Fault(Reason.FIELD_INVALID, f"name at most {MOST_NAMED} blocks in one call", field="block_ids")
        blocks, version = await self._reading.read(request.user_id, list(request.block_ids))
        return pb.ReadBlocksResponse(blocks=map(block_to, blocks), write_version=version)

    async def ListBlocks(self, request: pb.ListBlocksRequest, context: object) -> AsyncIterator[pb.ListBlocksResponse]:
        selection = selection_from(request.filters)
        if request.limit < 0:
            raise Fault(Reason.FIELD_INVALID, "limit must be 0 or more", field="limit")
        pages = self._reading.pages(request.user_id, selection, PAGE, after=request.after, limit=request.limit or None)
        async for page in pages:
            yield pb.ListBlocksResponse(blocks=map(block_to, page))

    async def ForgetBlocks(self, request: pb.ForgetBlocksRequest, context: object) -> pb.ForgetBlocksResponse:
        forgotten = await self._forgetting.forget(
            request.user_id,
            block_ids=list(request.block_ids),
            selection=selection_from(request.filters) if request.HasField("filters") else None,
            whole_user=request.whole_user,
        )
        return pb.ForgetBlocksResponse(block_ids=forgotten.block_ids, write_version=forgotten.write_version)

    async def GetIndex(self, request: pb.GetIndexRequest, context: object) -> pb.GetIndexResponse:
        counts = await self._reading.count(request.user_id)
        return pb.GetIndexResponse(
            blocks=counts.blocks,
            passages=counts.passages,
            users=counts.users,
            encoder_id=self._encoder_id,
            write_version=counts.write_version,
            store=self._store,
            conversations=counts.conversations,
            frozen=counts.frozen,
            largest_user_blocks=counts.largest,
            advised_blocks=self._advised_blocks,
        )

    def _question(self, message: pb.Understanding) -> Question:
        if not message.query.strip():
            raise Fault(Reason.QUERY_REQUIRED, "ask something: the query is empty", field="query")
        made_here = not message.encoder_id or message.encoder_id == self._encoder_id
        if not made_here and message.encoder_id in self._other_encoders:
            # of the encoder that the house kept when the index changed its own, or from just before that: the question
            # is embedded here, as if it had come without vectors
            message = pb.Understanding.FromString(message.SerializeToString())
            for name in ("query_vector", "query_tokens", "hyde_vector", "raw_query_vector"):
                message.ClearField(name)
        elif not made_here:
            text = f"the vectors are of {message.encoder_id}, the index of {self._encoder_id}: embed again"
            raise Fault(Reason.EMBEDDER_CHANGED, text)
        return Question(
            user_id=message.user_id,
            text=message.query,
            intent=message.intent or "unknown",
            facet=message.facet or "none",
            time_range=time_range_from(message.time_range),
            time_explicit=message.time_explicit,
            vector=vector_from(message.query_vector, self._dimension, "query_vector"),
            tokens=unpacked_tokens(message.query_tokens) if message.HasField("query_tokens") else None,
            hyde_vector=vector_from(message.hyde_vector, self._dimension, "hyde_vector"),
            follow_up_vector=vector_from(message.raw_query_vector, self._dimension, "raw_query_vector"),
            grouping=message.grouping,
            bare=message.bare,
        )

    def _conditions(self, message: pb.SearchConditions) -> Conditions:
        as_of = instant(message, "as_of")
        return Conditions(
            now=instant(message, "now") or as_of or self._clock.now(),
            selection=selection_from(message.filters),
            as_of=as_of,
            profile=message.profile or self._profile,
            off=frozenset(message.off),
            explain=message.explain,
            include_candidates=message.include_candidates,
        )

    def _most(self, limit: int) -> int:
        if not 0 <= limit <= MOST_HITS:
            raise Fault(Reason.FIELD_INVALID, f"limit must be 1 to {MOST_HITS}", field="limit")
        return limit or self._limit

    def _reference(self, message: pb.ScoreReference) -> Reference:
        return Reference(
            lists=tuple(
                Cutoffs(
                    one.ranker,
                    side_of(one.ranker),
                    np.sort(np.array(one.scores, np.float64))[::-1],
                    one.limit,
                    one.weight,
                )
                for one in message.lists
            ),
            best=message.best_scoring_score,
            centre=message.boost_centre or None,
            reranked=message.reranked,
            scoring_low=message.scoring_low,
            scoring_high=message.scoring_high,
            rerank_low=message.rerank_low,
            rerank_high=message.rerank_high,
            floor=message.blend_floor,
            rerank_lifts=tuple(message.rerank_lifts),
            scored={one.block_id: one.score for one in message.scored},
        )


def _reference_to(reference: Reference) -> pb.ScoreReference:
    return pb.ScoreReference(
        lists=[
            pb.ScoreReference.RankedList(
                ranker=one.name, scores=one.scores.tolist(), limit=one.limit, weight=one.weight
            )
            for one in reference.lists
        ],
        best_scoring_score=reference.best,
        scoring_low=reference.scoring_low,
        scoring_high=reference.scoring_high,
        rerank_low=reference.rerank_low,
        rerank_high=reference.rerank_high,
        reranked=reference.reranked,
        scored=[pb.ScoredBlock(block_id=one, score=score) for one, score in reference.scored.items()],
        boost_centre=reference.centre or 0.0,
        blend_floor=reference.floor,
        rerank_lifts=reference.rerank_lifts,
    )


def _hit(hit: Hit) -> pb.SearchHit:
    return pb.SearchHit(
        block=block_to(hit.stored.block),
        score=hit.score,
        highlight=hit.highlight,
        explanation=explanation_to(hit.why, hit.score) if hit.why else None,
        similarity=hit.similarity,
    )


def _withheld(withheld: tuple[Withheld, ...]) -> list[pb.WithheldBlock]:
    return [
        pb.WithheldBlock(block_id=one.block_id, rules=one.rules, screened_version=one.screened_version)
        for one in withheld
    ]


def _degraded(left: tuple[Left, ...]) -> list[types_pb2.Degradation]:
    return [types_pb2.Degradation(part=one.part, reason=one.reason, detail=one.detail) for one in left]


def _skipped(left: tuple[Left, ...]) -> list[recall_pb2.Skip]:
    return [recall_pb2.Skip(step=one.part, reason=one.reason) for one in left]


def _times(found: Found) -> list[recall_pb2.HopTime]:
    return [recall_pb2.HopTime(hop=name, took_ms=took) for name, took in found.times.items()]
