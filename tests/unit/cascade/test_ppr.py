"""R-31 and R-13 stage 7: the walk over golden small graphs."""

from datetime import UTC, datetime

import networkx as nx
import numpy as np
import pytest
from scipy import sparse

from memvault_cascade.domain.graph.matrix import EdgeWeights, build_matrix
from memvault_cascade.domain.graph.model import BlockNode, Entity, Interval, Support, Triple, UserGraph
from memvault_cascade.domain.graph.ppr import (
    Seeds,
    SeedWeights,
    WalkLimits,
    centrality,
    personalised_pagerank,
    restart_vector,
)

pytestmark = pytest.mark.r("R-31")

AT = datetime(2026, 3, 1, tzinfo=UTC)


def a_graph(facts, blocks):
    """Facts as (subject, object), blocks as id -> mentions; names are their own ids."""
    names = {n for fact in facts for n in fact} | {n for mentions in blocks.values() for n in mentions}
    triples = {f"{s}>{o}": Triple(f"{s}>{o}", s, "is near", "is near", o, (Support("b", AT),)) for s, o in facts}
    return UserGraph(
        "u",
        "1",
        {n: Entity(n, n) for n in names},
        triples,
        {b: BlockNode(b, f"about {b}", tuple(mentions), AT) for b, mentions in blocks.items()},
    )


@pytest.mark.parametrize("damping", [0.85, 0.5])
def test_the_walk_agrees_with_networkx(damping):
    reference = nx.karate_club_graph()
    adjacency = sparse.csr_matrix(nx.to_scipy_sparse_array(reference, weight="weight"))
    restart = np.zeros(34)
    restart[[0, 33]] = 0.25, 0.75
    ours = personalised_pagerank(adjacency, restart, WalkLimits(damping=damping, tolerance=1e-12, max_rounds=500))
    theirs = nx.pagerank(reference, alpha=damping, personalization={0: 0.25, 33: 0.75}, tol=1e-12, max_iter=500)
    assert np.allclose(ours, [theirs[n] for n in range(34)], atol=1e-8)
    assert ours.sum() == pytest.approx(1)


def test_a_walk_that_starts_at_an_island_stays_there():
    adjacency = sparse.csr_matrix(np.asarray([[0, 1, 0], [1, 0, 0], [0, 0, 0]], float))
    rank = personalised_pagerank(adjacency, np.asarray([0, 0, 1.0]), WalkLimits())
    assert rank == pytest.approx([0, 0, 1])


def test_without_seeds_nothing_is_near():
    adjacency = sparse.csr_matrix(np.ones((2, 2)))
    assert personalised_pagerank(adjacency, np.zeros(2), WalkLimits()).sum() == 0


def test_lower_damping_stays_nearer_to_the_seed():
    matrix = build_matrix(a_graph([("a", "b"), ("b", "c"), ("c", "d")], {}), EdgeWeights(), AT)
    restart = np.asarray([1.0, 0, 0, 0])
    far, near = (personalised_pagerank(matrix.adjacency, restart, WalkLimits(damping=d)) for d in (0.85, 0.5))
    assert near[0] > far[0]
    assert near[3] < far[3]


def test_a_specific_entity_is_a_stronger_seed_than_a_common_one():
    graph = a_graph([], {"b1": ["common", "rare"], "b2": ["common"], "b3": ["common"]})
    matrix = build_matrix(graph, EdgeWeights(), AT)
    restart = restart_vector(matrix, Seeds({"common": 1.0, "rare": 1.0}, {}, {}), {}, SeedWeights())
    assert restart[matrix.row_of["rare"]] == pytest.approx(3 * restart[matrix.row_of["common"]])
    flat = restart_vector(matrix, Seeds({"common": 1.0, "rare": 1.0}, {}, {}), {}, SeedWeights(specificity=0))
    assert flat[matrix.row_of["rare"]] == pytest.approx(flat[matrix.row_of["common"]])


def test_a_fast_block_seeds_its_entities_and_weakly_itself():
    graph = a_graph([], {"b1": ["x"], "b2": ["y"]})
    matrix = build_matrix(graph, EdgeWeights(), AT)
    restart = restart_vector(matrix, Seeds({}, {}, {"b1": 1.0, "unknown": 1.0}), {"b1": ("x",)}, SeedWeights())
    assert restart[matrix.row_of["x"]] > restart[matrix.row_of["block:b1"]] > 0
    assert restart[matrix.row_of["y"]] == 0
    assert restart.sum() == pytest.approx(1)


@pytest.mark.r("R-13")
def test_centrality_is_one_for_the_hub_zero_for_the_unlinked_and_between_for_the_rest():
    graph = a_graph([], {"hub": ["a", "b", "c"], "x": ["a"], "y": ["b"], "z": ["c"], "lone": []})
    ranks = centrality(build_matrix(graph, EdgeWeights(), AT), WalkLimits())
    assert ranks["hub"] == 1
    assert ranks["lone"] == 0
    assert all(0 <= ranks[b] < 1 for b in "xyz")


def test_centrality_of_an_empty_graph_and_of_one_block():
    assert centrality(build_matrix(a_graph([], {}), EdgeWeights(), AT), WalkLimits()) == {}
    assert centrality(build_matrix(a_graph([], {"b": []}), EdgeWeights(), AT), WalkLimits()) == {"b": 0.0}


def test_quarantined_blocks_are_no_nodes():
    graph = a_graph([], {"b1": ["x"]})
    spoilt = UserGraph("u", "2", graph.entities, {}, {"b1": BlockNode("b1", "", ("x",), AT, quarantined=True)})
    assert build_matrix(spoilt, EdgeWeights(), AT).block_ids == ()


def test_a_closed_fact_carries_less_and_none_when_the_past_is_asked_for():
    later = datetime(2026, 4, 1, tzinfo=UTC)
    closed = Triple("t", "a", "p", "p", "b", (), intervals=(Interval(AT, later),))
    graph = UserGraph("u", "1", {n: Entity(n, n) for n in "ab"}, {"t": closed}, {})
    weights = EdgeWeights(fact=1, closed_fact=0.25)
    assert build_matrix(graph, weights, AT).adjacency.sum() == 2
    assert build_matrix(graph, weights, later).adjacency.sum() == 0.5
    assert build_matrix(graph, weights, later, past_only=True).adjacency.sum() == 0
