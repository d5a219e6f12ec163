"""Stage 2, ImportanceWeight: a block its writer was sure of counts more (R-13)."""

from __future__ import annotations

from memvault_search.domain.scoring.state import Effect, ScoringState, neutral_where_unknown


class ImportanceWeight:
    """x (1 - w + w confidence); w = 0.3 gives 0.7 + 0.3 confidence."""

    name = "ImportanceWeight"

    def __call__(self, state: ScoringState, /) -> Effect:
        """Return a factor in [1 - w, 1]."""
        strength = state.context.strengths.importance
        return Effect(factor=neutral_where_unknown(1.0 - strength + strength * state.candidates.confidence))
