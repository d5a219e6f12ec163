"""`json`: for programs; what the packing counts is the compact JSON of the cards, with the contract's field names."""

from __future__ import annotations

import json
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
    return _ENCODER.encode({name: cards for name, cards in body.items() if cards})


def _card(card: Card) -> dict[str, Any]:
    said = {
        "block_id": card.block_id,
        "kind": card.kind,
        "title": card.title,
        "text": card.text,
        "score": None if card.score is None else round(card.score, 4),
        "service": card.service,
        "source": {name: value for name, value in (("kind", card.source_kind), ("uri", card.source_uri)) if value},
        "speaker": card.speaker,
        "event_time": card.event_time.isoformat() if card.event_time else "",
        "trust": round(card.trust, 4),
        "summarised": card.summarised,
        "expand": card.expand,
        "redacted": card.redacted,
        "frozen": card.frozen,
        "superseded_by": card.superseded_by,
        "highlight": card.highlight,
        "path": [{"subject": step.subject, "predicate": step.predicate, "object": step.object} for step in card.path],
        "supports": list(card.supports),
    }
    return {name: value for name, value in said.items() if value or (name == "score" and value is not None)}
