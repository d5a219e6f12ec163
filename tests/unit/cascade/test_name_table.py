"""Names in memory answer like the store that they stand for, and never of another state of the graph."""

import numpy as np
import pytest

from memvault.vectors.edge import EdgeStore
from memvault_cascade.adapters.graph_store import VectorGraphStore
from memvault_cascade.adapters.name_table import NameTable, NameTables
from memvault_cascade.domain.graph.model import Entity, GraphChange
from memvault_cascade.ports import Kind, Nearest

WIDTH = 16


def some_vectors(chance, count, first=0):
    table = chance.standard_normal((count, WIDTH)).astype(np.float32)
    table /= np.linalg.norm(table, axis=1, keepdims=True)
    return {f"e{first + place}": row for place, row in enumerate(table)}


def brute_force(vectors, question, limit):
    scored = [(one, min(1.0, max(0.0, float(vector @ question)))) for one, vector in vectors.items()]
    return sorted(scored, key=lambda hit: (-hit[1], hit[0]))[:limit]


@pytest.mark.parametrize("seed", range(5))
def test_the_nearest_are_the_nearest_also_after_names_went(seed):
    chance = np.random.default_rng(seed)
    vectors = some_vectors(chance, 700)
    table = NameTable(1)
    table.put(vectors)
    gone = [f"e{place}" for place in chance.choice(700, 300, replace=False)]
    table.drop([*gone, "unknown"])
    table.put({"e3": vectors["e4"]})
    left = {one: vector for one, vector in vectors.items() if one not in gone} | {"e3": vectors["e4"]}
    assert len(table) == len(left)
    questions = list(some_vectors(chance, 200).values())
    for question, found in zip(questions, table.nearest([(q, 5) for q in questions]), strict=True):
        expected = [similarity for _, similarity in brute_force(left, question, 5)]
        assert [similarity for _, similarity in found] == pytest.approx(expected, abs=1e-6)
        assert all(one in left for one, _ in found)


def test_an_empty_table_finds_nothing_and_a_small_one_all_it_has():
    question = next(iter(some_vectors(np.random.default_rng(1), 1).values()))
    assert NameTable(0).nearest([(question, 5)]) == [[]]
    table = NameTable(0)
    table.put({"e0": question})
    assert [one for one, _ in table.nearest([(question, 5)])[0]] == ["e0"]


def test_a_table_that_missed_a_write_is_dropped_and_the_oldest_give_way():
    chance = np.random.default_rng(2)
    tables = NameTables(50)
    tables.written("alice", 1, some_vectors(chance, 30), ())
    assert tables.at("alice", 1) is not None
    assert tables.at("alice", 2) is None
    tables.written("alice", 3, some_vectors(chance, 1), ())
    assert tables.at("alice", 3) is None
    tables.written("alice", 1, some_vectors(chance, 30), ())
    tables.written("bob", 1, some_vectors(chance, 30), ())
    assert tables.at("alice", 1) is None
    assert tables.at("bob", 1) is not None


@pytest.mark.parametrize("names_in_memory", [0, 1000])
async def test_the_store_finds_the_same_with_and_without_names_in_memory_also_after_a_restart(
    tmp_path, names_in_memory
):
    chance = np.random.default_rng(3)
    vectors = some_vectors(chance, 60)
    entities = tuple(Entity(one, one) for one in vectors)
    questions = [Nearest(f"q{i}", Kind.ENTITY, v, 5) for i, v in enumerate(some_vectors(chance, 20).values())]
    left = {one: vector for one, vector in vectors.items() if one != "e7"}
    for restarted in (False, True):
        store = VectorGraphStore(EdgeStore(tmp_path, flush_every_s=60), names_in_memory=names_in_memory, at_once=3)
        await store.start(WIDTH)
        if not restarted:
            await store.write("alice", GraphChange(entities=entities), vectors, 1)
            await store.write("alice", GraphChange(gone_entities=("e7",)), {}, 2)
            await store.write("bob", GraphChange(entities=entities[:1]), vectors, 1)
        found = await store.nearest("alice", questions)
        for question in questions:
            expected = brute_force(left, question.vector, 5)
            assert [one for one, _ in found[question.name]] == [one for one, _ in expected]
        await store.forget_user("alice", 5)
        assert not any((await store.nearest("alice", questions)).values())
        await store.write("alice", GraphChange(entities=entities), vectors, await store.version("alice") + 1)
        await store.write("alice", GraphChange(gone_entities=("e7",)), {}, await store.version("alice") + 1)
        await store.stop()
