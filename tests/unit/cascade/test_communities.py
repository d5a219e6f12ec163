"""R-30 and R-36: communities, on either engine, and their summaries."""

import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from scipy import sparse

from memvault_cascade.adapters.leiden_child import InChildAbove
from memvault_cascade.adapters.leiden_igraph import IgraphLeiden
from memvault_cascade.adapters.leiden_native import NativeLeiden
from memvault_cascade.domain.graph.communities import Cluster, CommunityLimits, cluster, entity_graph
from memvault_cascade.domain.graph.matrix import EdgeWeights, build_matrix
from memvault_cascade.domain.graph.model import BlockNode, Community, Entity, Support, Triple, UserGraph
from memvault_cascade.domain.graph.overview import FitNumbers, as_it_was, fitting
from memvault_cascade.domain.graph.summaries import Material, SummaryLimits, material, summarise

pytestmark = pytest.mark.r("R-30")

AT = datetime(2026, 3, 1, tzinfo=UTC)
ENGINES = [IgraphLeiden(resolution=1.0, seed=7), NativeLeiden(resolution=1.0, seed=7)]


def a_graph(blocks):
    names = {n for mentions in blocks.values() for n in mentions}
    nodes = {
        b: BlockNode(b, f"Block {b} speaks of {' and '.join(m)}.", tuple(m), AT + timedelta(days=i))
        for i, (b, m) in enumerate(blocks.items())
    }
    return UserGraph("u", "1", {n: Entity(n, n.upper()) for n in names}, {}, nodes)


TWO_CIRCLES = {
    "w1": ["ocr", "rust", "gpu"],
    "w2": ["ocr", "rust"],
    "w3": ["rust", "gpu"],
    "f1": ["mum", "cat", "tea"],
    "f2": ["mum", "cat"],
    "f3": ["cat", "tea"],
}


def cut(blocks, previous=(), engine=ENGINES[0], limits=None):
    graph = a_graph(blocks)
    return cluster(graph, build_matrix(graph, EdgeWeights(), AT), previous, engine, limits or CommunityLimits())


def as_community(found: Cluster):
    return Community(found.id, "", "", found.entity_ids, found.block_ids, found.fingerprint)


@pytest.mark.parametrize("engine", ENGINES)
def test_two_circles_of_a_life_are_two_communities(engine):
    found = cut(TWO_CIRCLES, engine=engine)
    assert {frozenset(c.entity_ids) for c in found} == {
        frozenset({"ocr", "rust", "gpu"}),
        frozenset({"mum", "cat", "tea"}),
    }
    assert {frozenset(c.block_ids) for c in found} == {frozenset({"w1", "w2", "w3"}), frozenset({"f1", "f2", "f3"})}


@pytest.mark.parametrize("engine", ENGINES)
def test_the_same_graph_is_always_cut_in_the_same_way(engine):
    rng = np.random.default_rng(3)
    blocks = {f"b{i}": [f"e{x}" for x in rng.choice(60, 4, replace=False)] for i in range(80)}
    assert cut(blocks, engine=engine) == cut(blocks, engine=engine)


def test_a_large_graph_is_cut_in_a_child_process_with_the_same_result():
    rng = np.random.default_rng(4)
    dense = rng.random((40, 40)) < 0.2
    adjacency = sparse.csr_matrix((dense | dense.T).astype(float) * (1 - np.eye(40)))
    in_child = InChildAbove(ENGINES[0], nodes=10).partition(adjacency, None)
    assert np.array_equal(in_child, ENGINES[0].partition(adjacency, None))


@pytest.mark.r("R-36")
def test_a_community_that_grew_keeps_its_id_and_the_untouched_one_its_fingerprint():
    before = [as_community(c) for c in cut(TWO_CIRCLES)]
    after = {frozenset(c.block_ids): c for c in cut({**TWO_CIRCLES, "w4": ["rust", "ocr", "nas"]}, before)}
    family = next(c for c in before if "f1" in c.block_ids)
    work = next(c for c in before if "w1" in c.block_ids)
    assert after[frozenset(family.block_ids)].fingerprint == family.fingerprint
    grown = after[frozenset({"w1", "w2", "w3", "w4"})]
    assert grown.id == work.id
    assert grown.fingerprint != work.fingerprint


@pytest.mark.r("R-36")
def test_a_fingerprint_tells_a_new_fact_inside_its_cluster_and_none_elsewhere():
    graph = a_graph(TWO_CIRCLES)
    fact = Triple("t1", "mum", "likes", "likes", "tea", (Support("f1", AT),))

    def prints(of):
        found = cluster(of, build_matrix(graph, EdgeWeights(), AT), (), ENGINES[0], CommunityLimits())
        return {"family" if "mum" in c.entity_ids else "work": c.fingerprint for c in found}

    before, after = prints(graph), prints(replace(graph, triples={"t1": fact}))
    assert after["family"] != before["family"]
    assert after["work"] == before["work"]


def test_a_cluster_with_one_block_or_one_entity_is_no_community():
    assert cut({"b1": ["a", "b"]}) == ()
    assert cut({"b1": ["a"], "b2": ["a"]}) == ()
    assert cut({}) == ()


def test_a_long_block_joins_no_more_than_a_short_one():
    graph = a_graph({"long": ["a", "b", "c", "d", "e"], "short": ["x", "y"]})
    joined = entity_graph(build_matrix(graph, EdgeWeights(), AT)).sum(axis=1)
    assert np.allclose(joined, 1.0)


def test_a_summary_quotes_members_and_leaves_superseded_blocks_out():
    graph = a_graph(TWO_CIRCLES)
    old = BlockNode("w1", "OCR is at 10 percent.", ("ocr", "rust"), AT, superseded_by="w2")
    graph = UserGraph("u", "2", graph.entities, {}, {**graph.blocks, "w1": old})
    said = material(graph, ("ocr", "rust"), ("w1", "w2"), SummaryLimits())
    assert said.title == "OCR · RUST"
    assert "10 percent" not in summarise(said, SummaryLimits())
    assert "w2" in summarise(said, SummaryLimits())


@pytest.mark.parametrize("size", [20, 60, 600])
def test_a_summary_is_never_longer_than_its_limit(size):
    said = Material("T", (), tuple(f"Sentence number {i} is about tea and cats." for i in range(60)))
    assert 0 < len(summarise(said, SummaryLimits(max_chars=size))) <= size


def test_a_community_fits_by_its_summary_or_by_holding_the_seeds():
    near, holding, neither = (Community(i, "", "", (f"e{i}",), ("b",), "") for i in "abc")
    found = fitting([near, holding, neither], {"a": 0.4, "c": 0.05}, {"eb": 1.0}, FitNumbers(0.5, 0.15), 5)
    assert [(f.community.id, round(f.fit, 2)) for f in found] == [("b", 0.5), ("a", 0.4)]


def test_as_of_leaves_later_blocks_out_of_a_summary():
    graph = a_graph(TWO_CIRCLES)
    whole = Community("c", "", "all of it", ("ocr", "rust"), ("w1", "w2", "w3"), "")
    limits = SummaryLimits()
    assert as_it_was(graph, whole, AT + timedelta(days=9), limits) is whole
    then = as_it_was(graph, whole, AT + timedelta(hours=1), limits)
    assert then.block_ids == ("w1",)
    assert "w2" not in then.summary
    assert as_it_was(graph, whole, AT - timedelta(days=1), limits) is None


def test_cutting_a_graph_does_not_load_what_only_draws() -> None:
    told = (
        "import sys; from memvault_cascade.adapters.leiden_igraph import IgraphLeiden; from scipy import sparse; "
        "IgraphLeiden(resolution=1.0, seed=7).partition(sparse.csr_matrix([[0, 1.0], [1.0, 0]]), None); "
        "assert 'leidenalg' in sys.modules; assert 'matplotlib' not in sys.modules; import matplotlib"
    )
    subprocess.run([sys.executable, "-c", told], check=True, timeout=60)
