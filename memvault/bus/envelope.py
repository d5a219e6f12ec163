"""CloudEvents 1.0 in binary mode over NATS: attributes as `ce-*` headers, the body is proto JSON (snake_case).

The envelope forgives what an outsider leaves out: a body published with a plain NATS client and no headers is a
complete event, its id and time are then those of the stream.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Generic, TypeVar
from urllib.parse import quote, unquote

from google.protobuf import json_format
from google.protobuf.message import Message

if TYPE_CHECKING:
    from collections.abc import Mapping

M = TypeVar("M", bound=Message)

MESSAGE_ID = "Nats-Msg-Id"
TRACEPARENT = "traceparent"
REPLAY_FOR = "memvault-replay-for"
ORIGINAL_SEQUENCE = "memvault-original-sequence"
MAX_ID_CHARS = 300
_SAFE_IN_HEADER = "!#$&'()*+,-./:;<=>?@[]^_`{|}~ "


class Reject(Exception):  # noqa: N818 - read as a verb where it is raised
    """Raised by a handler: this event can never be handled. It goes to the dead letters at once, with the reason."""

    def __init__(self, reason: str) -> None:
        """`reason` says in one sentence what is wrong and what would be right."""
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True)
class Event(Generic[M]):
    """One fact. `time` is aware UTC; `sequence` and `stream` are None until the bus has stored it.

    A dead letter about blocks that is replayed keeps the sequence it had at first: it is as old as it was.
    """

    id: str
    subject: str
    source: str
    time: datetime
    message: M
    traceparent: str | None = None
    sequence: int | None = None
    stream: str | None = None
    delivery: int = 1


def headers(event: Event[M]) -> dict[str, str]:
    """The NATS headers of an event; `Nats-Msg-Id` equals `ce-id`, so that a repeated publish is stored once."""
    encoded = encode_header(event.id)
    result = {
        MESSAGE_ID: encoded,
        "ce-specversion": "1.0",
        "ce-id": encoded,
        "ce-type": event.subject,
        "ce-source": event.source,
        "ce-time": event.time.astimezone(UTC).isoformat().replace("+00:00", "Z"),
        "content-type": "application/json",
    }
    if event.traceparent:
        result[TRACEPARENT] = event.traceparent
    return result


def body(message: Message) -> bytes:
    """The message as proto JSON with the field names of the contract, UTF-8."""
    text = json_format.MessageToJson(message, preserving_proto_field_name=True, indent=None, ensure_ascii=False)
    return text.encode()


def parse(
    received: Mapping[str, str],
    data: bytes,
    message_type: type[M],
    *,
    subject: str,
    stored_at: datetime,
    sequence: int | None = None,
    stream: str | None = None,
    delivery: int = 1,
) -> Event[M]:
    """The event in a received message; unknown fields of the body are ignored (versions N and N-1 live together).

    Raises `Reject` when the body is no JSON form of `message_type`, or an attribute cannot be read.
    """
    lower = {name.lower(): value for name, value in received.items()}
    message = message_type()
    name = message_type.DESCRIPTOR.full_name
    if not data.lstrip().startswith(b"{"):
        reason = f"the body is not a {name} in JSON: it has to be an object"
        raise Reject(reason)
    try:
        json_format.Parse(data.decode(), message, ignore_unknown_fields=True)
    except (json_format.ParseError, UnicodeDecodeError, RecursionError) as error:
        reason = f"the body is not a {name} in JSON: {error}"
        raise Reject(reason) from error
    identity = unquote(lower.get("ce-id") or lower.get(MESSAGE_ID.lower()) or f"{stream}:{sequence}")
    if len(identity) > MAX_ID_CHARS:
        reason = f"ce-id is longer than {MAX_ID_CHARS} characters"
        raise Reject(reason)
    return Event(
        id=identity,
        subject=subject,
        source=lower.get("ce-source", "unknown"),
        time=_time(lower.get("ce-time"), stored_at),
        message=message,
        traceparent=lower.get(TRACEPARENT),
        sequence=_first_sequence(lower) or sequence,
        stream=stream,
        delivery=delivery,
    )


def _first_sequence(lower: Mapping[str, str]) -> int | None:
    value = lower.get(ORIGINAL_SEQUENCE, "")
    return int(value) if REPLAY_FOR in lower and value.isascii() and value.isdecimal() else None


def encode_header(value: str) -> str:
    """`value` percent-encoded where a header could not carry it (CloudEvents HTTP binding, section 3.1.3.2)."""
    return quote(value, safe=_SAFE_IN_HEADER)


def decode_header(value: str) -> str:
    """Reverse of `encode_header`."""
    return unquote(value)


def _time(value: str | None, fallback: datetime) -> datetime:
    if not value:
        return fallback
    try:
        parsed = datetime.fromisoformat(value)
    except ValueError as error:
        reason = f"ce-time {value!r} is not an RFC 3339 time such as 2026-03-01T09:30:00Z"
        raise Reject(reason) from error
    if parsed.tzinfo is None:
        reason = f"ce-time {value!r} has no zone: end it with Z or an offset"
        raise Reject(reason)
    return parsed.astimezone(UTC)
