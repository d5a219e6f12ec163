"""Stage 1, RecencyBoost: what happened lately, or at the time asked for, counts more (R-13, R-07)."""

from __future__ import annotations

import numpy as np

from memvault_search.domain.scoring.age import freshness, retention
from memvault_search.domain.scoring.state import Effect, ScoringState, neutral_where_unknown


class RecencyBoost:
    """x (1 + w e^(-age_days/14)).

    When stages 1 and 6 share one term (R-13a), the boost is w times the mean of freshness and
    retention, the one that is known if the other is not, and stage 6 stands aside.
    """

    name = "RecencyBoost"

    def __call__(self, state: ScoringState, /) -> Effect:
        """Return a factor in [1, 1 + w]."""
        candidates, context = state.candidates, state.context
        fresh = freshness(candidates, context)
        if context.numbers.combine == "clamped" and "WeibullDecay" not in context.switched_off:
            kept = retention(candidates, context)
            fresh = np.where(np.isnan(fresh), kept, np.where(np.isnan(kept), fresh, (fresh + kept) / 2.0))
        return Effect(factor=neutral_where_unknown(1.0 + context.strengths.recency * fresh))
