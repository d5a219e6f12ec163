"""Divides a text that asks several things into its questions, each with a vector of its own (docs/decisions/0029)."""

from __future__ import annotations

from dataclasses import replace

from memvault.faults import Fault
from memvault_search.domain.parts import PartWords, parts_of
from memvault_search.ports import Embedder
from memvault_search.settings import SearchSettings
from memvault_search.usecases.asking import Conditions, Left, Part, Question


class Dividing:
    """A step of a search; one object serves all users and both profiles."""

    def __init__(self, embedder: Embedder, words: PartWords) -> None:
        """`words`: by which a text is divided."""
        self._embedder = embedder
        self._words = words

    async def divided(
        self, question: Question, conditions: Conditions, numbers: SearchSettings
    ) -> tuple[Question, tuple[Left, ...]]:
        """The question with its parts, embedded in one call; without them, and a word why, when that fails.

        A completed follow-up holds what was asked before, which is answered already: it is no part.
        """
        if question.bare or question.follow_up_vector is not None or "parts" in conditions.off:
            return question, ()
        finding = numbers.finding
        texts = parts_of(question.text, self._words, most=finding.most_parts, longest=finding.parts_longest)
        if not texts:
            return question, ()
        with_tokens = "rerank" not in conditions.off
        try:
            embedded = await self._embedder.embed(texts, "query", token_vectors=with_tokens)
        except Fault as fault:
            return question, (Left("parts", str(fault.reason), fault.message),)
        tokens = embedded.tokens if with_tokens else [None] * len(texts)
        parts = tuple(Part(*one) for one in zip(texts, embedded.vectors, tokens, strict=True))
        return replace(question, parts=parts), ()
