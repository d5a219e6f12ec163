"""The order of a recall: classify, fast search, for slow questions walk and self-check, then screen, pack, format."""

from __future__ import annotations

from dataclasses import dataclass, replace

from memvault.faults import Fault, Reason
from memvault.ops import Observer
from memvault_gateway.domain.model import Answer, Ask, Found, Notes, Skip, Understanding
from memvault_gateway.ports import Clock, Facts, GraphWalk, MemorySearch, PreparedUse, QueryUnderstanding
from memvault_gateway.settings import Settings
from memvault_gateway.usecases.deepen import Deepen, Deepened
from memvault_gateway.usecases.deliver import Deliver
from memvault_gateway.usecases.prepared import FromPrepared
from memvault_gateway.usecases.watch import Watch


@dataclass(frozen=True)
class Parts:
    """Everything a recall asks of others."""

    router: QueryUnderstanding
    search: MemorySearch
    cascade: GraphWalk
    facts: Facts
    prepared_use: PreparedUse
    clock: Clock
    observer: Observer


class Recall:
    """Answers a question with memories."""

    def __init__(self, parts: Parts, settings: Settings) -> None:
        self._parts = parts
        self._settings = settings
        self._from_prepared = FromPrepared(parts.search, settings)
        self._deepen = Deepen(parts.search, parts.cascade, settings)
        self._deliver = Deliver(parts.facts, parts.prepared_use, parts.clock, settings)

    async def __call__(self, ask: Ask) -> Answer:
        """Return the answer, degraded where a part failed.

        Raises:
            Fault: SEARCH_UNAVAILABLE when search is down and no prepared answer fits.
        """
        limits = self._settings.deadline
        given_s = ask.deadline_ms / 1000 if ask.deadline_ms else None
        within_s = given_s or limits.fast_ms / 1000
        watch = Watch(self._parts.clock, self._parts.observer, within_s, answer_share=limits.answer_share)
        understanding = await self._understand(ask, watch)
        if given_s is None and understanding.thinking_mode == "slow":
            watch.deadline_s = limits.deep_ms / 1000
        if understanding.prepared is not None:
            ready = await self._from_prepared(ask, understanding, understanding.prepared, watch)
            if ready is not None:
                return await self._deliver(ask, ready, understanding.prepared, watch)
        found = await self._find(ask, understanding, watch)
        deep = await self._go_deep(ask, understanding, found, watch)
        return await self._deliver(ask, _answer(ask, deep, watch), None, watch)

    async def settle(self) -> None:
        """Wait until everything that was delivered has been told."""
        await self._deliver.settle()

    async def _understand(self, ask: Ask, watch: Watch) -> Understanding:
        try:
            with watch.hop("router"):
                understood = await self._parts.router.classify(
                    ask, timeout_s=watch.left_s(self._settings.deadline.router_ms / 1000)
                )
        except Fault as fault:
            if fault.reason in _CALLERS_FAULT:
                raise
            watch.degrade("router", fault)
            return _forced(Understanding(query=ask.query), ask)
        watch.note(*understood.degraded)
        watch.skip(*understood.skipped)
        watch.times.extend(understood.times)
        return understood

    async def _find(self, ask: Ask, understanding: Understanding, watch: Watch) -> Found:
        try:
            with watch.hop("search"):
                found = await self._parts.search.search(ask, understanding, timeout_s=watch.left_s())
        except Fault as fault:
            if fault.reason in _UNREACHABLE:
                message = f"search did not answer and no prepared answer fits: try again ({fault.message})"
                raise Fault(Reason.SEARCH_UNAVAILABLE, message) from fault
            raise
        watch.note(*found.degraded)
        watch.skip(*found.skipped)
        watch.times.extend(found.times)
        return found

    async def _go_deep(self, ask: Ask, understanding: Understanding, found: Found, watch: Watch) -> Deepened:
        if understanding.thinking_mode != "slow":
            watch.skip(Skip("cascade", "fast"), Skip("self_check", "fast"))
            return Deepened(understanding, found, held_back=found.held_back)
        return await self._deepen(ask, understanding, found, watch)


_UNREACHABLE = frozenset({Reason.SERVICE_UNAVAILABLE, Reason.STORE_UNAVAILABLE, Reason.SEARCH_UNAVAILABLE})
_CALLERS_FAULT = frozenset(
    {Reason.USER_REQUIRED, Reason.USER_INVALID, Reason.QUERY_REQUIRED, Reason.TEXT_INVALID, Reason.FIELD_INVALID}
)


def _forced(understanding: Understanding, ask: Ask) -> Understanding:
    wanted = ask.evaluation
    return replace(
        understanding,
        intent=wanted.intent or understanding.intent,
        facet=wanted.facet or understanding.facet,
        thinking_mode=wanted.thinking_mode or understanding.thinking_mode,
    )


def _answer(ask: Ask, deep: Deepened, watch: Watch) -> Answer:
    understood, found = deep.understanding, deep.found
    notes = Notes(
        understanding=understood,
        found=found,
        entities=deep.entities,
        self_check_steps=deep.steps,
        sentences=deep.sentences,
    )
    return Answer(
        recall_id=ask.recall_id,
        query=ask.query,
        intent=understood.intent,
        intent_confidence=understood.confidence,
        facet=understood.facet,
        thinking_mode=understood.thinking_mode,
        retrieval_mode=understood.retrieval_mode,
        confidence=found.confidence,
        cards=found.cards[: ask.limit],
        cascade_cards=deep.cascade_cards,
        self_check=deep.self_check,
        degraded=tuple(watch.degraded),
        notes=notes,
        write_version=found.write_version,
        candidates=found.candidates,
        held_back=deep.held_back,
    )
