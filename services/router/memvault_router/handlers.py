"""Decode, call the use case, encode."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime, tzinfo
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np
from google.protobuf.timestamp_pb2 import Timestamp

from memvault.faults import Fault, Reason
from memvault.recall.v1 import recall_pb2, types_pb2
from memvault.router.v1 import router_pb2
from memvault.rpc.stamps import timestamp
from memvault.slow_thinker.v1 import prefetch_pb2
from memvault_router.domain.labels import FACETS, INTENTS, Distribution, ordered
from memvault_router.domain.operators.plan import FAST, SLOW
from memvault_router.domain.profile import Interest
from memvault_router.domain.state import Overrides, Said
from memvault_router.ports import Clock, Counted, Encoded
from memvault_router.usecases.asked import Answered, Asked
from memvault_router.usecases.classify import ClassifyQuestion
from memvault_router.usecases.profile import AttentionProfile, WholeProfile

_USER = re.compile(r"[A-Za-z0-9._@-]{1,128}")
ORIGINS = ("user", "prefetch", "eval")


class RouterHandlers:
    """The servicer of `RouterService`."""

    def __init__(
        self,
        classify: ClassifyQuestion,
        profile: AttentionProfile,
        clock: Clock,
        *,
        zone: tzinfo,
        profiles: Mapping[str, object],
        default_profile: str,
    ) -> None:
        self._classify = classify
        self._profile = profile
        self._clock = clock
        self._zone = zone
        self._profiles = profiles
        self._default_profile = default_profile

    async def Classify(self, request: router_pb2.ClassifyRequest, context: Any) -> router_pb2.ClassifyResponse:  # noqa: ANN401
        return encode(await self._classify(self._decode(request)))

    async def ReadProfile(self, request: router_pb2.ReadProfileRequest, context: Any) -> router_pb2.ReadProfileResponse:  # noqa: ANN401
        now = _instant(request.now) if request.HasField("now") else self._clock.now()
        view = await self._profile.read(_user(request.user_id), now)
        return router_pb2.ReadProfileResponse(
            sample_count=view.frequencies.sample_count,
            intents=_weights(view.frequencies.intents),
            facets=_weights(view.frequencies.facets),
            interests=[router_pb2.NamedWeight(name=each.name, weight=each.weight) for each in view.interests],
            **(await self._whole(request.user_id) if request.whole else {}),
        )

    async def _whole(self, user_id: str) -> dict[str, Any]:
        whole = await self._profile.whole(user_id)
        return {
            "questions": [
                router_pb2.CountedQuestion(
                    id=one.id, intent=one.intent, facet=one.facet, asked_at=timestamp(one.asked_at)
                )
                for one in whole.questions
            ],
            "lasting_interests": [
                router_pb2.NamedWeight(name=each.name, weight=each.weight) for each in whole.interests
            ],
        }

    async def RestoreProfile(
        self,
        request: router_pb2.RestoreProfileRequest,
        context: Any,  # noqa: ANN401
    ) -> router_pb2.RestoreProfileResponse:
        given = WholeProfile(
            tuple(Counted(one.id, one.intent, one.facet, _instant(one.asked_at)) for one in request.questions),
            tuple(Interest(each.name, each.weight) for each in request.lasting_interests),
        )
        if not all(math.isfinite(each.weight) for each in given.interests):
            raise Fault(Reason.FIELD_INVALID, "a weight must be a finite number", field="lasting_interests.weight")
        questions, interests = await self._profile.restore(_user(request.user_id), given, self._clock.now())
        return router_pb2.RestoreProfileResponse(questions=questions, interests=interests)

    async def DropProfile(self, request: router_pb2.DropProfileRequest, context: Any) -> router_pb2.DropProfileResponse:  # noqa: ANN401
        dropped = await self._profile.erase(_user(request.user_id), self._clock.now())
        return router_pb2.DropProfileResponse(dropped=dropped)

    def _decode(self, request: router_pb2.ClassifyRequest) -> Asked:
        if not request.query.strip():
            raise Fault(Reason.QUERY_REQUIRED, "the query is empty: ask something", field="query")
        return Asked(
            user_id=_user(request.user_id),
            query=request.query,
            zone=self._zone_of(request.time_zone),
            said=tuple(Said(each.speaker, each.text) for each in request.recent_utterances),
            now=_instant(request.now) if request.HasField("now") else None,
            origin=_one_of("origin", request.origin or "user", ORIGINS),
            overrides=Overrides(
                intent=_one_of("intent", request.intent, ("", *INTENTS)),
                facet=_one_of("facet", request.facet, ("", *FACETS)),
                thinking_mode=_one_of("thinking_mode", request.thinking_mode, ("", FAST, SLOW)),
            ),
            off=frozenset(request.off),
            profile=_one_of("profile", request.profile or self._default_profile, tuple(self._profiles)),
            conditions=request.conditions,
            recall_id=request.recall_id,
        )

    def _zone_of(self, name: str) -> tzinfo:
        if not name:
            return self._zone
        try:
            return ZoneInfo(name)
        except (ZoneInfoNotFoundError, ValueError, OSError) as error:
            raise Fault(
                Reason.FIELD_INVALID,
                f"{name[:64]!r} is no time zone: use an IANA name such as Asia/Taipei",
                field="time_zone",
            ) from error


def _user(user_id: str) -> str:
    if not user_id:
        raise Fault(Reason.USER_REQUIRED, "no user: set user_id", field="user_id")
    if not _USER.fullmatch(user_id):
        raise Fault(Reason.USER_INVALID, "user_id must be 1 to 128 of A-Z a-z 0-9 . _ @ -", field="user_id")
    return user_id


def _one_of(field: str, value: str, allowed: tuple[str, ...]) -> str:
    if value not in allowed:
        known = ", ".join(name for name in allowed if name)
        raise Fault(Reason.FIELD_INVALID, f"{field} {value[:64]!r} is unknown: use one of {known}", field=field)
    return value


def _instant(stamp: Timestamp) -> datetime:
    try:
        return stamp.ToDatetime(tzinfo=UTC)
    except (ValueError, OverflowError) as error:
        raise Fault(Reason.FIELD_INVALID, "now is outside the years 1 to 9999", field="now") from error


def _weights(frequencies: Mapping[str, float]) -> list[router_pb2.NamedWeight]:
    ranked = sorted(frequencies.items(), key=lambda item: (-item[1], item[0]))
    return [router_pb2.NamedWeight(name=name, weight=weight) for name, weight in ranked]


def encode(answered: Answered) -> router_pb2.ClassifyResponse:
    """Return the response for what was found out."""
    state, plan = answered.state, answered.state.plan
    if plan is None:
        raise Fault(Reason.INTERNAL, "the classification ended without a plan")
    response = router_pb2.ClassifyResponse(
        raw_distribution=_distribution(state.raw_intents),
        distribution=_distribution(state.intents),
        intent=state.intent,
        confidence=state.confidence,
        funnel=state.funnel,
        keyword_matches=state.votes.matches,
        facet=state.facet,
        completed_query=state.completed,
        layers=plan.layers,
        retrieval_mode=plan.retrieval_mode,
        thinking_mode=plan.thinking_mode,
        scoring_profile=plan.scoring_profile,
        runner_up=plan.runner_up,
        grouping=plan.grouping,
        bare=state.bare,
        prior=[recall_pb2.IntentFactor(intent=name, factor=by) for name, by in ordered(state.prior)],
        hyde_passage=answered.passage,
        degraded=[
            types_pb2.Degradation(part=each.part, reason=each.reason, detail=each.detail) for each in state.degraded
        ],
        skipped=[recall_pb2.Skip(step=each.step, reason=each.reason) for each in state.skipped],
        times=[recall_pb2.HopTime(hop=name, took_ms=took) for name, took in answered.times],
    )
    _encode_time(response, answered)
    _encode_vectors(response, answered.encoded, answered.passage_vector)
    if answered.match is not None:
        response.prefetch.MergeFromString(answered.match.prepared.payload)
        response.prefetch_match = answered.match.kind
    return response


def _encode_time(response: router_pb2.ClassifyResponse, answered: Answered) -> None:
    found = answered.state.time
    if found is None:
        return
    response.time_expression = found.text
    response.time_explicit = found.explicit
    if found.start is not None:
        response.time_range.start.FromDatetime(found.start)
    if found.end is not None:
        response.time_range.end.FromDatetime(found.end)


def _encode_vectors(response: router_pb2.ClassifyResponse, encoded: Encoded | None, passage: Encoded | None) -> None:
    if encoded is not None:
        rows = np.asarray(encoded.vectors, "<f4")
        response.query_vector = rows[0].tobytes()
        response.raw_query_vector = rows[1].tobytes() if len(rows) > 1 else b""
        response.encoder_id = encoded.encoder_id
        tokens = encoded.tokens[0] if encoded.tokens else None
        if tokens is not None:
            response.query_tokens.CopyFrom(
                prefetch_pb2.TokenVectors(values=tokens.values, rows=tokens.rows, columns=tokens.columns)
            )
    if passage is not None:
        response.hyde_vector = np.asarray(passage.vectors[0], "<f4").tobytes()


def _distribution(distribution: Distribution) -> list[recall_pb2.IntentProbability]:
    return [recall_pb2.IntentProbability(intent=name, probability=p) for name, p in ordered(distribution)]
