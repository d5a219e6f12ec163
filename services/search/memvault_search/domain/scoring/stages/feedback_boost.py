"""Stage 4, FeedbackBoost: thumbs up and down, saturating (R-13)."""

from __future__ import annotations

import numpy as np

from memvault_search.domain.scoring.state import Effect, ScoringState


class FeedbackBoost:
    """x (1 + w tanh(net/3)), net = ups - downs."""

    name = "FeedbackBoost"

    def __call__(self, state: ScoringState, /) -> Effect:
        """Return a factor in (1 - w, 1 + w)."""
        net = state.candidates.ups - state.candidates.downs
        scale = state.context.numbers.feedback_scale
        return Effect(factor=1.0 + state.context.strengths.feedback * np.tanh(net / scale))
