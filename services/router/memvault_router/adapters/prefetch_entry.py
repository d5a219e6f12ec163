"""Reads a stored `PrefetchEntry` as far as the router needs it."""

from __future__ import annotations

from datetime import UTC

from google.protobuf.message import DecodeError

from memvault.slow_thinker.v1 import prefetch_pb2
from memvault_router.domain.prefetch import SCHEMA, Prepared


def parse_entry(payload: bytes, user_id: str) -> Prepared | None:
    """Return the entry; None when it is unreadable, of another schema, or another user's."""
    try:
        entry = prefetch_pb2.PrefetchEntry.FromString(payload)
    except DecodeError:
        return None
    if entry.schema != SCHEMA or entry.user_id != user_id:
        return None
    answer = entry.answer
    return Prepared(
        query=entry.query,
        query_hash=entry.query_hash,
        conditions=entry.conditions,
        ruleset_version=entry.ruleset_version,
        encoder_id=entry.encoder_id,
        intent=answer.intent or "unknown",
        confidence=answer.intent_confidence,
        facet=answer.facet or "none",
        thinking_mode=answer.thinking_mode,
        retrieval_mode=answer.retrieval_mode,
        texts=tuple(card.text for card in (*answer.cards, *answer.cascade_cards)),
        expires_at=entry.expires_at.ToDatetime(tzinfo=UTC),
        made_for=(entry.made_for if entry.HasField("made_for") else entry.made_at).ToDatetime(tzinfo=UTC),
        payload=payload,
    )
