"""Is anything relevant at all? (R-17).

A fused or scored value cannot say so: the best of a bad lot is always first. Calibrated similarity and the
share of the question's words that a block holds can.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from memvault_search.domain.scoring.candidates import BoolArray, FloatArray


class Confidence(StrEnum):
    """How sure search is that the answer is among the cards."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


@dataclass(frozen=True)
class RelevanceNumbers:
    """A logistic of similarity and coverage, fitted on development data, and its two bounds.

    relevance = 1 / (1 + e^-(intercept + similarity_weight s + coverage_weight c)). Across languages words are not
    shared and similarities are smaller: there it is at least 1 / (1 + e^-(across_intercept + across_weight s)).
    Below `floor` the confidence is low, from `high` on it is high. `looked_at`: how many of the first cards count.
    """

    intercept: float
    similarity_weight: float
    coverage_weight: float
    across_intercept: float
    across_weight: float
    floor: float
    high: float
    looked_at: int


@dataclass(frozen=True)
class Relevance:
    """`each`: (n,) calibrated relevance in [0, 1] of every card; `best` of those looked at; the verdict."""

    each: FloatArray
    best: float
    confidence: Confidence


def assess(similarity: FloatArray, coverage: FloatArray, across: BoolArray, numbers: RelevanceNumbers) -> Relevance:
    """Judge the cards of one answer, best first.

    `similarity` (calibrated) and `coverage`: (n,) in [0, 1]; nan counts as 0. `across`: (n,) True where the card
    is in another language than the question. No card is low confidence.
    """
    close, covered = np.nan_to_num(similarity), np.nan_to_num(coverage)
    exponent = numbers.intercept + numbers.similarity_weight * close + numbers.coverage_weight * covered
    foreign = numbers.across_intercept + numbers.across_weight * close
    exponent = np.where(across, np.maximum(exponent, foreign), exponent)
    each = np.asarray(1.0 / (1.0 + np.exp(-exponent)), dtype=np.float64)
    best = float(each[: numbers.looked_at].max()) if len(each) else 0.0
    return Relevance(each, best, _verdict(best, numbers))


def _verdict(best: float, numbers: RelevanceNumbers) -> Confidence:
    if best < numbers.floor:
        return Confidence.LOW
    return Confidence.HIGH if best >= numbers.high else Confidence.MEDIUM
