"""Blocks, questions and answers as messages of the contract, and back."""

from __future__ import annotations

import math
from datetime import UTC, datetime

import numpy as np
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

from memvault.faults import Fault, Reason
from memvault.recall.v1 import recall_pb2, types_pb2
from memvault.rpc.stamps import timestamp
from memvault_search.domain.block import (
    DEFAULT_SERVICE,
    DEFAULT_SOURCE_KIND,
    Block,
    Source,
    Triple,
)
from memvault_search.domain.embedding import FloatArray
from memvault_search.domain.scoring.candidates import TimeRange
from memvault_search.domain.selection import Selection
from memvault_search.usecases.asking import Hit, Why


def instant(message: Message, field: str) -> datetime | None:
    """A Timestamp field as aware UTC; None when it is absent. Raises Fault when it is no time."""
    if not message.HasField(field):
        return None
    stamp: Timestamp = getattr(message, field)
    try:
        return stamp.ToDatetime(tzinfo=UTC)
    except (ValueError, OverflowError) as error:
        raise Fault(Reason.FIELD_INVALID, f"{field} is not a time between year 1 and 9999", field=field) from error


def block_from(message: types_pb2.Block) -> Block:
    """A block as a writer sent it, not yet checked."""
    return Block(
        id=message.id,
        user_id=message.user_id,
        text=message.text,
        service=message.service or DEFAULT_SERVICE,
        summary=message.summary,
        title=message.title,
        heading_path=tuple(message.heading_path),
        speaker=message.speaker,
        conversation_id=message.conversation_id,
        session_id=message.session_id,
        position=message.position if message.HasField("position") else None,
        event_time=instant(message, "event_time"),
        recorded_at=instant(message, "recorded_at"),
        source=Source(message.source.kind or DEFAULT_SOURCE_KIND, message.source.uri),
        trust=_number(message, "trust"),
        confidence=_number(message, "confidence"),
        tags=tuple(dict.fromkeys(message.tags)),
        quarantine=frozenset(message.quarantine),
        ups=message.ups,
        downs=message.downs,
        access_count=message.access_count,
        last_accessed_at=instant(message, "last_accessed_at"),
        centrality=_number(message, "centrality"),
        frozen=message.frozen,
        superseded_by=message.superseded_by,
        valid_from=instant(message, "valid_from"),
        valid_to=instant(message, "valid_to"),
        version=message.version,
        triples=tuple(Triple(one.subject, one.predicate, one.object) for one in message.triples),
    )


def _number(message: Message, field: str) -> float | None:
    if not message.HasField(field):
        return None
    value = float(getattr(message, field))
    if not math.isfinite(value):
        raise Fault(Reason.FIELD_INVALID, f"{field} must be a finite number", field=field)
    return value


def block_to(block: Block) -> types_pb2.Block:
    """A stored block as a message."""
    return types_pb2.Block(
        id=block.id,
        user_id=block.user_id,
        service=block.service,
        text=block.text,
        summary=block.summary,
        title=block.title,
        heading_path=block.heading_path,
        speaker=block.speaker,
        conversation_id=block.conversation_id,
        session_id=block.session_id,
        position=block.position,
        event_time=timestamp(block.event_time),
        recorded_at=timestamp(block.recorded_at),
        source=types_pb2.Source(kind=block.source.kind, uri=block.source.uri),
        trust=block.trust,
        confidence=block.confidence,
        tags=block.tags,
        quarantine=sorted(block.quarantine),
        ups=block.ups,
        downs=block.downs,
        access_count=block.access_count,
        last_accessed_at=timestamp(block.last_accessed_at),
        centrality=block.centrality,
        tier=block.tier,
        frozen=block.frozen,
        superseded_by=block.superseded_by,
        valid_from=timestamp(block.valid_from),
        valid_to=timestamp(block.valid_to),
        screened_version=block.screened_version,
        version=block.version,
        triples=[
            types_pb2.Triple(subject=one.subject, predicate=one.predicate, object=one.object) for one in block.triples
        ],
        unsafe_rules=block.unsafe_rules,
    )


def selection_from(message: types_pb2.Filters) -> Selection:
    """Filters as a selection."""
    return Selection(
        services=tuple(message.services),
        tags=tuple(message.tags),
        source_kinds=tuple(message.source_kinds),
        conversation_ids=tuple(message.conversation_ids),
        event_start=instant(message.time_range, "start"),
        event_end=instant(message.time_range, "end"),
    )


def time_range_from(message: types_pb2.TimeRange) -> TimeRange | None:
    """A range of time in seconds; an open end is infinite, a range without ends is none."""
    start, end = instant(message, "start"), instant(message, "end")
    if start is None and end is None:
        return None
    low = -math.inf if start is None else start.timestamp()
    high = math.inf if end is None else end.timestamp()
    if low > high:
        raise Fault(Reason.FIELD_INVALID, "time_range must not end before it starts", field="time_range")
    return TimeRange(low, high)


def vector_from(data: bytes, dimension: int, field: str) -> FloatArray | None:
    """A vector of `dimension` little-endian float32; None when empty. Raises Fault when it is no such vector."""
    if not data:
        return None
    if len(data) != 4 * dimension:
        raise Fault(Reason.FIELD_INVALID, f"{field} must hold {dimension} little-endian float32", field=field)
    vector = np.frombuffer(data, "<f4").astype(np.float32)
    if not np.isfinite(vector).all() or not vector.any():
        raise Fault(Reason.FIELD_INVALID, f"{field} must be finite and not all zero", field=field)
    return vector


def explanation_to(why: Why, final: float) -> types_pb2.CardExplanation:
    """Reasons as a message."""
    return types_pb2.CardExplanation(
        places=_places(why),
        fused_score=why.fused,
        base_score=why.base,
        stages=[
            types_pb2.StageEffect(stage=one.stage, factor=one.factor, kept=one.kept, note=one.note)
            for one in why.stages
        ],
        scoring_score=why.scoring,
        scoring_rank=why.scoring_rank,
        rerank_score=why.rerank,
        final_score=final,
        similarity=why.similarity,
        reason=sentence(why),
    )


def candidate_to(hit: Hit) -> recall_pb2.Candidate:
    """A candidate without its text."""
    return recall_pb2.Candidate(
        block_id=hit.stored.block.id,
        version=hit.stored.block.version,
        places=_places(hit.why) if hit.why else (),
        scoring_score=hit.why.scoring if hit.why else 0.0,
        similarity=hit.similarity,
    )


def _places(why: Why) -> list[types_pb2.RankerPlace]:
    return [
        types_pb2.RankerPlace(ranker=one.ranker, rank=one.rank, score=one.score, contribution=one.contribution)
        for one in why.places
    ]


_NOTABLE = 0.005
"""A factor closer to 1 than this is not worth a word."""


def sentence(why: Why) -> str:
    """The reasons in one sentence for people: where it was found, and what moved it most."""
    found = ", ".join(f"{one.ranker} #{one.rank}" for one in why.places) or "named by the caller"
    moved = sorted(why.stages, key=lambda one: -abs(math.log(one.factor) if one.factor > 0 else math.inf))
    effects = ", ".join(f"{one.stage} x{one.factor:.2f}" for one in moved[:3] if abs(one.factor - 1.0) >= _NOTABLE)
    dropped = next((one.stage for one in why.stages if not one.kept), None)
    parts = [f"found by {found}", effects, f"dropped by {dropped}" if dropped else ""]
    return "; ".join(part for part in parts if part)
