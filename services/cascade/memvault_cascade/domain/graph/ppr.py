"""Personalised PageRank by power iteration (R-31), after HippoRAG 2 (Gutierrez et al..

2025) and Haveliwala's topic-sensitive PageRank (2002).

With adjacency A, out-strength D and restart distribution s: x <- d A D^-1 x + (1 - d + d * dangling mass) s, where d
is the damping.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from memvault_cascade.domain.graph.matrix import block_row

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from memvault_cascade.domain.graph.matrix import GraphMatrix


@dataclass(frozen=True, slots=True)
class WalkLimits:
    """Numbers of the walk.

    `damping` in (0, 1), `tolerance` on the L1 change of one round, at most `max_rounds` rounds.
    """

    damping: float = 0.85
    tolerance: float = 1e-6
    max_rounds: int = 100


@dataclass(frozen=True, slots=True)
class SeedWeights:
    """How much each sort of seed weighs against the others; all at least 0.

    `linked`: an entity that the query names. `fact`: the two ends of a fact whose vector is near the query.
    `block_entity`: the entities of the best fast-search blocks. `passage`: those blocks themselves. `specificity` is
    the exponent on 1 / block frequency; 0 switches it off.
    """

    linked: float = 1.0
    fact: float = 1.0
    block_entity: float = 0.2
    passage: float = 0.05
    specificity: float = 1.0


@dataclass(frozen=True, slots=True)
class Seeds:
    """Where a walk may start: weights in [0, 1] by entity id, by fact end and by block id."""

    linked: Mapping[str, float]
    fact_ends: Mapping[str, float]
    blocks: Mapping[str, float]


def restart_vector(
    matrix: GraphMatrix, seeds: Seeds, block_mentions: Mapping[str, tuple[str, ...]], weights: SeedWeights
) -> NDArray[np.float64]:
    """The restart distribution over all nodes, summing to 1, or all zeros when no seed lies in the graph."""
    restart = np.zeros(matrix.size)

    def plant(entity: str, weight: float) -> None:
        row = matrix.row_of.get(entity)
        if row is not None:
            frequency = max(1.0, float(matrix.block_frequency[row]))
            restart[row] += weight * frequency**-weights.specificity

    for entity, weight in seeds.linked.items():
        plant(entity, weights.linked * weight)
    for entity, weight in seeds.fact_ends.items():
        plant(entity, weights.fact * weight)
    for block, weight in seeds.blocks.items():
        row = block_row(matrix, block)
        if row is None:
            continue
        restart[row] += weights.passage * weight
        mentions = block_mentions.get(block, ())
        for entity in mentions:
            plant(entity, weights.block_entity * weight / len(mentions))
    total = restart.sum()
    return restart / total if total > 0 else restart


def personalised_pagerank(
    adjacency: sparse.csr_matrix, restart: NDArray[np.float64], limits: WalkLimits
) -> NDArray[np.float64]:
    """Stationary probabilities (n, float64, sum 1) of the walk that restarts at `restart`.

    All zeros when `restart` is.
    """
    if restart.sum() <= 0:
        return np.zeros_like(restart)
    strength = np.asarray(adjacency.sum(axis=1), dtype=np.float64).ravel()
    dangling = strength == 0
    inverse = np.divide(1.0, strength, out=np.zeros_like(strength), where=~dangling)
    rank = restart.copy()
    for _ in range(limits.max_rounds):
        # The adjacency is symmetric, so A (D^-1 x) is the forward step and no transposed copy is needed.
        moved = limits.damping * (adjacency @ (inverse * rank))
        moved += (1.0 - limits.damping + limits.damping * rank[dangling].sum()) * restart
        change = np.abs(moved - rank).sum()
        rank = moved
        if change < limits.tolerance:
            break
    return rank


def centrality(matrix: GraphMatrix, limits: WalkLimits) -> dict[str, float]:
    """How central each block is in its user's graph, in [0, 1], by block id (R-13 stage 7).

    PageRank with a uniform restart, scaled so that the most central block has 1 and the least 0. A block joined to
    nothing has 0.
    """
    if not matrix.block_ids:
        return {}
    rank = personalised_pagerank(matrix.adjacency, np.full(matrix.size, 1.0 / matrix.size), limits)
    rows = np.arange(len(matrix.entity_ids), matrix.size)
    joined = np.diff(matrix.adjacency.indptr)[rows] > 0
    if not joined.any():
        return dict.fromkeys(matrix.block_ids, 0.0)
    values = rank[rows]
    least, most = values.min(), values.max()
    span = most - least
    scaled = (values - least) / span if span > limits.tolerance * most else np.where(joined, 1.0, 0.0)
    return {
        block: float(value) if is_joined else 0.0
        for block, value, is_joined in zip(matrix.block_ids, scaled, joined, strict=True)
    }
