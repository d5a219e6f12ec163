"""QuestionDeduplicator: nothing that was predicted within the last five minutes, and nothing twice (R-51)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from memvault.text import query_hash, search_tokens
from memvault_slow_thinker.domain.prediction import Draft, Prediction


@dataclass(frozen=True)
class QuestionDeduplicator:
    """Drop drafts that repeat a recent prediction or a better draft, by hash or by token overlap."""

    name: str = "question_deduplicator"

    def __call__(self, state: Prediction, /) -> Prediction:
        """Return the state without the repeated drafts; those are listed in `repeated`."""
        # on either side: a clock that was set back must not make all that was ever predicted recent
        taken = [one.text for one in state.recent if abs(state.now - one.at) <= state.numbers.repeat_window_s]
        fresh: list[Draft] = []
        repeated: list[Draft] = []
        for draft in state.drafts:
            same = any(same_question(draft.text, text, state.numbers.repeat_similarity) for text in taken)
            (repeated if same else fresh).append(draft)
            taken.append(draft.text)
        return replace(state, drafts=tuple(fresh), repeated=tuple(repeated))


def same_question(left: str, right: str, limit: float) -> bool:
    """Return whether two questions are one: the same hash, or a Jaccard overlap of tokens of at least `limit`."""
    if query_hash(left) == query_hash(right):
        return True
    return overlap(search_tokens(left), search_tokens(right)) >= limit


def overlap(left: Sequence[str], right: Sequence[str]) -> float:
    """Return the Jaccard overlap of two token lists, in [0, 1]; 0 when both are empty."""
    mine, theirs = set(left), set(right)
    union = mine | theirs
    return len(mine & theirs) / len(union) if union else 0.0
