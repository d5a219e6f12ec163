"""R-54, the reading half: look for a prepared answer, exact first, then near."""

from __future__ import annotations

from collections.abc import Mapping

from memvault.text import query_hash
from memvault_router.domain.operators.embedding import centred
from memvault_router.domain.operators.time_range import TimeWords, read_time
from memvault_router.domain.prefetch import Circumstances, IndexedQuestion, Match, Prepared, nearest, usable, why_not
from memvault_router.domain.state import Question, Vector
from memvault_router.ports import PreparedAnswers
from memvault_router.settings import RouterSettings


class PreparedLookup:
    """Looks for an answer that the slow thinker prepared."""

    def __init__(self, answers: PreparedAnswers, time_words: TimeWords, ruleset_version: str) -> None:
        self._answers = answers
        self._time_words = time_words
        self._ruleset_version = ruleset_version

    async def exact(self, question: str, circumstances: Circumstances) -> Match | None:
        """Return the answer prepared for exactly this normalised question, if it may be used."""
        found = await self._answers.exact(circumstances.user_id, query_hash(question))
        return Match(found, "exact", 1.0) if found is not None and self._usable(found, circumstances) else None

    async def predicted(self, circumstances: Circumstances) -> Mapping[str, Vector]:
        """Return hash and raw vector of the questions that answers lie prepared for; known before the question is."""
        return await self._answers.index(circumstances.user_id, circumstances.now)

    async def near(
        self,
        state: Question,
        raw: Mapping[str, Vector],
        query_mean: Vector,
        encoder_id: str,
        circumstances: Circumstances,
        settings: RouterSettings,
    ) -> tuple[Match | None, str]:
        """Return a near and safe answer, or why there is none: `no_entry`, `far`, `unusable`, or what is uncovered.

        Args:
            state: The question, classified.
            raw: What `predicted` returned.
            query_mean: The encoder's, shape (d,).
            encoder_id: Of the question's vector.
            circumstances: Under which it may be used.
            settings: Section `router` of the profile in force.
        """
        if state.vector is None:
            return None, "no_vector"
        if not raw:
            return None, "no_entry"
        index = [
            IndexedQuestion(key, centred(vector, query_mean))
            for key, vector in raw.items()
            if vector.shape == query_mean.shape
        ]
        candidate = nearest(state.vector, index, settings.near)
        if candidate is None:
            return None, "far"
        question, similarity = candidate
        entry = await self._answers.exact(circumstances.user_id, question.query_hash)
        if entry is None or entry.encoder_id != encoder_id or not self._usable(entry, circumstances):
            return None, "unusable"
        reason = why_not(
            state.completed,
            state.facet,
            entry,
            lambda text: read_time(text, state.now, state.zone, self._time_words, settings.vague),
            settings.near,
        )
        return (None, f"uncovered_{reason}") if reason else (Match(entry, "near", similarity), "")

    def _usable(self, entry: Prepared, circumstances: Circumstances) -> bool:
        return usable(entry, circumstances, self._ruleset_version)
