"""Finished spans that travel back to whoever asked for them.

A collection lives in a context variable, so that it follows the request through tasks and never mixes two requests.
Spans of another process arrive as bytes in the trailing metadata of its answer and join the same list.
"""

import json
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass

AttributeValue = str | int | float | bool

REQUEST_KEY = "memvault-trace"
"""Request metadata: `1` asks the server to return its finished spans."""
TRAILING_KEY = "memvault-spans-bin"
"""Trailing metadata: the spans, see `encode`."""


@dataclass(frozen=True, slots=True)
class SpanRecord:
    """One finished span.

    Attributes:
        trace_id: 32 hex digits.
        span_id: 16 hex digits.
        parent_id: 16 hex digits, empty for the root.
        name: By OpenTelemetry's conventions, for example `memvault.search.v1.SearchService/Search`.
        service: The service it ran in.
        start_unix_ns: Wall clock at its start.
        duration_ns: How long it took.
        ok: False when it ended with an error.
        attributes: What it noted.
    """

    trace_id: str
    span_id: str
    parent_id: str
    name: str
    service: str
    start_unix_ns: int
    duration_ns: int
    ok: bool
    attributes: dict[str, AttributeValue]


_collection: ContextVar[list[SpanRecord] | None] = ContextVar("memvault_spans", default=None)


def collecting() -> bool:
    """Tell whether the spans of this request are wanted."""
    return _collection.get() is not None


@contextmanager
def collect() -> Iterator[list[SpanRecord]]:
    """Collect all spans that end within, those of other processes included, into the list that is yielded.

    Inside another collection the same list goes on, so that one request has one list.
    """
    outer = _collection.get()
    if outer is not None:
        yield outer
        return
    spans: list[SpanRecord] = []
    token = _collection.set(spans)
    try:
        yield spans
    finally:
        _collection.reset(token)


def collected(trace_id: str | None = None) -> list[SpanRecord]:
    """Return what this request's collection holds so far, by start time; of one trace when `trace_id` is given."""
    spans = _collection.get() or []
    return sorted(
        (span for span in spans if trace_id in {None, span.trace_id}),
        key=lambda span: (span.start_unix_ns, span.span_id),
    )


def add(*spans: SpanRecord) -> None:
    """Put finished spans into this request's collection, if there is one."""
    current = _collection.get()
    if current is not None:
        current.extend(spans)


def encode(spans: list[SpanRecord]) -> bytes:
    """Pack spans for trailing metadata (JSON, deflated: some twenty bytes a span)."""
    return zlib.compress(json.dumps([asdict(span) for span in spans], separators=(",", ":")).encode())


def decode(packed: bytes) -> list[SpanRecord]:
    """Unpack spans of another process.

    Raises:
        ValueError: When the bytes are not what `encode` makes.
    """
    try:
        return [SpanRecord(**fields) for fields in json.loads(zlib.decompress(packed))]
    except (zlib.error, TypeError, ValueError) as error:
        raise ValueError(f"not a list of spans: {error}") from error
