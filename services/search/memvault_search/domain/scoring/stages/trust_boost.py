"""Stage 3, TrustBoost: written by hand is trusted more than generated (R-13, R-61)."""

from __future__ import annotations

from memvault_search.domain.scoring.state import Effect, ScoringState, neutral_where_unknown


class TrustBoost:
    """x (1 - w (1 - trust))."""

    name = "TrustBoost"

    def __call__(self, state: ScoringState, /) -> Effect:
        """Return a factor in [1 - w, 1]."""
        strength = state.context.strengths.trust
        return Effect(factor=neutral_where_unknown(1.0 - strength * (1.0 - state.candidates.trust)))
