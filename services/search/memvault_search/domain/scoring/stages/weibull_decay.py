"""Stage 6, WeibullDecay: forgetting, slowed down by reading (R-13)."""

from __future__ import annotations

import numpy as np

from memvault_search.domain.scoring.age import retention
from memvault_search.domain.scoring.state import Effect, ScoringState, neutral_where_unknown


class WeibullDecay:
    """x max(floor, 2^(-(t/h)^1.3)); exactly one half at the half-life, then a low steady tail.

    Neutral when stages 1 and 6 share one term (R-13a), which stage 1 then applies.
    """

    name = "WeibullDecay"

    def __call__(self, state: ScoringState, /) -> Effect:
        """Return a factor in [floor, 1]."""
        if state.context.numbers.combine == "clamped" and "RecencyBoost" not in state.context.switched_off:
            return Effect()
        left = retention(state.candidates, state.context)
        return Effect(factor=neutral_where_unknown(np.maximum(state.context.numbers.weibull_floor, left)))
