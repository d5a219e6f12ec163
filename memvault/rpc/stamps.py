"""Times as they travel."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import overload

from google.protobuf.timestamp_pb2 import Timestamp


@overload
def timestamp(at: datetime) -> Timestamp: ...


@overload
def timestamp(at: datetime | None) -> Timestamp | None: ...


def timestamp(at: datetime | None) -> Timestamp | None:
    """Return an aware instant as a message; None stays None, which leaves a field absent."""
    if at is None:
        return None
    made = Timestamp()
    made.FromDatetime(at)
    return made


def timestamp_of(seconds: float) -> Timestamp:
    """Return seconds since 1970 UTC as a message."""
    return timestamp(datetime.fromtimestamp(seconds, UTC))
