"""Screening of everything that goes out (R-40, R-55): every text of every card, before packing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from memvault.screening import sanitize_for_injection, suspects
from memvault_gateway.domain.model import AuditHit, Card, PathStep
from memvault_gateway.domain.withheld import HeldBack, Withheld

_TEXTS = ("text", "title", "summary", "highlight", "speaker", "service", "source_uri", "conversation_id")


@dataclass(frozen=True)
class Screened:
    """Clean cards, what was hit on the way, and the cards of which nothing was left."""

    cards: tuple[Card, ...]
    hits: tuple[AuditHit, ...]
    held_back: tuple[HeldBack, ...] = ()


def screen(cards: Sequence[Card], where: str) -> Screened:
    """Return the cards with dangerous spans replaced; a card of which nothing is left is dropped."""
    clean: list[Card] = []
    hits: list[AuditHit] = []
    held_back: list[HeldBack] = []
    texts = [_texts_of(card) for card in cards]
    suspected = suspects(chain.from_iterable(texts))
    for card, said in zip(cards, texts, strict=True):
        if suspected.isdisjoint(said):
            clean.append(card)
            continue
        kept, found = _screen_card(card, where)
        hits.extend(found)
        if kept is not None:
            clean.append(kept)
        else:
            held_back.append(HeldBack(card.block_id, tuple(hit.rule for hit in found), card.screened_version))
    return Screened(tuple(clean), tuple(hits), tuple(held_back))


def audit(held_back: Iterable[HeldBack], where: str) -> tuple[AuditHit, ...]:
    """Return what is told of memories that search held back before they came here (R-41)."""
    hits = (AuditHit(one.block_id, rule, where, one.screened_version) for one in held_back for rule in one.rules)
    return tuple(dict.fromkeys(hits))


def counted(before: Iterable[Withheld], held_back: Iterable[HeldBack], capped: int) -> tuple[Withheld, ...]:
    """Return how many memories are not shown, by reason; each memory of `held_back` counts once.

    `before`: what was held back when a prepared answer was made. `capped`: cards beyond the cap of their source.
    """
    unsafe = {one.block_id: one.rules for one in held_back}
    known = {one.reason: one for one in before}
    now = (
        Withheld("unsafe", len(unsafe), tuple(sorted({rule for rules in unsafe.values() for rule in rules}))),
        Withheld("source_cap", capped),
    )
    whole = []
    for one in now:
        earlier = known.get(one.reason, Withheld(one.reason, 0))
        rules = tuple(sorted({*earlier.rules, *one.rules}))
        whole.append(Withheld(one.reason, earlier.count + one.count, rules))
    return tuple(one for one in whole if one.count)


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


def _texts_of(card: Card) -> list[str]:
    steps = (text for step in card.path for text in (step.subject, step.predicate, step.object))
    return [*(getattr(card, name) for name in _TEXTS), *card.tags, *steps]


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
    return replace(card, redacted=True, tokens=0, **changed), hits


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
