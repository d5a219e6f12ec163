"""Stage 8, SemanticBoost: closeness in meaning (R-13), by calibrated similarity (R-10a)."""

from __future__ import annotations

from memvault_search.domain.scoring.state import Effect, ScoringState, neutral_where_unknown


class SemanticBoost:
    """x (1 + w cosine(query, block))."""

    name = "SemanticBoost"

    def __call__(self, state: ScoringState, /) -> Effect:
        """Return a factor in [1, 1 + w]."""
        strength = state.context.strengths.semantic
        return Effect(factor=neutral_where_unknown(1.0 + strength * state.candidates.similarity))
