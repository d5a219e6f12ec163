"""`text`: for agents' hooks; compact, every memory quoted."""

from __future__ import annotations

from datetime import tzinfo

from memvault_gateway.domain.formats import quoted
from memvault_gateway.domain.model import Answer, Card


def render(answer: Answer) -> str:
    """Return the answer as plain text: a notice, then each card as one line of origin and its quoted text."""
    parts = [quoted.notice(answer)]
    parts += [_card(f"[{number}]", card, answer.zone) for number, card in enumerate(answer.cards, start=1)]
    if answer.cascade_cards:
        parts.append("Related:")
        parts += [_card(f"[r{number}]", card, answer.zone) for number, card in enumerate(answer.cascade_cards, start=1)]
    if answer.withheld:
        parts.append(quoted.withheld(answer))
    if answer.degraded:
        parts.append("Left out: " + ", ".join(f"{part.part} ({part.reason})" for part in answer.degraded))
    return "\n".join(parts)


def _card(mark: str, card: Card, zone: tzinfo | None) -> str:
    origin = quoted.origin(card, zone)
    head = " ".join(part for part in (mark, quoted.label(card.title), origin, quoted.flags(card)) if part)
    way = quoted.walk(card.path)
    return "\n".join([head, *([f"via {way}"] if way else []), quoted.lines(card.text)])
