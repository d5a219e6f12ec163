"""The attention gate (R-15): when reranking cannot change anything worth its price.

Three early returns in the manner of TurboQuant+: too few candidates, a clear winner, or a cluster so
tight that the order hardly matters.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from memvault_search.domain.scoring.candidates import FloatArray

ROUNDING = 1e-9  # a lead of exactly the bound counts, whatever floating point makes of it


class GateReason(StrEnum):
    """Why a rerank was asked for or skipped; skips are counted by it."""

    OPEN = "open"
    TOO_FEW = "too_few"
    DOMINANT = "dominant"
    TIGHT_CLUSTER = "tight_cluster"


@dataclass(frozen=True)
class GateBounds:
    """The two bounds that may differ by intent; see `GateNumbers`."""

    dominant_lead: float
    cluster_spread: float


@dataclass(frozen=True)
class GateNumbers:
    """The bounds of the three early returns.

    `few`: at most so many candidates need no rerank. `dominant_lead`: the first leads the second by
    this share of the second. `cluster_size`, `cluster_spread`: the first so many lie within this share
    of the first. `depth`: how many go to the reranker. `intents`: bounds of intents that have their own.
    """

    few: int
    dominant_lead: float
    cluster_size: int
    cluster_spread: float
    depth: int
    intents: Mapping[str, GateBounds]

    def of(self, intent: str) -> GateNumbers:
        """The numbers with the bounds of one intent."""
        own = self.intents.get(intent)
        if own is None:
            return self
        return replace(self, dominant_lead=own.dominant_lead, cluster_spread=own.cluster_spread)


@dataclass(frozen=True)
class GateDecision:
    """`rerank` best candidates go to the reranker: 0 when the gate is shut, and `reason` says why."""

    rerank: int
    reason: GateReason


def decide(scores: FloatArray, numbers: GateNumbers) -> GateDecision:
    """Decide by the scores of stage 11, from the best to the last, all at least 0."""
    count = len(scores)
    if count <= numbers.few:
        return GateDecision(0, GateReason.TOO_FEW)
    first, second = float(scores[0]), float(scores[1])
    if first > 0.0 and first - second >= numbers.dominant_lead * second - ROUNDING * first:
        return GateDecision(0, GateReason.DOMINANT)
    last = float(scores[min(count, numbers.cluster_size) - 1])
    if first - last <= (numbers.cluster_spread + ROUNDING) * first:
        return GateDecision(0, GateReason.TIGHT_CLUSTER)
    return GateDecision(min(count, numbers.depth), GateReason.OPEN)
