"""QuestionRanker: the natural continuation first (R-51)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from memvault_slow_thinker.domain.prediction import Prediction


@dataclass(frozen=True)
class QuestionRanker:
    """Order drafts by confidence x (1 - c + c closeness), closeness = similarity to the last utterance."""

    name: str = "question_ranker"

    def __call__(self, state: Prediction, /) -> Prediction:
        """Return the state with drafts, best first, and their vectors in the same order. Ties go by text.

        Without vectors the confidence alone decides.
        """
        count = len(state.drafts)
        if len(state.vectors) == count + 1:
            closeness = np.clip(state.vectors[:count] @ state.vectors[count], 0.0, 1.0)
        else:
            closeness = np.ones(count, dtype=np.float32)
        weight = state.numbers.continuity
        rank = [
            draft.confidence * (1.0 - weight + weight * float(near))
            for draft, near in zip(state.drafts, closeness, strict=True)
        ]
        order = sorted(range(count), key=lambda row: (-rank[row], state.drafts[row].text))
        vectors = state.vectors[[*order, count]] if len(state.vectors) == count + 1 else state.vectors
        return replace(state, drafts=tuple(state.drafts[row] for row in order), vectors=vectors)
