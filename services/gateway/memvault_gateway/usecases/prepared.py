"""Answers from what lies prepared, when that is safe (R-54)."""

from __future__ import annotations

from dataclasses import replace

from memvault.faults import Fault
from memvault_gateway.domain.model import Answer, Ask, Degradation, Found, Notes, Prepared, Skip, Understanding
from memvault_gateway.ports import MemorySearch
from memvault_gateway.settings import Settings
from memvault_gateway.usecases.watch import Watch


class FromPrepared:
    """Checks a prepared answer against what search knows now; None means: ask in full, nothing is lost."""

    def __init__(self, search: MemorySearch, settings: Settings) -> None:
        self._search = search
        self._settings = settings.prefetch
        # what entries are made under: the Slow Thinker asks without saying how much
        self._made_limit, self._made_budget = settings.limit, settings.token_budget

    async def __call__(self, ask: Ask, understanding: Understanding, prepared: Prepared, watch: Watch) -> Answer | None:
        """Return the answer to screen and pack, or None."""
        if ask.evaluation.include_candidates:
            watch.skip(Skip("prefetch", "candidates_wanted"))
            return None
        if prepared.match == "exact":
            if ask.limit > self._made_limit or ask.token_budget > self._made_budget:
                watch.skip(Skip("prefetch", "more_wanted"))
                return None
            fresh = await self._is_fresh(ask, prepared, watch)
            if fresh:
                return _as_answer(ask, understanding, prepared, watch)
        if understanding.thinking_mode != "fast":
            watch.skip(Skip("prefetch", "deep_question"))
            return None
        return await self._rescored(ask, understanding, prepared, watch)

    async def _is_fresh(self, ask: Ask, prepared: Prepared, watch: Watch) -> bool:
        try:
            with watch.hop("prefetch.freshness"):
                _, version = await self._search.read(
                    ask.user_id, (), timeout_s=watch.left_s(self._settings.freshness_ms / 1000)
                )
        except Fault as fault:
            # Search is down: the prepared answer is the best there is, and says that it could not be checked.
            watch.note(Degradation("search", "UNREACHABLE", f"freshness not checked: {fault.message}"))
            return True
        if version != prepared.write_version:
            watch.skip(Skip("prefetch", "written_since"))
        return version == prepared.write_version

    async def _rescored(
        self, ask: Ask, understanding: Understanding, prepared: Prepared, watch: Watch
    ) -> Answer | None:
        try:
            with watch.hop("prefetch.rescore"):
                scored = await self._search.rescore(ask, understanding, prepared, timeout_s=watch.left_s())
        except Fault as fault:
            watch.degrade("prefetch", fault)
            return None
        if scored.changed:
            watch.skip(Skip("prefetch", "stale"))
            return None
        if not scored.cards or scored.margin < self._settings.least_margin or scored.confidence == "low":
            watch.skip(Skip("prefetch", "unsafe_margin"))
            return None
        watch.times.extend(scored.times)
        return Answer(
            recall_id=ask.recall_id,
            query=ask.query,
            intent=understanding.intent,
            intent_confidence=understanding.confidence,
            facet=understanding.facet,
            thinking_mode=understanding.thinking_mode,
            retrieval_mode=understanding.retrieval_mode,
            confidence=scored.confidence,
            cards=scored.cards[: ask.limit],
            degraded=tuple(watch.degraded),
            notes=Notes(understanding, Found(cards=scored.cards, relevance=scored.relevance)),
            answered_from="prefetch_near",
            write_version=scored.write_version,
            held_back=scored.held_back,
        )


def _as_answer(ask: Ask, understanding: Understanding, prepared: Prepared, watch: Watch) -> Answer:
    said = f"prepared before it was asked, for {prepared.query!r}; a full recall had taken {prepared.recall_ms:.0f} ms"
    return replace(
        prepared.answer,
        recall_id=ask.recall_id,
        query=ask.query,
        cards=prepared.answer.cards[: ask.limit],
        degraded=(*prepared.answer.degraded, *watch.degraded),
        answered_from="prefetch_exact",
        notes=Notes(understanding, sentences=(said,)),
        text="",
    )
