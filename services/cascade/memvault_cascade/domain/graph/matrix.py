"""The graph as a matrix: entities first, then blocks, one undirected weighted edge list in CSR form.

Built once per revision of a graph and valid moment, shared by the walk, the centrality and the communities.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from numpy.typing import NDArray

    from memvault_cascade.domain.graph.model import UserGraph


@dataclass(frozen=True, slots=True)
class EdgeWeights:
    """How strong each sort of edge is; all at least 0, where 0 leaves the sort out.

    `fact` is one supporting block of a triple, `closed_fact` replaces it when the fact no longer holds, `mention`
    joins a block to an entity it names, and a synonym weighs its similarity times `synonym`.
    """

    fact: float = 1.0
    closed_fact: float = 0.25
    mention: float = 1.0
    synonym: float = 1.0


@dataclass(frozen=True, slots=True)
class GraphMatrix:
    """A symmetric adjacency (n x n, float64, no diagonal) with the ids of its rows.

    `block_frequency` (float64, one per entity) counts the blocks that mention it: the fewer, the more specific it is.
    """

    entity_ids: tuple[str, ...]
    block_ids: tuple[str, ...]
    row_of: Mapping[str, int]
    adjacency: sparse.csr_matrix
    block_frequency: NDArray[np.float64]

    @property
    def size(self) -> int:
        """Number of nodes."""
        return len(self.entity_ids) + len(self.block_ids)


def build_matrix(graph: UserGraph, weights: EdgeWeights, moment: datetime, *, past_only: bool = False) -> GraphMatrix:
    """Lay a graph out as a matrix as it stood at `moment`.

    Facts that do not hold then weigh `closed_fact`. With `past_only` the blocks stated after `moment` and the facts
    that did not hold are left out altogether: the view that `as_of` asks for.
    """
    block_ids = tuple(
        sorted(b.id for b in graph.blocks.values() if not b.quarantined and (not past_only or b.stated_at <= moment))
    )
    entity_ids = tuple(sorted(graph.entities))
    row_of = {node: row for row, node in enumerate((*entity_ids, *(_block_row(b) for b in block_ids)))}
    edges = _Edges(row_of)
    seen = set(block_ids)
    for triple in graph.triples.values():
        stated = (
            sum(1 for s in triple.support if s.block_id in seen or s.block_id not in graph.blocks)
            if triple.support
            else 1
        )
        factor = weights.fact if triple.holds_at(moment) else (0.0 if past_only else weights.closed_fact)
        edges.add(triple.subject_id, triple.object_id, factor * stated)
    frequency = np.zeros(len(entity_ids))
    for block_id in block_ids:
        for entity in graph.blocks[block_id].mentions:
            edges.add(entity, _block_row(block_id), weights.mention)
            if entity in row_of:
                frequency[row_of[entity]] += 1
    for group in graph.synonyms.values():
        for synonym in group:
            edges.add(synonym.first_id, synonym.second_id, weights.synonym * synonym.similarity)
    return GraphMatrix(entity_ids, block_ids, row_of, edges.matrix(), frequency)


def block_row(matrix: GraphMatrix, block_id: str) -> int | None:
    """Row of a block, or None when the matrix does not hold it."""
    return matrix.row_of.get(_block_row(block_id))


def _block_row(block_id: str) -> str:
    # Entity ids are hex digits; block ids are the caller's own and might look the same.
    return f"block:{block_id}"


class _Edges:
    """Collects undirected edges, then sums those that repeat."""

    def __init__(self, row_of: Mapping[str, int]) -> None:
        self._row_of = row_of
        self._found: list[tuple[int, int, float]] = []

    def add(self, one: str, other: str, weight: float) -> None:
        first, second = self._row_of.get(one, -1), self._row_of.get(other, -1)
        if first != second and first >= 0 and second >= 0 and weight > 0:
            self._found.append((first, second, weight))

    def matrix(self) -> sparse.csr_matrix:
        size = len(self._row_of)
        table = np.asarray(self._found, dtype=np.float64).reshape(-1, 3)
        first, second = table[:, 0].astype(np.int32), table[:, 1].astype(np.int32)
        rows, columns = np.concatenate((first, second)), np.concatenate((second, first))
        entries = (np.concatenate((table[:, 2], table[:, 2])), (rows, columns))
        summed: sparse.csr_matrix = sparse.coo_matrix(entries, shape=(size, size)).tocsr()
        return summed
