"""Reads a prepared answer back into the model."""

from __future__ import annotations

from memvault.recall.v1 import recall_pb2, types_pb2
from memvault_gateway.adapters import wire
from memvault_gateway.domain.model import Answer, Ask, Card
from memvault_gateway.domain.withheld import Withheld

_MADE_AS = "json"
"""The format of whoever names none, as the Slow Thinker does."""


def read_answer(ask: Ask, message: recall_pb2.RecallResponse) -> Answer:
    """Return a prepared answer as if it had just been found for `ask`.

    Its cards know what they cost where they are formatted as when they were packed.
    """
    counted = ask.format == _MADE_AS
    return Answer(
        recall_id=ask.recall_id,
        query=ask.query,
        intent=message.intent,
        intent_confidence=message.intent_confidence,
        facet=message.facet,
        thinking_mode=message.thinking_mode,
        retrieval_mode=message.retrieval_mode,
        confidence=message.confidence,
        cards=tuple(_card(card, counted=counted) for card in message.cards),
        cascade_cards=tuple(_card(card, counted=counted) for card in message.cascade_cards),
        self_check=message.self_check,
        degraded=wire.degradations(message.degraded),
        write_version=message.write_version,
        withheld=tuple(Withheld(one.reason, one.count, tuple(one.rules)) for one in message.withheld),
    )


def _card(card: types_pb2.Card, *, counted: bool) -> Card:
    return Card(
        block_id=card.block_id,
        kind=card.kind,
        title=card.title,
        text=card.text,
        score=card.score if card.HasField("score") else None,
        service=card.service,
        source_kind=card.source.kind,
        source_uri=card.source.uri,
        speaker=card.speaker,
        conversation_id=card.conversation_id,
        event_time=wire.instant(card, "event_time"),
        recorded_at=wire.instant(card, "recorded_at"),
        trust=card.trust,
        confidence=card.confidence,
        tags=tuple(card.tags),
        summarised=card.summarised,
        expand=card.expand,
        redacted=card.redacted,
        frozen=card.frozen,
        superseded_by=card.superseded_by,
        highlight=card.highlight,
        path=wire.path_steps(card.path),
        supports=tuple(card.supports),
        tokens=card.tokens if counted else 0,
    )
