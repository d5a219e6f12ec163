"""Measures of a ranked list against the ids that had to be found, and their bootstrap intervals."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

RECALL_AT, HIT_AT, ALL_AT, GAIN_DEPTH = (3, 5, 10), (1, 5, 10), (5, 10), 10
MRR, NDCG = "MRR", "nDCG@10"
RESAMPLES = 2000
_SEED = 20
_LOW, _HIGH = 2.5, 97.5


@dataclass(frozen=True)
class Figure:
    """A mean in percent with its 95 % bootstrap interval over `n` questions."""

    value: float
    low: float
    high: float
    n: int


def measures(ranked: Sequence[str], gold: Collection[str]) -> Mapping[str, float]:
    """Return every metric of one question, 0 to 1.

    Args:
        ranked: Distinct ids, best first.
        gold: Ids that must be found, at least one.

    recall@k = found in the top k / gold; hit@k: any found; all@k: every one found; MRR: 1 / rank of the first found;
    nDCG@10 with binary gains and the logarithm of base 2 (Järvelin and Kekäläinen 2002).

    Raises:
        ValueError: When there is no gold.
    """
    wanted = set(gold)
    if not wanted:
        raise ValueError("a question without gold cannot be measured")
    places = [rank for rank, one in enumerate(ranked, 1) if one in wanted]
    within = {k: sum(rank <= k for rank in places) for k in (*RECALL_AT, *HIT_AT, *ALL_AT)}
    ideal = sum(1 / np.log2(rank + 1) for rank in range(1, min(len(wanted), GAIN_DEPTH) + 1))
    gained = sum(1 / np.log2(rank + 1) for rank in places if rank <= GAIN_DEPTH)
    return {
        **{f"recall@{k}": within[k] / len(wanted) for k in RECALL_AT},
        **{f"hit@{k}": float(within[k] > 0) for k in HIT_AT},
        **{f"all@{k}": float(within[k] == len(wanted)) for k in ALL_AT},
        MRR: 1 / places[0] if places else 0.0,
        NDCG: float(gained / ideal),
    }


def by_session(ranked: Sequence[str], session_of: Mapping[str, str]) -> list[str]:
    """Return the sessions of ranked ids in the order in which each is first met."""
    return list(dict.fromkeys(session_of[one] for one in ranked if one in session_of))


def figure(values: Sequence[float]) -> Figure:
    """Return mean and interval of one value per question, in percent.

    Raises:
        ValueError: When there is no value.
    """
    sample = np.asarray(values, np.float64) * 100
    if not sample.size:
        raise ValueError("no question was asked: nothing to average")
    low, high = np.percentile(_resampled_means(sample), [_LOW, _HIGH])
    return Figure(float(sample.mean()), float(low), float(high), int(sample.size))


def difference(values: Sequence[float], base: Sequence[float]) -> Figure:
    """Return the mean of `values` minus `base`, question by question, with its interval, in percentage points."""
    return figure([value - other for value, other in zip(values, base, strict=True)])


def _resampled_means(sample: NDArray[np.float64]) -> NDArray[np.float64]:
    means: NDArray[np.float64] = _times_drawn(sample.size) @ sample / sample.size
    return means


@lru_cache(maxsize=16)  # a run asks for the same few sizes thousands of times
def _times_drawn(size: int) -> NDArray[np.float64]:
    """How often each of `size` items stands in each resample, (RESAMPLES, size)."""
    drawn = np.random.default_rng(_SEED).integers(0, size, size=(RESAMPLES, size))
    return np.stack([np.bincount(row, minlength=size) for row in drawn]).astype(np.float64)
