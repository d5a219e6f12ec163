"""What a walk brings back (R-31, R-32): facts and blocks near the seeds, each with the path that led to it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csgraph, csr_matrix

from memvault_cascade.domain.graph.matrix import GraphMatrix, block_row

if TYPE_CHECKING:
    from datetime import datetime

    from numpy.typing import NDArray

    from memvault_cascade.domain.graph.model import Triple, UserGraph

MENTIONED_WITH = "mentioned_with"
"""Relation of two entities that one block names, where no fact joins them."""
MENTIONED_IN = "mentioned_in"
"""Last step of a path to a block that states no fact about the entity; its object is the block's id."""
SAME_AS = "same_as"
"""Relation of two entities whose vectors are close."""

_NO_PREDECESSOR = -9999


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a path, by names."""

    subject: str
    predicate: str
    object: str


@dataclass(frozen=True, slots=True)
class NearTriple:
    """A fact and its weight in (0, 1], 1 for the nearest."""

    triple: Triple
    weight: float
    path: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class NearBlock:
    """A block and its share of the walk in (0, 1], 1 for the nearest."""

    block_id: str
    weight: float
    path: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class PathCosts:
    """Length of a step over a fact or synonym, over the half-step between entity and block.

    And the longest path that is looked for.
    """

    fact: float = 1.0
    mention: float = 0.8
    longest: float = 6.0


@dataclass(frozen=True, slots=True)
class FactIndex:
    """Facts whose ends both lie in a matrix, ordered by id.

    `rows` (n x 2, int64) are the rows of their ends, `place_of` finds a fact by id, `by_ends` by its two ends in either
    order.
    """

    triples: tuple[Triple, ...]
    rows: NDArray[np.int64]
    place_of: Mapping[str, int]
    by_ends: Mapping[tuple[str, str], tuple[Triple, ...]]

    @classmethod
    def of(cls, triples: Iterable[Triple], matrix: GraphMatrix) -> FactIndex:
        """Index facts."""
        row_of = matrix.row_of
        kept = sorted((t for t in triples if t.subject_id in row_of and t.object_id in row_of), key=lambda t: t.id)
        rows = np.asarray([(row_of[t.subject_id], row_of[t.object_id]) for t in kept], np.int64).reshape(-1, 2)
        by_ends: dict[tuple[str, str], tuple[Triple, ...]] = {}
        for triple in kept:
            ends = _ends(triple.subject_id, triple.object_id)
            by_ends[ends] = (*by_ends.get(ends, ()), triple)
        return cls(tuple(kept), rows, {t.id: place for place, t in enumerate(kept)}, by_ends)

    def between(self, one: str, other: str) -> tuple[Triple, ...]:
        """Facts that join two entities."""
        return self.by_ends.get(_ends(one, other), ())


def _ends(one: str, other: str) -> tuple[str, str]:
    return (one, other) if one <= other else (other, one)


class Paths:
    """Shortest paths from the seeds to every node they reach."""

    def __init__(
        self,
        graph: UserGraph,
        matrix: GraphMatrix,
        facts: FactIndex,
        seeds: Collection[str],
        costs: PathCosts,
        moment: datetime,
    ) -> None:
        self._graph, self._matrix, self._facts, self._moment = graph, matrix, facts, moment
        rows = sorted(matrix.row_of[seed] for seed in seeds if seed in matrix.row_of)
        self._boundary = len(matrix.entity_ids)
        if not rows:
            self._distance = np.full(matrix.size, np.inf)
            self._before = np.full(matrix.size, _NO_PREDECESSOR)
            return
        lengths = csr_matrix(
            (_lengths(matrix, costs), matrix.adjacency.indices, matrix.adjacency.indptr), shape=matrix.adjacency.shape
        )
        self._distance, self._before, _ = csgraph.dijkstra(
            lengths, directed=False, indices=rows, return_predecessors=True, min_only=True, limit=costs.longest
        )

    def to_triple(self, triple: Triple) -> tuple[Step, ...]:
        """Steps from a seed over the fact itself."""
        near, far = sorted((triple.subject_id, triple.object_id), key=self._distance_of)
        if not np.isfinite(self._distance_of(near)):
            return ()
        chain = self._chain(self._matrix.row_of[near])
        over = Step(self._name(triple.subject_id), triple.predicate, self._name(triple.object_id))
        steps = self._steps([*chain, self._matrix.row_of[far]][:-1])
        return (*steps, over)

    def to_block(self, block_id: str) -> tuple[Step, ...]:
        """Steps from a seed to an entity that the block names, then the fact that the block states about it."""
        row = block_row(self._matrix, block_id)
        if row is None or not np.isfinite(self._distance[row]):
            return ()
        chain = self._chain(row)
        if len(chain) == 1:
            return ()
        last = self._matrix.entity_ids[chain[-2]]
        steps = self._steps(chain[:-1])
        stated = self._fact_of(block_id, last, steps)
        if stated is not None:
            return (*steps, stated)
        return steps or (Step(self._name(last), MENTIONED_IN, block_id),)

    def _fact_of(self, block_id: str, entity: str, steps: Sequence[Step]) -> Step | None:
        for other in self._graph.blocks[block_id].mentions:
            for triple in self._facts.between(entity, other):
                step = Step(self._name(triple.subject_id), triple.predicate, self._name(triple.object_id))
                if step not in steps and any(s.block_id == block_id for s in triple.support):
                    return step
        return None

    def _chain(self, row: int) -> list[int]:
        chain = [row]
        while self._before[chain[-1]] != _NO_PREDECESSOR:
            chain.append(int(self._before[chain[-1]]))
        return chain[::-1]

    def _steps(self, chain: Sequence[int]) -> tuple[Step, ...]:
        """Entities along a chain of rows, with what joins each to the next.

        The blocks between become `mentioned_with`.
        """
        entities = [(place, self._matrix.entity_ids[row]) for place, row in enumerate(chain) if row < self._boundary]
        steps = []
        for (place, one), (next_place, other) in pairwise(entities):
            steps.append(self._step(one, other) if next_place == place + 1 else self._together(one, other))
        return tuple(steps)

    def _step(self, one: str, other: str) -> Step:
        facts = sorted(
            self._facts.between(one, other), key=lambda t: (not t.holds_at(self._moment), -len(t.support), t.id)
        )
        if not facts:
            return Step(self._name(one), SAME_AS, self._name(other))
        return Step(self._name(facts[0].subject_id), facts[0].predicate, self._name(facts[0].object_id))

    def _together(self, one: str, other: str) -> Step:
        return Step(self._name(one), MENTIONED_WITH, self._name(other))

    def _distance_of(self, entity: str) -> float:
        row = self._matrix.row_of.get(entity)
        return float("inf") if row is None else float(self._distance[row])

    def _name(self, entity: str) -> str:
        return self._graph.entities[entity].name if entity in self._graph.entities else entity


def _lengths(matrix: GraphMatrix, costs: PathCosts) -> NDArray[np.float64]:
    boundary = len(matrix.entity_ids)
    rows = np.repeat(np.arange(matrix.size), np.diff(matrix.adjacency.indptr))
    crosses = (rows < boundary) != (matrix.adjacency.indices < boundary)
    return np.where(crosses, costs.mention, costs.fact)


def near_blocks(
    matrix: GraphMatrix, rank: NDArray[np.float64], limit: int, skipped: Collection[str]
) -> list[tuple[str, float]]:
    """Blocks by their share of the walk, nearest first, without those to skip; the best of all has weight 1."""
    values = rank[len(matrix.entity_ids) :]
    if not len(values) or values.max() <= 0:
        return []
    scaled = values / values.max()
    order = (int(row) for row in np.argsort(-scaled, kind="stable") if scaled[row] > 0)
    found = ((matrix.block_ids[row], float(scaled[row])) for row in order)
    return list(islice(((block, weight) for block, weight in found if block not in skipped), limit))


def near_triples(
    facts: FactIndex,
    rank: NDArray[np.float64],
    alike: tuple[Mapping[str, float], float],
    moment: datetime,
    limit: int,
) -> list[tuple[Triple, float]]:
    """Facts that hold at `moment`, by the mean of two signals in [0, 1], the nearest first.

    The walk's: the geometric mean of the ranks of both ends over the largest such mean, so that a fact is near only
    when both ends are. The vector's: `alike` holds the calibrated similarity of fact and query by triple id, 0 for
    facts that the vectors did not find, and the least similarity that counts for a fact the walk did not reach: below
    it a similarity says nothing, and would bring up some fact for any question.
    """
    similarity, least = alike
    if not facts.triples:
        return []
    mass = np.sqrt(rank[facts.rows[:, 0]] * rank[facts.rows[:, 1]])
    weight = mass / mass.max() if mass.max() > 0 else mass
    if similarity:
        for triple, value in similarity.items():
            place = facts.place_of.get(triple)
            if place is not None and (weight[place] > 0 or value >= least):
                weight[place] += value
        weight /= 2
    order = (int(place) for place in np.argsort(-weight, kind="stable") if weight[place] > 0)
    held = ((facts.triples[place], float(weight[place])) for place in order if facts.triples[place].holds_at(moment))
    return list(islice(held, limit))
