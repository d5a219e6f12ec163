"""Shared pieces of the messages that the peers send and read."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from google.protobuf.message import Message

from memvault.recall.v1 import recall_pb2, types_pb2
from memvault.rpc.stamps import timestamp
from memvault_gateway.domain.model import Degradation, Filters, HopTime, PathStep, Skip, TimeRange


def instant(message: Message, field: str) -> datetime | None:
    """Return a timestamp field as UTC, None where it is absent."""
    return getattr(message, field).ToDatetime(UTC) if message.HasField(field) else None


def degradations(parts: Iterable[types_pb2.Degradation]) -> tuple[Degradation, ...]:
    """Return the parts that a peer left out."""
    return tuple(Degradation(part.part, part.reason, part.detail) for part in parts)


def skips(steps: Iterable[recall_pb2.Skip]) -> tuple[Skip, ...]:
    """Return the steps that a peer did not take."""
    return tuple(Skip(step.step, step.reason) for step in steps)


def hop_times(times: Iterable[recall_pb2.HopTime]) -> tuple[HopTime, ...]:
    """Return the times that a peer measured."""
    return tuple(HopTime(time.hop, time.took_ms) for time in times)


def path_steps(steps: Iterable[types_pb2.PathStep]) -> tuple[PathStep, ...]:
    """Return the steps of a walk."""
    return tuple(PathStep(step.subject, step.predicate, step.object) for step in steps)


def filters_message(filters: Filters) -> types_pb2.Filters:
    """Return the filters as the peers read them."""
    return types_pb2.Filters(
        services=filters.services,
        tags=filters.tags,
        time_range=range_message(filters.time_range),
        source_kinds=filters.source_kinds,
        conversation_ids=filters.conversation_ids,
    )


def range_message(span: TimeRange | None) -> types_pb2.TimeRange | None:
    """Return a range as the peers read it."""
    if span is None:
        return None
    return types_pb2.TimeRange(start=timestamp(span.start), end=timestamp(span.end))


def read_range(message: types_pb2.TimeRange) -> TimeRange:
    """Return a range as sent."""
    return TimeRange(instant(message, "start"), instant(message, "end"))
