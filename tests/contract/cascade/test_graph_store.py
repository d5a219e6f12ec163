"""One suite for every `GraphStore`: in memory, on the embedded engine, on a server's client."""

from datetime import UTC, datetime

import numpy as np
import pytest
from qdrant_client import AsyncQdrantClient

from memvault.vectors.edge import EdgeStore
from memvault.vectors.server import ServerStore
from memvault_cascade.adapters.graph_store import VectorGraphStore
from memvault_cascade.adapters.memory import DIMENSION, MemoryStore, word_vector
from memvault_cascade.domain.graph.model import (
    BlockNode,
    Community,
    Entity,
    EntityKind,
    GraphChange,
    Interval,
    Support,
    Synonym,
    Triple,
)
from memvault_cascade.ports import Kind, Nearest, Totals

AT = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)
EXTRACTED = True
ALICE = Entity("e1", "Alice", EntityKind.NAME, ("Alice Chen", "小艾"))
RUST = Entity("e2", "Rust", EntityKind.NAME)
USES = Triple(
    "t1", "e1", "uses", "uses", "e2", (Support("b1", AT), Support("b2", AT, external=True)), 0.8, EXTRACTED, AT, None,
    (Interval(None, AT), Interval(AT, None)), "t9",
)  # fmt: skip
BLOCK = BlockNode(
    "b1", "Alice 用 Rust", ("e1", "e2"), AT, 3, "digest", quarantined=True, superseded_by="b2", centrality=0.5
)
CHANGE = GraphChange((ALICE, RUST), (USES,), (BLOCK,), (Synonym("e1", "e2", 0.7),))
VECTORS = {"e1": word_vector("Alice"), "e2": word_vector("Rust"), "t1": word_vector("Alice uses Rust")}
COMMUNITY = Community("c1", "Alice · Rust", "Alice uses Rust.", ("e1", "e2"), ("b1",), "f", "extractive")


@pytest.fixture(params=["memory", "edge", "server"])
async def store(request, tmp_path):
    if request.param == "memory":
        yield MemoryStore()
        return
    inner = (
        EdgeStore(tmp_path, flush_every_s=60) if request.param == "edge" else ServerStore(AsyncQdrantClient(":memory:"))
    )
    opened = VectorGraphStore(inner)
    await opened.start(DIMENSION)
    yield opened
    await opened.stop()


async def test_what_was_written_is_read_back_whole(store):
    await store.write("alice", CHANGE, VECTORS, 1)
    state = await store.load("alice")
    assert state.graph.entities == {"e1": ALICE, "e2": RUST}
    assert state.graph.triples == {"t1": USES}
    assert state.graph.blocks == {"b1": BLOCK}
    assert state.graph.synonyms == {"e1": (Synonym("e1", "e2", 0.7),)}
    assert (state.version, await store.version("alice")) == (1, 1)


async def test_a_user_nobody_wrote_for_has_an_empty_graph(store):
    state = await store.load("nobody")
    assert (state.version, dict(state.graph.entities), state.communities) == (0, {}, ())


async def test_a_changed_part_keeps_its_vector(store):
    await store.write("alice", CHANGE, VECTORS, 1)
    await store.write("alice", GraphChange(entities=(Entity("e1", "Alice", aliases=("A.",)),)), {}, 2)
    assert (await store.load("alice")).graph.entities["e1"].aliases == ("A.",)
    found = await store.nearest("alice", [Nearest("q", Kind.ENTITY, word_vector("Alice"), 1)])
    assert found["q"][0] == ("e1", pytest.approx(1, abs=1e-5))


async def test_vectors_answer_by_kind_and_never_for_another_user(store):
    await store.write("alice", CHANGE, VECTORS, 1)
    await store.write("bob", GraphChange(entities=(Entity("e7", "Alice"),)), {"e7": word_vector("Alice")}, 1)
    ask = [
        Nearest("facts", Kind.TRIPLE, word_vector("Alice uses Rust"), 5),
        Nearest("names", Kind.ENTITY, word_vector("Alice"), 5),
        Nearest("overview", Kind.COMMUNITY, word_vector("Alice"), 5),
    ]
    found = await store.nearest("alice", ask)
    assert [i for i, _ in found["facts"]] == ["t1"]
    assert [i for i, _ in found["names"]] == ["e1", "e2"]
    assert found["overview"] == []
    assert all(0 <= s <= 1 for hits in found.values() for _, s in hits)
    assert await store.nearest("mallory", ask) == {"facts": [], "names": [], "overview": []}


async def test_what_goes_is_gone_from_graph_and_vectors(store):
    await store.write("alice", CHANGE, VECTORS, 1)
    await store.write("alice", GraphChange(gone_entities=("e2",), gone_triples=("t1",), gone_blocks=("b1",)), {}, 2)
    graph = (await store.load("alice")).graph
    assert (list(graph.entities), list(graph.triples), list(graph.blocks)) == (["e1"], [], [])
    assert (await store.nearest("alice", [Nearest("q", Kind.TRIPLE, word_vector("Rust"), 5)]))["q"] == []


async def test_communities_are_replaced_and_know_the_graph_they_were_made_from(store):
    await store.write("alice", CHANGE, VECTORS, 4)
    await store.write_communities("alice", [COMMUNITY], {"c1": word_vector(COMMUNITY.summary)}, [], 4)
    state = await store.load("alice")
    assert (state.communities, state.community_version, state.version) == ((COMMUNITY,), 4, 4)
    assert (await store.version("alice"), await store.community_version("alice")) == (4, 4)
    assert (await store.nearest("alice", [Nearest("q", Kind.COMMUNITY, word_vector("Rust"), 1)]))["q"][0][0] == "c1"
    await store.write_communities("alice", [], {}, ["c1"], 5)
    assert (await store.load("alice")).communities == ()
    assert (await store.community_version("alice"), await store.community_version("nobody")) == (5, 0)


@pytest.mark.r("R-62")
async def test_a_forgotten_user_leaves_a_note_and_nothing_else(store):
    await store.write("alice", CHANGE, VECTORS, 1)
    await store.write("bob", CHANGE, VECTORS, 1)
    await store.bury("alice", ["b1"], 7)
    assert (await store.load("alice")).forgotten == {"b1": 7}
    await store.forget_user("alice", 9)
    state = await store.load("alice")
    assert (dict(state.graph.entities), dict(state.graph.blocks), dict(state.forgotten)) == ({}, {}, {})
    assert state.forgotten_through == 9
    assert state.version > 1
    assert (await store.load("bob")).graph.triples == {"t1": USES}
    assert await store.users() == ["alice", "bob"]


@pytest.mark.r("R-62")
async def test_of_several_requests_to_forget_a_user_the_latest_place_on_the_bus_counts(store):
    await store.forget_user("alice", 9)
    await store.forget_user("alice", 0)
    assert (await store.load("alice")).forgotten_through == 9
    await store.write("alice", CHANGE, VECTORS, 5)
    await store.forget_through("alice", 30)
    await store.forget_through("alice", 20)
    state = await store.load("alice")
    assert (state.forgotten_through, state.version, len(state.graph.blocks)) == (30, 5, 1)


async def test_more_parts_than_a_page_are_all_read(store):
    many = tuple(Entity(f"e{i}", f"Name {i}") for i in range(1200))
    vector = np.zeros(DIMENSION, np.float32)
    vector[0] = 1
    await store.write("alice", GraphChange(entities=many), {e.id: vector for e in many}, 1)
    assert len((await store.load("alice")).graph.entities) == 1200


async def test_totals_are_counted_for_one_user_and_for_all(store):
    await store.write("alice", CHANGE, VECTORS, 4)
    await store.write_communities("alice", [COMMUNITY], {"c1": word_vector("x y")}, [], 4)
    await store.write("bob", CHANGE, VECTORS, 2)
    assert await store.totals("alice") == Totals(2, 1, 1, 4, 4)
    assert await store.totals("") == Totals(4, 2, 1, 4, 0)
    assert await store.totals("nobody") == Totals()
