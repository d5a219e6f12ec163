"""Screening of everything that goes out (R-40, R-55): every text of every card, before packing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from memvault.screening import sanitize_for_injection
from memvault_gateway.domain.model import AuditHit, Card, PathStep

_TEXTS = ("text", "title", "summary", "highlight", "speaker", "service", "source_uri", "conversation_id")


@dataclass(frozen=True)
class Screened:
    """Clean cards, and what was hit on the way."""

    cards: tuple[Card, ...]
    hits: tuple[AuditHit, ...]
    dropped: int


def screen(cards: Sequence[Card], where: str) -> Screened:
    """Return the cards with dangerous spans replaced; a card of which nothing is left is dropped."""
    clean: list[Card] = []
    hits: list[AuditHit] = []
    for card in cards:
        kept, found = _screen_card(card, where)
        hits.extend(found)
        if kept is not None:
            clean.append(kept)
    return Screened(tuple(clean), tuple(hits), len(cards) - len(clean))


def screen_texts(
    block_id: str, texts: Mapping[str, str], where: str, ingest_version: str
) -> tuple[dict[str, str], tuple[AuditHit, ...]]:
    """Return the named texts of one block, clean, and what was hit."""
    clean: dict[str, str] = {}
    rules: set[str] = set()
    for name, text in texts.items():
        found = sanitize_for_injection(text)
        clean[name] = found.text
        rules.update(hit.rule for hit in found.hits)
    return clean, tuple(AuditHit(block_id, rule, where, ingest_version) for rule in sorted(rules))


def _screen_card(card: Card, where: str) -> tuple[Card | None, tuple[AuditHit, ...]]:
    rules: set[str] = set()
    emptied: list[str] = []

    def cleaned(name: str, text: str) -> str:
        found = sanitize_for_injection(text)
        rules.update(hit.rule for hit in found.hits)
        if found.emptied:
            emptied.append(name)
        return found.text

    changed: dict[str, Any] = {name: cleaned(name, getattr(card, name)) for name in _TEXTS}
    changed["tags"] = tuple(cleaned("tags", tag) for tag in card.tags)
    changed["path"] = tuple(_clean_step(step, cleaned) for step in card.path)
    hits = tuple(AuditHit(card.block_id, rule, where, card.screened_version) for rule in sorted(rules))
    if "text" in emptied:
        return None, hits
    if not rules:
        return card, ()
    return replace(card, redacted=True, **changed), hits


def _clean_step(step: PathStep, cleaned: Callable[[str, str], str]) -> PathStep:
    return PathStep(cleaned("path", step.subject), cleaned("path", step.predicate), cleaned("path", step.object))


def cap_sources(cards: Iterable[Card], most: int, kinds: frozenset[str]) -> tuple[Card, ...]:
    """Return the cards with at most `most` of one source, so that one poisoned document cannot fill the answer (R-40a).

    Only sources of the given kinds that name an address are counted.
    """
    seen: dict[str, int] = {}
    kept = []
    for card in cards:
        document = card.source_uri.partition("#")[0] if card.source_kind in kinds else ""
        if document:
            seen[document] = seen.get(document, 0) + 1
            if seen[document] > most:
                continue
        kept.append(card)
    return tuple(kept)
