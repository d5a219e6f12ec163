"""`cards`: for chats and terminals; each memory a framed card with its score."""

from __future__ import annotations

from datetime import tzinfo

from memvault_gateway.domain.formats import quoted
from memvault_gateway.domain.model import Answer, Card

_SIDE = "│ "


def render(answer: Answer) -> str:
    """Return the answer as cards: a head with place, title and score, the quoted text, a foot with the origin."""
    parts = [quoted.notice(answer)]
    if answer.cards and answer.notes is not None and answer.notes.understanding.grouping == "conversation":
        parts.append("By conversation, the newest first.")
    parts += [_card(f"{number}", card, answer.zone) for number, card in enumerate(answer.cards, start=1)]
    parts += [_card(f"r{number}", card, answer.zone) for number, card in enumerate(answer.cascade_cards, start=1)]
    if answer.withheld:
        parts.append(quoted.withheld(answer))
    if answer.degraded:
        parts.append("Left out: " + ", ".join(f"{part.part} ({part.reason})" for part in answer.degraded))
    return "\n\n".join(parts)


def _card(place: str, card: Card, zone: tzinfo | None) -> str:
    score = f"{card.score:.2f}" if card.score is not None else ""
    head = " · ".join(part for part in (place, quoted.label(card.title), score) if part)
    foot = " ".join(part for part in (quoted.origin(card, zone), quoted.flags(card)) if part)
    way = quoted.walk(card.path)
    return "\n".join(
        [f"╭ {head}", quoted.lines(card.text, _SIDE), *([f"{_SIDE}via {way}"] if way else []), f"╰ {foot}"],
    )
