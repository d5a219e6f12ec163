"""Stage 7, PPRBoost: blocks at the centre of the user's graph count more (R-13, after HippoRAG)."""

from __future__ import annotations

from memvault_search.domain.scoring.state import Effect, ScoringState, neutral_where_unknown


class PPRBoost:
    """x (1 + w ppr), ppr in [0, 1] written ahead with the block."""

    name = "PPRBoost"

    def __call__(self, state: ScoringState, /) -> Effect:
        """Return a factor in [1, 1 + w]."""
        strength = state.context.strengths.centrality
        return Effect(factor=neutral_where_unknown(1.0 + strength * state.candidates.centrality))
