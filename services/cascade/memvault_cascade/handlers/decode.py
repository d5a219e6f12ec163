"""What arrives, checked and typed; every refusal says what would be right."""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import numpy as np

from memvault.faults import Fault, Reason
from memvault_cascade.domain.graph.extraction import Fact
from memvault_cascade.usecases.ingest import IncomingBlock
from memvault_cascade.usecases.walk import Mode, Question

if TYPE_CHECKING:
    from google.protobuf.timestamp_pb2 import Timestamp

    from memvault.cascade.v1 import cascade_pb2
    from memvault.recall.v1 import types_pb2

_USER = re.compile(r"[A-Za-z0-9._@-]{1,128}")
_MOST_ID_CHARS = 200
_MOST_LIMIT = 200
_MOST_TEXT_CHARS = 65_536
_MOST_NAME_CHARS = 500
_FLOAT_BYTES = 4
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def user(user_id: str) -> str:
    """A user id, or the reason why it is none."""
    if not user_id:
        raise Fault(Reason.USER_REQUIRED, "user_id is empty: every call names its user")
    if not _USER.fullmatch(user_id):
        raise Fault(Reason.USER_INVALID, "user_id must be 1 to 128 letters, digits or any of . _ @ -")
    return user_id


def block_id(identity: str) -> str:
    """A block id, or the reason why it is none."""
    printable = all(not unicodedata.category(character).startswith("C") for character in identity)
    if not identity or len(identity) > _MOST_ID_CHARS or not printable:
        raise Fault(Reason.FIELD_INVALID, "block_id must be 1 to 200 printable characters", field="block_id")
    return identity


def text(value: str, field: str) -> str:
    """A text that is not empty and not too long."""
    if not value.strip():
        raise Fault(Reason.TEXT_REQUIRED, f"{field} is empty: send some text", field=field)
    if len(value) > _MOST_TEXT_CHARS:
        raise Fault(Reason.TEXT_TOO_LONG, f"{field} is longer than {_MOST_TEXT_CHARS} characters", field=field)
    return value


def moment(stamp: Timestamp, field: str) -> datetime:
    """An instant in UTC."""
    try:
        return _EPOCH + timedelta(seconds=stamp.seconds, microseconds=stamp.nanos // 1000)
    except OverflowError as error:
        raise Fault(Reason.FIELD_INVALID, f"{field} lies outside the years 1 to 9999", field=field) from error


def question(request: cascade_pb2.WalkRequest) -> Question:
    """A walk to do."""
    if not request.query.strip():
        raise Fault(Reason.QUERY_REQUIRED, "query is empty: send the question")
    if not 0 <= request.limit <= _MOST_LIMIT:
        raise Fault(Reason.FIELD_INVALID, f"limit must be 0 to {_MOST_LIMIT}", field="limit")
    if request.retrieval_mode not in set(Mode):
        known = ", ".join(Mode)
        raise Fault(Reason.FIELD_INVALID, f"retrieval_mode must be one of {known}", field="retrieval_mode")
    return Question(
        user_id=user(request.user_id),
        query=text(request.query, "query"),
        vector=_vector(request.query_vector),
        seeds={block_id(seed.block_id): _score(seed.score) for seed in request.seeds},
        mode=Mode(request.retrieval_mode),
        as_of=moment(request.as_of, "as_of") if request.HasField("as_of") else None,
        now=moment(request.now, "now") if request.HasField("now") else None,
        profile=request.profile,
        limit=request.limit,
    )


def _vector(raw: bytes) -> np.ndarray[tuple[int], np.dtype[np.float32]] | None:
    if not raw:
        return None
    if len(raw) % _FLOAT_BYTES:
        raise Fault(Reason.FIELD_INVALID, "query_vector must be little-endian float32", field="query_vector")
    vector = np.frombuffer(raw, dtype="<f4").astype(np.float32)
    if not np.isfinite(vector).all():
        raise Fault(Reason.FIELD_INVALID, "query_vector holds values that are not finite", field="query_vector")
    return vector


def _score(score: float) -> float:
    if not 0 <= score <= 1:
        raise Fault(Reason.FIELD_INVALID, "a seed's score must be in 0 to 1", field="seeds.score")
    return score


def fact(triple: types_pb2.Triple) -> Fact:
    """A fact with three names."""
    names = [" ".join(part.split()) for part in (triple.subject, triple.predicate, triple.object)]
    if not all(names) or any(len(name) > _MOST_NAME_CHARS for name in names):
        raise Fault(
            Reason.FIELD_INVALID,
            f"a triple needs subject, predicate and object of 1 to {_MOST_NAME_CHARS} characters",
            field="triple",
        )
    return Fact(*names)


def incoming(block: types_pb2.Block, sequence: int, told_at: datetime) -> IncomingBlock:
    """A block as the index confirmed it; triples that lack a part are left to the extractor."""
    when = told_at
    for field in ("event_time", "recorded_at"):
        if block.HasField(field):
            when = moment(getattr(block, field), field)
            break
    return IncomingBlock(
        user_id=user(block.user_id),
        id=block_id(block.id),
        text=text(block.text or block.summary, "text"),
        title=block.title,
        speaker=block.speaker,
        stated_at=when,
        version=block.version,
        confidence=block.confidence if block.HasField("confidence") else 1.0,
        quarantined=bool(block.quarantine),
        superseded_by=block.superseded_by,
        facts=tuple(fact(t) for t in block.triples if _whole(t)),
        sequence=sequence,
        valid_from=_optional(block, "valid_from"),
        valid_to=_optional(block, "valid_to"),
        frozen=block.frozen,
    )


def _whole(triple: types_pb2.Triple) -> bool:
    names = (triple.subject, triple.predicate, triple.object)
    return all(name.strip() and len(name) <= _MOST_NAME_CHARS for name in names)


def _optional(block: types_pb2.Block, field: str) -> datetime | None:
    return moment(getattr(block, field), field) if block.HasField(field) else None
