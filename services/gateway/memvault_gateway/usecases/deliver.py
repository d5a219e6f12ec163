"""The last mile: screen, cap, pack, format, and tell the others what was delivered (R-18, R-40 to R-44, R-55)."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any

from memvault.faults import Fault
from memvault.ops import changed
from memvault_gateway.domain.edge import zone_of
from memvault_gateway.domain.formats import FORMATS, quoted
from memvault_gateway.domain.model import Answer, Ask, AuditHit, Card, Packing, Prepared
from memvault_gateway.domain.packing import pack
from memvault_gateway.domain.screen import audit, cap_sources, counted, screen
from memvault_gateway.ports import Clock, Facts, PreparedUse
from memvault_gateway.settings import Settings
from memvault_gateway.usecases.watch import Watch

_DIGITS = 4  # of a score: what a card shows


class Deliver:
    """Turns a raw answer into what the caller sees."""

    def __init__(self, facts: Facts, prepared_use: PreparedUse, clock: Clock, settings: Settings) -> None:
        self._facts = facts
        self._prepared_use = prepared_use
        self._clock = clock
        self._settings = settings
        self._running: set[asyncio.Task[None]] = set()

    async def __call__(self, ask: Ask, answer: Answer, prepared: Prepared | None, watch: Watch) -> Answer:
        """Return the answer screened, packed and formatted."""
        with watch.hop("sanitise"):
            answer, hits = self._screened(ask, answer, from_cache=prepared is not None)
        with watch.hop("pack"):
            packed = self._packed(ask, answer)
        self._tell(ask, packed, prepared, hits, watch)
        return self._finished(packed, watch)

    async def settle(self) -> None:
        """Wait until everything that was delivered has been told."""
        while self._running:
            await asyncio.gather(*self._running, return_exceptions=True)

    def _screened(self, ask: Ask, answer: Answer, *, from_cache: bool) -> tuple[Answer, tuple[AuditHit, ...]]:
        """Return the answer with what may be shown and the count of what may not, and what screening hit."""
        suffix = "prefetch_write" if ask.origin == "prefetch" else "prefetch_read" if from_cache else ""
        first = screen(answer.cards, suffix or "cards")
        second = screen(answer.cascade_cards, suffix or "cascade_cards")
        cap = self._settings.source_cap
        cards = cap_sources(first.cards, cap.cards, cap.kinds)
        cascade_cards = cap_sources(second.cards, cap.cards, cap.kinds)
        capped = len(first.cards) + len(second.cards) - len(cards) - len(cascade_cards)
        held_back = (*answer.held_back, *first.held_back, *second.held_back)
        shown = changed(
            answer,
            cards=_rounded(cards),
            cascade_cards=_rounded(cascade_cards),
            withheld=counted(answer.withheld, held_back, capped),
            # sure of memories that nobody may see helps nobody
            confidence=answer.confidence if cards or cascade_cards else "low",
        )
        return shown, audit(answer.held_back, suffix or "search") + first.hits + second.hits

    def _packed(self, ask: Ask, answer: Answer) -> Answer:
        form = FORMATS[ask.format]
        zone = zone_of(ask.time_zone)

        def render(cards: Sequence[Card], cascade_cards: Sequence[Card]) -> str:
            return form(changed(answer, zone=zone, cards=tuple(cards), cascade_cards=tuple(cascade_cards)))

        packed = pack(
            answer.cards,
            answer.cascade_cards,
            budget=ask.token_budget,
            numbers=self._settings.packing,
            query=answer.query,
            render=render,
        )
        packing = Packing(ask.token_budget, packed.tokens_used, packed.left_out, packed.summarised, packed.folded)
        fitting = changed(answer, cards=packed.cards, cascade_cards=packed.cascade_cards, packing=packing)
        return changed(fitting, text="" if ask.format == "json" else packed.text)

    def _finished(self, answer: Answer, watch: Watch) -> Answer:
        notes = answer.notes
        if notes is not None:
            told = quoted.withheld(answer)
            sentences = (*notes.sentences, told) if told else notes.sentences
            notes = changed(notes, sentences=sentences, times=tuple(watch.times), skipped=tuple(watch.skipped))
        degraded = dict.fromkeys((*answer.degraded, *watch.degraded))
        return changed(answer, notes=notes, degraded=tuple(degraded), took_ms=watch.spent_s() * 1000)

    def _tell(
        self, ask: Ask, answer: Answer, prepared: Prepared | None, hits: tuple[AuditHit, ...], watch: Watch
    ) -> None:
        if hits:
            self._start(self._facts.redacted(ask.user_id, hits, recall_id=ask.recall_id, at=self._clock.now()))
        if ask.origin != "user":
            return
        delivered = [card for card in (*answer.cards, *answer.cascade_cards) if card.kind == "block"]
        if delivered:
            topics = sorted({tag for card in delivered for tag in card.tags})
            self._start(
                self._facts.accessed(
                    ask.user_id,
                    [card.block_id for card in delivered],
                    topics,
                    recall_id=ask.recall_id,
                    kind="delivered",
                    at=self._clock.now(),
                )
            )
        if prepared is not None:
            saved = max(0.0, prepared.recall_ms - watch.spent_s() * 1000)
            self._start(self._prepared_use.used(ask.user_id, prepared, saved))

    def _start(self, telling: Coroutine[Any, Any, None]) -> None:
        """Tell in the background: the answer never waits for it."""
        task = asyncio.create_task(_told(telling))
        self._running.add(task)
        task.add_done_callback(self._running.discard)


def _rounded(cards: Sequence[Card]) -> tuple[Card, ...]:
    """Cards with the digits of their scores that mean something: a reading model pays a token for each digit."""
    return tuple(card if card.score is None else changed(card, score=round(card.score, _DIGITS)) for card in cards)


async def _told(telling: Coroutine[Any, Any, None]) -> None:
    try:
        await telling
    except Fault:
        # The adapter has counted and logged it; a recall that was answered does not fail afterwards.
        return
