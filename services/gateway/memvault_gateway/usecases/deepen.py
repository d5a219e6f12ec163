"""What slow questions get on top of the fast search: the walk over the graph and the self-check (R-30 to R-35)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, zip_longest

from memvault.faults import Fault
from memvault_gateway.domain.model import Ask, Card, Found, Rescored, Skip, Understanding, Walked
from memvault_gateway.domain.self_check import Grade, Step, grade, next_step
from memvault_gateway.domain.withheld import HeldBack
from memvault_gateway.ports import GraphWalk, MemorySearch
from memvault_gateway.settings import Settings
from memvault_gateway.usecases.watch import Watch

_WIDEST = "HYBRID"


@dataclass(frozen=True)
class Deepened:
    """The outcome: the set that stands, and what was done for it."""

    understanding: Understanding
    found: Found
    cascade_cards: tuple[Card, ...] = ()
    self_check: str = "skipped"
    steps: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    sentences: tuple[str, ...] = field(default=())
    held_back: tuple[HeldBack, ...] = ()


class Deepen:
    """Walks the graph, grades what came back, and widens or retries once where that is called for."""

    def __init__(self, search: MemorySearch, cascade: GraphWalk, settings: Settings) -> None:
        self._search = search
        self._cascade = cascade
        self._settings = settings

    async def __call__(self, ask: Ask, understanding: Understanding, found: Found, watch: Watch) -> Deepened:
        """Return the deepened set; failing parts degrade it."""
        steps: list[str] = []
        tried: list[Step] = []
        current, verdict = found, grade(found.relevances, self._settings.self_check)
        walked = await self._walk(ask, understanding, current, watch)
        scored: Rescored | None = None
        while (step := self._next(verdict, tried, understanding)) is not Step.ACCEPT and step is not Step.GIVE_UP:
            steps.append(f"{verdict.value}: {step.value}")
            tried.append(step)
            understanding, current, walked = await self._again(ask, understanding, (current, walked), step, watch)
            scored = await self._score(ask, understanding, current, walked, watch) if step is Step.WIDEN else None
            reached = tuple(card.similarity for card in scored.cards) if scored else ()
            verdict = grade(current.relevances, self._settings.self_check, reached)
        steps.append(f"{verdict.value} by similarity")
        outcome = "insufficient" if verdict is Grade.INCORRECT else verdict.value
        if scored is None:
            scored = await self._score(ask, understanding, current, walked, watch)
        cards = self._cascade_cards(ask, understanding, current, walked, scored)
        held_back = (*current.held_back, *scored.held_back)
        return Deepened(understanding, current, cards, outcome, tuple(steps), walked.entities, held_back=held_back)

    def _next(self, verdict: Grade, tried: Sequence[Step], understanding: Understanding) -> Step:
        return next_step(verdict, tried, widest=understanding.retrieval_mode == _WIDEST)

    async def _walk(self, ask: Ask, understanding: Understanding, found: Found, watch: Watch) -> Walked:
        if "cascade" in ask.evaluation.off:
            watch.skip(Skip("cascade", "switched_off"))
            return Walked()
        try:
            with watch.hop("cascade"):
                walked = await self._cascade.walk(
                    ask, understanding, found, timeout_s=watch.left_s(self._settings.deadline.cascade_ms / 1000)
                )
        except Fault as fault:
            watch.degrade("cascade", fault)
            return Walked()
        watch.note(*walked.degraded)
        watch.times.extend(walked.times)
        return walked

    async def _again(
        self, ask: Ask, understanding: Understanding, before: tuple[Found, Walked], step: Step, watch: Watch
    ) -> tuple[Understanding, Found, Walked]:
        """Widen, or try the runner-up intent; what was better before stays."""
        if step is Step.WIDEN:
            wider = replace(understanding, retrieval_mode=_WIDEST)
            return wider, before[0], await self._walk(ask, wider, before[0], watch)
        other = replace(
            understanding,
            intent=understanding.runner_up or "unknown",
            retrieval_mode="LOCAL",
            scoring_profile=understanding.runner_up or "unknown",
        )
        try:
            with watch.hop("search.second_try"):
                found = await self._search.search(ask, other, timeout_s=watch.left_s())
        except Fault as fault:
            watch.degrade("self_check", fault)
            return understanding, *before
        if found.relevance <= before[0].relevance:
            return understanding, *before
        return other, found, await self._walk(ask, other, found, watch)

    def _cascade_cards(
        self, ask: Ask, understanding: Understanding, found: Found, walked: Walked, scored: Rescored
    ) -> tuple[Card, ...]:
        shown = _shown(ask, found)
        reached = {block.block_id: block for block in walked.blocks if block.block_id not in shown}
        blocks = [replace(card, path=reached[card.block_id].path) for card in scored.cards if card.block_id in reached]
        facts = [card for card in walked.triples if not card.supports or not shown.issuperset(card.supports)]
        summarised = {card.block_id.partition("/")[0] for card in walked.summaries}
        unsummarised = [card for card in walked.communities if card.block_id not in summarised]
        order = (
            (walked.summaries, blocks, facts, unsummarised)
            if understanding.retrieval_mode == "GLOBAL"
            else (blocks, facts, walked.summaries, unsummarised)
        )
        return tuple(_alternate(order))[: self._settings.cascade_limit]

    async def _score(
        self, ask: Ask, understanding: Understanding, found: Found, walked: Walked, watch: Watch
    ) -> Rescored:
        """Score the blocks that only the walk reached, in the frame of the search."""
        shown = _shown(ask, found)
        block_ids = list(dict.fromkeys(block.block_id for block in walked.blocks if block.block_id not in shown))
        if not block_ids:
            return Rescored()
        try:
            with watch.hop("search.score_walked"):
                scored = await self._search.score(
                    ask, understanding, block_ids, found.reference, timeout_s=watch.left_s()
                )
        except Fault as fault:
            watch.degrade("cascade", fault)
            return Rescored()
        watch.note(*scored.degraded)
        return scored


def _shown(ask: Ask, found: Found) -> frozenset[str]:
    return frozenset(card.block_id for card in found.cards[: ask.limit])


def _alternate(groups: Sequence[Sequence[Card]]) -> list[Card]:
    """Take one of each group in turn, so that no kind crowds out the others."""
    rounds = zip_longest(*groups)
    return [card for card in chain.from_iterable(rounds) if card is not None]
