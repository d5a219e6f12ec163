"""What a graph says must not depend on the order in which blocks came (R-17a, R-31, R-34, R-36)."""

import tomllib
from dataclasses import replace
from importlib.resources import files
from itertools import permutations

import pytest

from memvault_cascade.domain.graph.extraction import Fact
from memvault_cascade.domain.graph.ppr import WalkLimits, centrality
from tests.unit.cascade.conftest import USER, House, a_block

OLD, NEWER, NEWEST = (
    a_block("old", "The server uses Postgres.", days_ago=30, facts=[Fact("server", "database", "Postgres")]),
    a_block("newer", "Now it is SQLite.", days_ago=20, facts=[Fact("server", "database", "SQLite")]),
    a_block("newest", "Still SQLite.", days_ago=3, facts=[Fact("server", "database", "SQLite")]),
)


def bounded(block):
    """The block as search confirms it: it holds from the moment it was stated."""
    return replace(block, valid_from=block.stated_at)


@pytest.mark.r("R-34")
@pytest.mark.parametrize("order", list(permutations((OLD, NEWER, NEWEST))), ids=lambda o: "-".join(b.id for b in o))
async def test_a_fact_has_the_bounds_of_its_newest_statement_whichever_came_last(rules, order):
    house = House(rules)
    for block in order:
        await house.ingest.block(bounded(block))
    triples = (await house.graphs.state(USER)).graph.triples.values()
    bounds = sorted((t.given_from, t.given_to, t.intervals, len(t.support)) for t in triples)
    expected = House(rules)
    for block in (OLD, NEWER, NEWEST):
        await expected.ingest.block(bounded(block))
    reference = (await expected.graphs.state(USER)).graph.triples.values()
    assert bounds == sorted((t.given_from, t.given_to, t.intervals, len(t.support)) for t in reference)
    assert max(start for start, *_ in bounds) == NEWEST.stated_at


@pytest.mark.r("R-17a", "R-34")
async def test_a_database_that_was_replaced_is_closed_in_the_graph_too(house):
    await house.ingest.block(OLD)
    await house.ingest.block(NEWER)
    graph = (await house.graphs.state(USER)).graph
    in_force = {graph.entities[t.object_id].name for t in graph.triples.values() if t.valid_to is None}
    assert in_force == {"SQLite"}


@pytest.mark.r("R-17a")
def test_search_and_the_graph_agree_on_what_has_one_value_at_a_time(rules):
    """Otherwise one part of an answer calls a statement superseded and the other shows its fact as in force."""
    data = (files("memvault_search") / "data" / "single_valued.toml").read_text(encoding="utf-8")
    wordings = [word for words in tomllib.loads(data).values() for word in words]
    assert wordings
    assert [word for word in wordings if rules.predicates.key(word) not in rules.predicates.single_valued] == []


@pytest.mark.r("R-36")
@pytest.mark.parametrize("behind", [False, True])
async def test_after_a_night_every_centrality_is_exact_however_small_the_steps_were(house, behind):
    coarse = replace(house.garden._parts.limits, centrality_step=0.9)
    house.garden._parts = replace(house.garden._parts, limits=coarse)
    facts = [Fact("Alice", "uses", "Rust"), Fact("Bob", "leads", "Falcon"), Fact("Carol", "owns", "Owl")]
    for number in range(12):
        await house.ingest.block(a_block(f"b{number}", "Noted.", facts=facts[: 1 + number % 3]))
        await house.garden.tend(USER)
    if behind:
        await house.ingest.block(a_block("last", "Alice uses Go for Project Y1."))
    await house.dream.run("night", "")
    state = await house.graphs.state(USER)
    exact = centrality((await house.graphs.view(USER)).matrix, WalkLimits())
    assert len({round(value, 4) for value in exact.values()}) > 2
    assert {b.id: b.centrality for b in state.graph.blocks.values()} == {b: round(v, 4) for b, v in exact.items()}
    assert state.version == state.community_version
