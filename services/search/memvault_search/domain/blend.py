"""Blending scoring and rerank (R-16): w_s x scoring + w_r x rerank, both normalised over the candidates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from memvault_search.domain.scoring.candidates import FloatArray

LEAST = 1e-9
"""What the last of the reranked has at least, so that those behind it can keep their order below."""


@dataclass(frozen=True)
class Bounds:
    """The range of values over which something is normalised to [0, 1]."""

    low: float
    high: float

    def normalise(self, values: FloatArray) -> FloatArray:
        """Return the values' places in the range, clipped to [0, 1]; one half where it has no width."""
        if self.high <= self.low:
            return np.full(len(values), 0.5)
        return np.clip((values - self.low) / (self.high - self.low), 0.0, 1.0)

    @classmethod
    def of(cls, values: FloatArray) -> Bounds:
        """Return the bounds of one or more values."""
        return cls(float(values.min()), float(values.max()))


@dataclass(frozen=True)
class Blended:
    """`score`: (n,), never rising, in the order of `order`, rows of the input from best to last.

    `scoring` and `rerank` are the bounds by which a late block is blended (R-14). `reranked` is how
    many of the first rows carry a rerank score.
    """

    order: tuple[int, ...]
    score: FloatArray
    scoring: Bounds
    rerank: Bounds
    reranked: int


def blend(scores: FloatArray, rerank: FloatArray, weight_scoring: float) -> Blended:
    """Blend the first `len(rerank)` candidates and keep the rest in scoring order below them.

    `scores`: (n,) from the best to the last, at least 0. `rerank`: (m,) with 1 <= m <= n, finite, of the
    first m. Raises ValueError otherwise.
    """
    count = len(rerank)
    if not 1 <= count <= len(scores) or not np.isfinite(rerank).all():
        message = f"needs 1 to {len(scores)} finite rerank scores, got {count}"
        raise ValueError(message)
    scoring_bounds, rerank_bounds = Bounds.of(scores[:count]), Bounds.of(rerank)
    mixed = blend_late(scores[:count], rerank, weight_scoring, scoring_bounds, rerank_bounds)
    head = np.lexsort((np.arange(count), -mixed))
    tail = np.arange(count, len(scores))
    floor = float(mixed.min())
    above = float(scores[count - 1])
    below = floor * scores[tail] / above if above > 0.0 else np.zeros(len(tail))
    return Blended(
        order=(*(int(row) for row in head), *(int(row) for row in tail)),
        score=np.concatenate([mixed[head], below]),
        scoring=scoring_bounds,
        rerank=rerank_bounds,
        reranked=count,
    )


def blend_late(
    scores: FloatArray, rerank: FloatArray, weight_scoring: float, scoring: Bounds, reranking: Bounds
) -> FloatArray:
    """Blend by given bounds, so that a block scored later (R-14) shares the scale of the first list.

    The values lie in [LEAST, 1].
    """
    mixed = weight_scoring * scoring.normalise(scores) + (1.0 - weight_scoring) * reranking.normalise(rerank)
    return np.asarray(LEAST + (1.0 - LEAST) * mixed, dtype=np.float64)
