"""Communities of a graph (R-30, layer L1).

Leiden (Traag et al., 2019) over entities, with ids that last from night to night.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from scipy import sparse

from memvault_cascade.domain.graph.names import SELF_NAME, entity_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from memvault_cascade.domain.graph.matrix import GraphMatrix
    from memvault_cascade.domain.graph.model import Community, Triple, UserGraph


class Partitioner(Protocol):
    """Cuts a weighted graph into clusters, always in the same way for the same input."""

    def partition(self, adjacency: sparse.csr_matrix, start: NDArray[np.int64] | None) -> NDArray[np.int64]:
        """Label of every node (n, int64).

        `start` are the labels of the last run, so that a small change stays a small change.
        """
        ...


@dataclass(frozen=True, slots=True)
class CommunityLimits:
    """What counts as a community.

    A cluster with fewer entities or blocks than the minima is none; members beyond the maxima are left out, the
    lightest first. A block belongs to each cluster that holds at least `block_share` (0 to 1) of what it names, and to
    the one that holds most.
    """

    min_entities: int = 2
    min_blocks: int = 2
    max_entities: int = 200
    max_blocks: int = 200
    block_share: float = 0.5


@dataclass(frozen=True, slots=True)
class Cluster:
    """A community before it has a summary.

    Members with the heaviest first, and the hash of all that its summary is made of.
    """

    id: str
    entity_ids: tuple[str, ...]
    block_ids: tuple[str, ...]
    fingerprint: str


def cluster(
    graph: UserGraph,
    matrix: GraphMatrix,
    previous: Sequence[Community],
    partitioner: Partitioner,
    limits: CommunityLimits,
) -> tuple[Cluster, ...]:
    """Cut the entities; a cluster that shares most of its entities with a former community keeps that one's id.

    Two entities belong together when a fact or a synonym joins them, or when a block names both; a block belongs where
    most of what it names is. Clusters are ordered by size, the largest first, then by id.
    """
    together = _without_self(entity_graph(matrix), matrix)
    if together.nnz == 0:
        return ()
    labels = partitioner.partition(together, _starting_labels(matrix, previous))
    found = list(_members(matrix, together, labels, limits))
    ids = _lasting_ids([entities for entities, _ in found], previous)
    facts = _facts_by_subject(graph)
    clusters = [
        Cluster(community_id, entities, blocks, _fingerprint(graph, entities, blocks, facts))
        for community_id, (entities, blocks) in zip(ids, found, strict=True)
    ]
    return tuple(sorted(clusters, key=lambda c: (-len(c.entity_ids), c.id)))


def entity_graph(matrix: GraphMatrix) -> sparse.csr_matrix:
    """Entities alone (symmetric, no diagonal): facts, synonyms, and one unit per entity shared out by each block.

    A block that names n entities adds 1 / (n - 1) to each pair of them, so that a long block joins no more than a
    short one does.
    """
    count = len(matrix.entity_ids)
    direct = matrix.adjacency[:count, :count]
    named = (matrix.adjacency[:count, count:] > 0).astype(np.float64)
    share = 1.0 / np.maximum(1.0, np.asarray(named.sum(axis=0)).ravel() - 1.0)
    joined = (named @ sparse.diags(share) @ named.T).tolil()
    joined.setdiag(0)
    summed: sparse.csr_matrix = (direct + joined.tocsr()).tocsr()
    summed.eliminate_zeros()
    return summed


def _facts_by_subject(graph: UserGraph) -> Mapping[str, Sequence[Triple]]:
    """What is stated of each entity, so that no cluster looks through the facts of all others."""
    found: dict[str, list[Triple]] = defaultdict(list)
    for triple in graph.triples.values():
        if graph.is_stated(triple):
            found[triple.subject_id].append(triple)
    return found


def _fingerprint(
    graph: UserGraph, entity_ids: Sequence[str], block_ids: Sequence[str], facts: Mapping[str, Sequence[Triple]]
) -> str:
    """Hash of members, texts and facts of a cluster (16 hex digits).

    Equal as long as its summary would be made of the same things.
    """
    members = set(entity_ids)
    inside = sorted(
        f"{t.id}{t.valid_to}{len(t.support)}"
        for member in members
        for t in facts.get(member, ())
        if t.object_id in members
    )
    texts = sorted(f"{b}\x1f{graph.blocks[b].text}" for b in block_ids)
    return hashlib.sha256("\x1e".join((*sorted(members), *inside, *texts)).encode()).hexdigest()[:16]


def _without_self(together: sparse.csr_matrix, matrix: GraphMatrix) -> sparse.csr_matrix:
    """The graph without the user, who is near to everything and would join what has nothing in common."""
    row = matrix.row_of.get(entity_id(SELF_NAME))
    if row is None:
        return together
    kept = np.ones(together.shape[0])
    kept[row] = 0.0
    masked: sparse.csr_matrix = (sparse.diags(kept) @ together @ sparse.diags(kept)).tocsr()
    masked.eliminate_zeros()
    return masked


def _starting_labels(matrix: GraphMatrix, previous: Sequence[Community]) -> NDArray[np.int64] | None:
    if not previous:
        return None
    count = len(matrix.entity_ids)
    # Entities that no former community held start alone.
    labels = np.arange(count, dtype=np.int64) + len(previous)
    for label, community in enumerate(previous):
        for entity in community.entity_ids:
            row = matrix.row_of.get(entity)
            if row is not None:
                labels[row] = label
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)


def _members(
    matrix: GraphMatrix, together: sparse.csr_matrix, labels: NDArray[np.int64], limits: CommunityLimits
) -> Iterable[tuple[tuple[str, ...], tuple[str, ...]]]:
    strength = np.asarray(together.sum(axis=1)).ravel()
    entities_of: dict[int, list[str]] = defaultdict(list)
    # A stable sort by falling strength; ties keep the order of ids.
    for row in np.argsort(-strength, kind="stable"):
        if strength[row] > 0:
            entities_of[int(labels[row])].append(matrix.entity_ids[row])
    blocks_of = _blocks_by_label(matrix, labels, limits.block_share)
    for label in sorted(entities_of):
        entities, blocks = tuple(entities_of[label]), tuple(blocks_of[label])
        if len(entities) >= limits.min_entities and len(blocks) >= limits.min_blocks:
            yield entities[: limits.max_entities], blocks[: limits.max_blocks]


def _blocks_by_label(matrix: GraphMatrix, labels: NDArray[np.int64], least_share: float) -> dict[int, list[str]]:
    """Blocks under each label that holds its share of their entities, those with the most such entities first."""
    count = len(matrix.entity_ids)
    begins, columns, weights = matrix.adjacency.indptr, matrix.adjacency.indices, matrix.adjacency.data
    found: dict[int, list[tuple[float, str]]] = defaultdict(list)
    for place, block in enumerate(matrix.block_ids, start=count):
        own = slice(begins[place], begins[place + 1])
        if own.start == own.stop:
            continue
        mass = np.bincount(labels[columns[own]], weights=weights[own])
        for label in np.flatnonzero(mass >= min(mass.max(), least_share * mass.sum())):
            found[int(label)].append((float(mass[label]), block))
    ordered = {label: sorted(blocks, key=lambda item: (-item[0], item[1])) for label, blocks in found.items()}
    return defaultdict(list, {label: [block for _, block in blocks] for label, blocks in ordered.items()})


def _lasting_ids(clusters: Sequence[Sequence[str]], previous: Sequence[Community]) -> list[str]:
    """Give each cluster the id of the former community it overlaps most (Jaccard at least 0.3), greedily.

    Others a new id from their members.
    """
    holders: Mapping[str, str] = {entity: c.id for c in previous for entity in c.entity_ids}
    sizes = {c.id: len(c.entity_ids) for c in previous}
    offers: list[tuple[float, int, str]] = []
    for index, entities in enumerate(clusters):
        shared: dict[str, int] = defaultdict(int)
        for entity in entities:
            if entity in holders:
                shared[holders[entity]] += 1
        offers += [(count / (len(entities) + sizes[former] - count), index, former) for former, count in shared.items()]
    ids: dict[int, str] = {}
    taken: set[str] = set()
    for overlap, index, former in sorted(offers, key=lambda o: (-o[0], o[1], o[2])):
        if overlap >= SAME_COMMUNITY_OVERLAP and index not in ids and former not in taken:
            ids[index] = former
            taken.add(former)
    return [ids.get(index) or _new_id(entities, taken) for index, entities in enumerate(clusters)]


def _new_id(entities: Sequence[str], taken: set[str]) -> str:
    for salt in range(len(taken) + 1):
        candidate = hashlib.sha256("\x1f".join(("community", str(salt), *sorted(entities))).encode()).hexdigest()[:24]
        if candidate not in taken:
            taken.add(candidate)
            return candidate
    message = "no free community id: more salts than ids taken were tried"
    raise RuntimeError(message)


SAME_COMMUNITY_OVERLAP = 0.3
"""Jaccard overlap of entities from which on a cluster counts as last night's community grown or shrunk."""
