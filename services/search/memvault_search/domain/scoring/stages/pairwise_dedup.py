"""Stage 11, PairwiseDedup: of two near-copies the lower one steps back (R-13)."""

from __future__ import annotations

import numpy as np

from memvault_search.domain.scoring.candidates import FloatArray
from memvault_search.domain.scoring.ordering import stable_order
from memvault_search.domain.scoring.state import Effect, ScoringState, gate_best
from memvault_search.domain.scoring.telling_apart import tell_apart


class PairwiseDedup:
    """Of two with cosine > 0.85 the lower is x 0.5, once, and must pass stage 9 again.

    Two that differ in a number, a code, a name or a negation are not copies: both say something.
    """

    name = "PairwiseDedup"

    def __call__(self, state: ScoringState, /) -> Effect:
        """Return factors 1 or 0.5, and which of the halved stay above the gate."""
        numbers = state.context.numbers
        factor = np.ones(len(state.candidates))
        factor[copies(state, numbers.duplicate_cosine)] = numbers.duplicate_factor
        if "MinScoreGate" in state.context.switched_off:
            return Effect(factor=factor)
        passes = state.score * factor >= numbers.min_score_ratio * gate_best(state)
        return Effect(factor=factor, keep=(factor == 1.0) | passes)


def copies(state: ScoringState, limit: float) -> list[int]:
    """Return the rows that are the lower one of at least one pair of copies among the kept."""
    candidates = state.candidates
    kept = state.kept
    order = [int(row) for row in stable_order(state.score, candidates.ids) if kept[row]]
    if not order:
        return []
    vectors = candidates.vectors[order].astype(np.float64)
    close: FloatArray = vectors @ vectors.T
    near = np.tril(close > limit, k=-1)  # each with those above it
    lower: list[int] = []
    for position in np.flatnonzero(near.any(axis=1)):
        text = candidates.texts[order[position]]
        if any(not tell_apart(candidates.texts[order[above]], text) for above in np.flatnonzero(near[position])):
            lower.append(order[position])
    return lower
