"""Stage 10, NoiseFilter: quarantined blocks leave (R-13)."""

from __future__ import annotations

import numpy as np

from memvault_search.domain.scoring.state import Effect, ScoringState


class NoiseFilter:
    """Drop blocks that carry any of the seven quarantine tags."""

    name = "NoiseFilter"

    def __call__(self, state: ScoringState, /) -> Effect:
        """Return which candidates stay."""
        noise = state.context.numbers.quarantine_tags
        clean = [noise.isdisjoint(tags) for tags in state.candidates.quarantine]
        return Effect(keep=np.array(clean, dtype=np.bool_))
