"""Ages and what is left of a memory after them: shared by stages 1 and 6 and by their merged form."""

from __future__ import annotations

import numpy as np

from memvault_search.domain.scoring.candidates import (
    DAY_S,
    Candidates,
    FloatArray,
    ScoringContext,
    TimeRange,
)
from memvault_search.domain.scoring.numbers import ScoringNumbers


def event_age_days(known_at: FloatArray, now: float, time_range: TimeRange | None) -> FloatArray:
    """Return how far each event lies from the time the question speaks of, in days, at least 0.

    Without a range that time is now, and what lies ahead has age 0; with a range (R-07) the age is
    the distance to its nearer end and 0 inside. nan where the time is unknown.
    """
    if time_range is None:
        return np.maximum(now - known_at, 0.0) / DAY_S
    before = time_range.start - known_at
    after = known_at - time_range.end
    return np.maximum(np.maximum(before, after), 0.0) / DAY_S


def freshness(candidates: Candidates, context: ScoringContext) -> FloatArray:
    """Return e^(-age/scale) in (0, 1], nan where neither event nor recording has a time (stage 1)."""
    age = event_age_days(candidates.known_at, context.now, context.time_range)
    return np.exp(-age / context.numbers.recency_scale_days)


def half_life_days(confidence: FloatArray, access_count: FloatArray, numbers: ScoringNumbers) -> FloatArray:
    """Return each block's half-life in days: its tier's, stretched by how often it was read (stage 6).

    nan where the confidence is unknown.
    """
    tiers = numbers.tiers
    base = np.select(
        [confidence >= tier.min_confidence for tier in tiers],
        [np.full_like(confidence, tier.half_life_days) for tier in tiers],
        default=np.nan,
    )
    stretch = np.minimum(1.0 + np.log2(1.0 + np.maximum(access_count, 0.0)), numbers.weibull_max_stretch)
    return np.asarray(base * stretch, dtype=np.float64)


def retention(candidates: Candidates, context: ScoringContext) -> FloatArray:
    """Return 2^(-(t/h)^shape), t in days since recorded or last read, the later of both (stage 6).

    In (0, 1]; nan where neither time is known or the confidence is unknown.
    """
    touched = np.fmax(candidates.recorded_at, candidates.last_accessed_at)
    days = np.maximum(context.now - touched, 0.0) / DAY_S
    half_life = half_life_days(candidates.confidence, candidates.access_count, context.numbers)
    return np.asarray(np.exp2(-((days / half_life) ** context.numbers.weibull_shape)), dtype=np.float64)
