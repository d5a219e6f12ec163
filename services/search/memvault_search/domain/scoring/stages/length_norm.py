"""Stage 5, LengthNorm: neither a scrap nor a tome is what a question usually wants (R-13)."""

from __future__ import annotations

import numpy as np

from memvault_search.domain.scoring.state import Effect, ScoringState, neutral_where_unknown


class LengthNorm:
    """/ (1 + w |log2(len/500)|), len in characters, at least 1."""

    name = "LengthNorm"

    def __call__(self, state: ScoringState, /) -> Effect:
        """Return a factor in (0, 1], 1 at the target length."""
        target = state.context.numbers.length_target_chars
        octaves = np.abs(np.log2(np.maximum(state.candidates.length, 1.0) / target))
        return Effect(factor=neutral_where_unknown(1.0 / (1.0 + state.context.strengths.length * octaves)))
