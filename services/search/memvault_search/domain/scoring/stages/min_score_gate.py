"""Stage 9, MinScoreGate: what is far below the best candidate leaves (R-13)."""

from __future__ import annotations

from memvault_search.domain.scoring.state import Effect, ScoringState, gate_best


class MinScoreGate:
    """Keep what reaches 0.10 of the best candidate's score.

    Relative, because an absolute bound would lose every old and short but perfect match; whether
    anything is relevant at all is decided elsewhere (R-17).
    """

    name = "MinScoreGate"

    def __call__(self, state: ScoringState, /) -> Effect:
        """Return which candidates stay."""
        return Effect(keep=state.score >= state.context.numbers.min_score_ratio * gate_best(state))
