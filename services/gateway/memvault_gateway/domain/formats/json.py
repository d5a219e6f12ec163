"""`json`: for programs; what the packing counts is the compact JSON of the cards, letter for letter as HTTP sends it.

Not counted is the `explanation` of a card, which a caller asks for (`explain`) to look into an answer.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from memvault_gateway.domain.model import Answer, Card

# json.dumps makes an encoder for every call that asks for anything unusual, and packing formats every card
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def render(answer: Answer) -> str:
    """Return the cards as compact JSON; fields that are empty are left out."""
    body = {
        "cards": [_card(card) for card in answer.cards],
        "cascade_cards": [_card(card) for card in answer.cascade_cards],
    }
    return _ENCODER.encode(_filled(body))


def _card(card: Card) -> dict[str, Any]:
    """Return the fields in the order of the contract."""
    said = {
        "block_id": card.block_id,
        "kind": card.kind,
        "title": card.title,
        "text": card.text,
        "score": card.score,
        "service": card.service,
        "source": _filled({"kind": card.source_kind, "uri": card.source_uri}),
        "speaker": card.speaker,
        "conversation_id": card.conversation_id,
        "event_time": _stamp(card.event_time),
        "recorded_at": _stamp(card.recorded_at),
        "trust": card.trust,
        "confidence": card.confidence,
        "tags": list(card.tags),
        "summarised": card.summarised,
        "expand": card.expand,
        "redacted": card.redacted,
        "frozen": card.frozen,
        "superseded_by": card.superseded_by,
        "highlight": card.highlight,
        "path": [
            _filled({"subject": step.subject, "predicate": step.predicate, "object": step.object}) for step in card.path
        ],
        "supports": list(card.supports),
        "tokens": card.tokens,
    }
    return {name: value for name, value in said.items() if value or (name == "score" and value is not None)}


def _filled(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value}


def _stamp(at: datetime | None) -> str:
    """Return an instant as proto JSON writes it: UTC, with no, three or six digits of a second."""
    if at is None:
        return ""
    precision = "milliseconds" if at.microsecond % 1000 == 0 else "microseconds"
    return at.astimezone(UTC).isoformat(timespec=precision if at.microsecond else "seconds").replace("+00:00", "Z")
