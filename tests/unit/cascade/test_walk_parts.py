"""R-31 and R-32: what a walk brings back, on graphs of a few nodes."""

from datetime import UTC, datetime

import numpy as np
import pytest

from memvault_cascade.domain.graph.linking import LinkLimits
from memvault_cascade.domain.graph.matrix import EdgeWeights
from memvault_cascade.domain.graph.model import BlockNode, Entity, Interval, Support, Synonym, Triple, UserGraph
from memvault_cascade.domain.graph.view import build_view, view_at
from memvault_cascade.domain.graph.walk import PathCosts, Paths, near_blocks, near_triples

pytestmark = pytest.mark.r("R-31", "R-32")

AT = datetime(2026, 3, 1, tzinfo=UTC)
LATER = datetime(2026, 4, 1, tzinfo=UTC)


def fact(subject, target, block="b1", **more):
    return Triple(f"{subject}>{target}", subject, "knows", "knows", target, (Support(block, AT),), **more)


def a_view(facts=(), blocks=(), synonyms=()):
    ids = {e for f in facts for e in (f.subject_id, f.object_id)} | {e for b in blocks for e in b.mentions}
    ids |= {e for s in synonyms for e in (s.first_id, s.second_id)}
    graph = UserGraph(
        "u",
        "1",
        {i: Entity(i, i.upper()) for i in ids},
        {f.id: f for f in facts},
        {b.id: b for b in blocks},
        {s.first_id: (s,) for s in synonyms},
    )
    return build_view(graph, EdgeWeights(), LinkLimits(), AT)


def block(identity, *mentions, at=AT):
    return BlockNode(identity, identity, mentions, at)


def steps(view, seeds, target):
    paths = Paths(view.graph, view.matrix, view.facts, seeds, PathCosts(), AT)
    return [(s.subject, s.predicate, s.object) for s in paths.to_block(target)]


def test_a_path_goes_over_facts_and_ends_with_the_fact_that_the_block_states():
    view = a_view([fact("a", "b"), fact("b", "c", "b2")], [block("b1", "a", "b"), block("b2", "b", "c")])
    assert steps(view, {"a"}, "b2") == [("A", "knows", "B"), ("B", "knows", "C")]


def test_where_no_fact_leads_the_path_names_the_company_the_synonym_or_the_mention():
    company = a_view(blocks=[block("b1", "a", "b"), block("b2", "b", "c"), block("b3", "c")])
    assert steps(company, {"a"}, "b3") == [("A", "mentioned_with", "B"), ("B", "mentioned_with", "C")]
    twins = a_view(blocks=[block("b1", "b")], synonyms=[Synonym("a", "b", 0.9)])
    assert steps(twins, {"a"}, "b1") == [("A", "same_as", "B")]
    assert steps(company, {"a"}, "b1") == [("A", "mentioned_in", "b1")]


def test_a_block_that_no_path_reaches_has_none():
    view = a_view(blocks=[block("b1", "a"), block("b2", "z")])
    assert steps(view, {"a"}, "b2") == []
    assert steps(view, set(), "b1") == []
    assert steps(view, {"a"}, "unknown") == []


def test_blocks_come_nearest_first_without_those_to_skip():
    view = a_view(blocks=[block("b1", "a"), block("b2", "a"), block("b3", "a")])
    rank = np.zeros(view.matrix.size)
    rank[1:] = 0.1, 0.4, 0.2
    assert near_blocks(view.matrix, rank, 2, {"b3"}) == [("b2", 1.0), ("b1", 0.25)]
    assert near_blocks(view.matrix, rank * 0, 2, ()) == []


def test_a_fact_is_near_when_both_ends_are_or_its_vector_is():
    view = a_view([fact("a", "b"), fact("a", "c"), fact("x", "y"), fact("v", "w")])
    rank = np.zeros(view.matrix.size)
    for entity, mass in {"a": 0.5, "b": 0.5, "c": 0.02}.items():
        rank[view.matrix.row_of[entity]] = mass
    near = dict(near_triples(view.facts, rank, ({"x>y": 0.6, "v>w": 0.2}, 0.35), AT, 5))
    assert [k.id for k in near] == ["a>b", "x>y", "a>c"]
    assert all(0 < weight <= 1 for weight in near.values())


def test_a_fact_that_no_longer_holds_is_not_brought_back():
    closed = fact("a", "b", intervals=(Interval(None, LATER),))
    view = a_view([closed])
    rank = np.ones(view.matrix.size)
    assert [t.id for t, _ in near_triples(view.facts, rank, ({}, 0.0), AT, 5)] == ["a>b"]
    assert near_triples(view.facts, rank, ({}, 0.0), LATER, 5) == []


def test_the_past_has_neither_later_blocks_nor_later_facts():
    view = a_view(
        [fact("a", "b", intervals=(Interval(AT),)), fact("a", "c", intervals=(Interval(LATER),))],
        [block("b1", "a", "b"), block("b2", "a", "c", at=LATER)],
    )
    then = view_at(view, EdgeWeights(), AT)
    assert then.matrix.block_ids == ("b1",)
    assert [t.id for t in then.facts.triples] == ["a>b"]


def test_a_view_made_from_an_older_one_knows_the_same_names_as_a_fresh_one():
    old = a_view(blocks=[block("b1", "paddle", "alice")])
    grown = UserGraph("u", "2", {**old.graph.entities, "kevin": Entity("kevin", "Kevin Lin")}, {}, old.graph.blocks)
    continued = build_view(grown, EdgeWeights(), LinkLimits(), AT, old)
    fresh = build_view(grown, EdgeWeights(), LinkLimits(), AT)
    assert continued.names == fresh.names
    assert "kevin lin" not in old.names.by_key
    shrunk = UserGraph("u", "3", {"kevin": Entity("kevin", "Kevin Lin")})
    assert set(build_view(shrunk, EdgeWeights(), LinkLimits(), AT, continued).names.by_key) == {"kevin lin"}
