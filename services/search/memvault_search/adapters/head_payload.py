"""Blocks as payloads of their head points, and back.

`content` is written with the block; `state` holds what reading, judging and maintenance change, so that a
change of it never writes the text again. `revision` counts every change of either.
"""

from __future__ import annotations

from dataclasses import fields
from datetime import datetime
from typing import Any

from memvault_search.domain.block import Block, Passage, Source, StoredBlock, Triple
from memvault_search.domain.moment import Moment

_STATE = (
    "summary",
    "tags",
    "quarantine",
    "ups",
    "downs",
    "access_count",
    "last_accessed_at",
    "centrality",
    "tier",
    "frozen",
    "superseded_by",
    "valid_to",
    "screened_version",
    "version",
)
_TIMES = ("event_time", "recorded_at", "last_accessed_at", "valid_from", "valid_to")
_KEYS = ("id", "user_id")

SUMMARY = "summary"
"""What the head point of a frozen block `holds`."""


def to_payload(stored: StoredBlock) -> dict[str, Any]:
    """The whole head point of a block."""
    block = stored.block
    content = {
        field.name: _plain(getattr(block, field.name)) for field in fields(Block) if field.name not in (*_STATE, *_KEYS)
    }
    return {
        "kind": "block",
        "user_id": block.user_id,
        "block_id": block.id,
        "content": content,
        "content_hash": stored.content_hash,
        "written": [stored.written.sequence, stored.written.time.isoformat()],
        "write_version": stored.write_version,
        "passages": [[one.point_id, one.start, one.end] for one in stored.passages],
        **state_payload(stored),
    }


def state_payload(stored: StoredBlock) -> dict[str, Any]:
    """The part of the head point that changes without the text."""
    block = stored.block
    return {
        "state": {name: _plain(getattr(block, name)) for name in _STATE},
        "holds": SUMMARY if block.frozen else "text",  # beside the state, and a word, so that both engines count it
        "event_ids": list(stored.event_ids),
        "revision": stored.revision,
    }


def from_payload(payload: dict[str, Any]) -> StoredBlock:
    """The block of a head point."""
    values: dict[str, Any] = {**payload["content"], **payload["state"]}
    for name in _TIMES:
        values[name] = datetime.fromisoformat(values[name]) if values[name] else None
    values["source"] = Source(**values["source"])
    values["triples"] = tuple(Triple(*triple) for triple in values["triples"])
    values["quarantine"] = frozenset(values["quarantine"])
    for name in ("heading_path", "tags", "unsafe_rules"):
        values[name] = tuple(values[name])
    block = Block(id=payload["block_id"], user_id=payload["user_id"], **values)
    return StoredBlock(
        block=block,
        content_hash=payload["content_hash"],
        event_ids=tuple(payload["event_ids"]),
        written=Moment(payload["written"][0], datetime.fromisoformat(payload["written"][1])),
        write_version=payload["write_version"],
        passages=tuple(
            Passage(point_id, number, start, end) for number, (point_id, start, end) in enumerate(payload["passages"])
        ),
        revision=payload["revision"],
    )


def _plain(value: Any) -> Any:  # noqa: ANN401 - any field of a block in, any JSON value out
    match value:
        case datetime():
            return value.isoformat()
        case Source(kind, uri):
            return {"kind": kind, "uri": uri}
        case frozenset():
            return sorted(value)
        case tuple():
            return [[one.subject, one.predicate, one.object] if isinstance(one, Triple) else one for one in value]
        case _:
            return value
