"""Asks the router what is being asked, and whether an answer lies prepared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memvault.prefetch_key import conditions_fingerprint
from memvault.recall.v1 import types_pb2
from memvault.router.v1 import router_pb2 as pb
from memvault.rpc.client import call
from memvault.rpc.stamps import timestamp
from memvault.slow_thinker.v1 import prefetch_pb2
from memvault_gateway.adapters import wire
from memvault_gateway.adapters.answers import read_answer
from memvault_gateway.adapters.vectors import QueryVectors
from memvault_gateway.domain.model import Ask, Prepared, Understanding

if TYPE_CHECKING:
    from memvault.router.v1.router_pb2_grpc import RouterServiceAsyncStub


class RouterClient:
    """See `ports.QueryUnderstanding`."""

    def __init__(self, stub: RouterServiceAsyncStub, time_zone: str) -> None:
        """Ask `stub`; `time_zone` is the one of users who name none."""
        self._stub = stub
        self._time_zone = time_zone

    async def classify(self, ask: Ask, *, timeout_s: float) -> Understanding:
        """See `ports.QueryUnderstanding`."""
        return _understanding(ask, await call(self._stub.Classify, _request(ask, self._time_zone), timeout_s=timeout_s))


def _request(ask: Ask, usual_zone: str) -> pb.ClassifyRequest:
    wanted = ask.evaluation
    return pb.ClassifyRequest(
        user_id=ask.user_id,
        query=ask.query,
        conversation_id=ask.conversation_id,
        recent_utterances=[
            types_pb2.Utterance(speaker=said.speaker, text=said.text, event_time=timestamp(said.event_time))
            for said in ask.utterances
        ],
        now=timestamp(wanted.now),
        time_zone=ask.time_zone,
        origin=ask.origin,
        intent=wanted.intent,
        facet=wanted.facet,
        thinking_mode=wanted.thinking_mode,
        off=wanted.off,
        profile=wanted.profile,
        conditions=_conditions(ask, usual_zone),
        recall_id=ask.recall_id,
    )


def _conditions(ask: Ask, usual_zone: str) -> str:
    filters = wire.filters_message(ask.filters).SerializeToString(deterministic=True) if ask.filters else b""
    as_of = ask.as_of.isoformat() if ask.as_of else ""
    # prepared answers are made for a user who names no zone
    zone = "" if ask.time_zone == usual_zone else ask.time_zone
    return conditions_fingerprint(filters, as_of, ask.evaluation.profile, zone)


def _understanding(ask: Ask, found: pb.ClassifyResponse) -> Understanding:
    return Understanding(
        query=found.completed_query or ask.query,
        intent=found.intent,
        confidence=found.confidence,
        raw_distribution=tuple((one.intent, one.probability) for one in found.raw_distribution),
        distribution=tuple((one.intent, one.probability) for one in found.distribution),
        prior=tuple((one.intent, one.factor) for one in found.prior),
        funnel=found.funnel,
        keyword_matches=tuple(found.keyword_matches),
        facet=found.facet or "none",
        time_expression=found.time_expression,
        time_range=wire.read_range(found.time_range) if found.HasField("time_range") else None,
        time_explicit=found.time_explicit,
        layers=tuple(found.layers),
        retrieval_mode=found.retrieval_mode,
        thinking_mode=found.thinking_mode,
        scoring_profile=found.scoring_profile,
        runner_up=found.runner_up,
        grouping=found.grouping,
        bare=found.bare,
        vectors=QueryVectors(
            found.query_vector, found.query_tokens, found.hyde_vector, found.raw_query_vector, found.encoder_id
        ),
        query_vector=found.query_vector,
        hyde=bool(found.hyde_vector),
        prepared=_prepared(ask, found.prefetch, found.prefetch_match) if found.HasField("prefetch") else None,
        degraded=wire.degradations(found.degraded),
        skipped=wire.skips(found.skipped),
        times=wire.hop_times(found.times),
    )


def _prepared(ask: Ask, entry: prefetch_pb2.PrefetchEntry, match: str) -> Prepared:
    return Prepared(
        match=match,
        query=entry.query,
        query_hash=entry.query_hash,
        answer=read_answer(ask, entry.answer),
        candidates=tuple(entry.candidates),
        write_version=entry.write_version,
        recall_ms=entry.recall_ms,
    )
