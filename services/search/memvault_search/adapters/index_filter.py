"""What the store filters passages by: their payload, and a selection as a condition on it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from memvault.vectors import And, AnyOf, Condition, Eq, TimeRange
from memvault_search.domain.block import Block, Passage
from memvault_search.domain.selection import Selection

_TICK = timedelta(microseconds=1)


def passage_payload(block: Block, passage: Passage) -> dict[str, Any]:
    """The payload of a passage's point. A time that is unknown is left out, so that no range matches it."""
    payload: dict[str, Any] = {
        "user_id": block.user_id,
        "block_id": block.id,
        "number": passage.number,
        "service": block.service,
        "tags": list(block.tags),
        "source_kind": block.source.kind,
        "conversation_id": block.conversation_id,
    }
    if block.known_at is not None:
        payload["known_at"] = block.known_at.isoformat()
    return payload


def condition_of(user_id: str, selection: Selection) -> Condition:
    """The user's own passages in the selection: no condition is ever made without a user."""
    parts: list[Condition] = [Eq("user_id", user_id)]
    lists = {
        "service": selection.services,
        "tags": selection.tags,
        "source_kind": selection.source_kinds,
        "conversation_id": selection.conversation_ids,
    }
    parts += [AnyOf(name, values) for name, values in lists.items() if values]
    if selection.block_ids is not None:
        parts.append(AnyOf("block_id", selection.block_ids))
    if selection.event_start is not None or selection.event_end is not None:
        parts.append(TimeRange("known_at", selection.event_start, selection.event_end))
    if selection.known_until is not None:
        parts.append(TimeRange("known_at", end=selection.known_until + _TICK))
    return And(tuple(parts))
