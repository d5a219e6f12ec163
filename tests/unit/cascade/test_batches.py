"""Blocks that come together make the graph that they make one by one (R-34, R-60), and none spoils the others."""

import asyncio
import random
from dataclasses import replace

import pytest

from memvault.faults import Fault, Reason
from memvault_cascade.adapters.memory import MemoryStore, WordVectors
from memvault_cascade.domain.graph.extraction import Fact
from tests.unit.cascade.conftest import NOW, USER, House, a_block

NAMES = (
    "Alice Mei Chen",
    "Alice Mei Chan",
    "Bob Lee",
    "Acme Tea Corp",
    "Acme Tea House",
    "Falcon Project",
    "Owl 7",
    "Owl 8",
)
PLACES = ("Taipei", "Tainan", "Hsinchu")
SEEDS = range(24)


def some_blocks(chance, count):
    """Blocks with repeated names, contradicting facts, new versions and the same events twice."""
    blocks = []
    for number in range(count):
        who, other = chance.sample(NAMES, 2)
        facts = [Fact(who, "knows", other)]
        if chance.random() < 0.5:
            facts.append(Fact(who, "lives in", chance.choice(PLACES)))
        identity = f"b{chance.randrange(count)}"
        version = 1 + sum(b.id == identity for b in blocks)
        text = f"{who.upper() if chance.random() < 0.2 else who} met {other} in {chance.choice(PLACES)}."
        given = facts if chance.random() < 0.7 else []
        days_ago = chance.uniform(1, 300)
        blocks.append(a_block(identity, text, facts=given, days_ago=days_ago, version=version, sequence=number + 1))
        if chance.random() < 0.15:
            blocks.append(chance.choice(blocks))
    return blocks


async def one_by_one(house, blocks):
    for block in blocks:
        await house.ingest.block(block)


async def together(house, blocks):
    return await asyncio.gather(*(house.ingest.block(block) for block in blocks))


async def what_is_kept(house):
    """The graph in memory and in the store, and the last mark of each block; similarities may differ by rounding."""
    graph = (await house.graphs.state(USER)).graph
    stored = (await house.store.load(USER)).graph
    assert (stored.entities, stored.triples, stored.blocks) == (graph.entities, graph.triples, graph.blocks)
    synonyms = {
        one: {s.second_id: pytest.approx(s.similarity, abs=1e-5) for s in group}
        for one, group in graph.synonyms.items()
    }
    marks = {note.block_id: note.superseded_by for note in house.told.annotations.get(USER, [])}
    return dict(graph.entities), dict(graph.triples), dict(graph.blocks), synonyms, marks


@pytest.mark.r("R-34", "R-60")
@pytest.mark.parametrize("seed", SEEDS)
async def test_a_batch_makes_the_graph_that_its_blocks_make_one_by_one(rules, seed):
    chance = random.Random(seed)
    blocks = some_blocks(chance, chance.randrange(2, 24))
    apart, joined = House(rules), House(rules)
    for house in (apart, joined):
        await one_by_one(house, some_blocks(random.Random(seed + 1000), 3))
        await house.ingest.forget(USER, ["b0"], 2)
    await one_by_one(apart, blocks)
    await together(joined, chance.sample(blocks, len(blocks)) if seed % 2 else blocks)
    assert await what_is_kept(joined) == await what_is_kept(apart)
    assert (await joined.graphs.state(USER)).version <= (await apart.graphs.state(USER)).version


async def test_names_that_come_together_are_synonyms_as_if_one_had_been_there_before(house):
    await together(
        house, [a_block(f"b{i}", "Noted.", facts=[Fact(name, "is", "here")]) for i, name in enumerate(NAMES)]
    )
    graph = (await house.graphs.state(USER)).graph
    joined = {
        frozenset((graph.entities[s.first_id].name, graph.entities[s.second_id].name))
        for group in graph.synonyms.values()
        for s in group
    }
    assert joined == {frozenset(NAMES[:2]), frozenset(NAMES[3:5])}


async def test_the_events_of_a_batch_again_change_nothing(rules):
    house = House(rules)
    blocks = some_blocks(random.Random(3), 12)
    await together(house, blocks)
    version = (await house.graphs.state(USER)).version
    assert not any(await together(house, blocks))
    assert (await house.graphs.state(USER)).version == version


class Counting(WordVectors):
    """Remembers what it was asked for."""

    def __init__(self):
        self.calls = []

    async def passages(self, texts):
        self.calls.append(list(texts))
        return await super().passages(texts)


class CountingStore(MemoryStore):
    """Counts writes."""

    def __init__(self):
        super().__init__()
        self.writes = 0

    async def write(self, user_id, change, vectors, version):
        self.writes += 1
        await super().write(user_id, change, vectors, version)


async def test_blocks_that_come_together_are_embedded_at_once_and_written_once(rules):
    house = House(rules, CountingStore(), Counting())
    await together(house, [a_block(f"b{i}", f"Person{i} uses Tool{i}.") for i in range(30)])
    assert len(house.vectors.calls) == 1
    assert house.store.writes == 1


async def test_a_batch_is_never_larger_than_was_set_and_users_have_their_own(rules):
    house = House(rules, CountingStore(), Counting())
    house.ingest._batches._size = 10
    blocks = [a_block(f"b{i}", f"Person{i} uses Tool{i}.", user=user) for i in range(15) for user in ("alice", "bob")]
    await together(house, blocks)
    assert house.store.writes == 4
    assert len((await house.graphs.state("bob")).graph.blocks) == 15


@pytest.mark.r("R-62")
async def test_what_was_forgotten_before_is_neither_read_nor_embedded(rules, monkeypatch):
    house = House(rules, vectors=Counting())
    monkeypatch.setattr("memvault_cascade.usecases.ingest.extract", None)
    await house.ingest.forget_user(USER, 500)
    late = [a_block(f"b{i}", f"Person{i} uses Tool{i}.", sequence=i + 1) for i in range(200)]
    assert not any(await together(house, late))
    assert house.vectors.calls == []


@pytest.mark.r("R-62")
async def test_a_request_without_a_place_on_the_bus_does_not_let_older_events_in_again(house):
    """The call that follows the event does not know its sequence: the backlog behind both stays forgotten."""
    await house.ingest.block(a_block("b", "Alice uses Rust.", sequence=3))
    await house.ingest.forget_user(USER, 50)
    await house.ingest.forget_user(USER, 0)
    assert not await house.ingest.block(a_block("c", "Bob uses Go.", sequence=40))
    assert await house.ingest.block(a_block("c", "Bob uses Go.", sequence=51))


@pytest.mark.r("R-62")
async def test_late_events_of_the_time_before_stay_out_though_the_user_began_anew(house):
    await house.ingest.block(a_block("new", "Alice uses Rust.", sequence=60))
    await house.ingest.forget_user(USER, 50)
    assert not await house.ingest.block(a_block("old", "Bob uses Go.", sequence=40))
    assert list((await house.graphs.state(USER)).graph.blocks) == ["new"]


class Slow(WordVectors):
    """An encoder that answers when it is let."""

    def __init__(self):
        self.asked = asyncio.Event()
        self.go = asyncio.Event()

    async def passages(self, texts):
        self.asked.set()
        await self.go.wait()
        return await super().passages(texts)


@pytest.mark.r("R-62")
async def test_forgetting_a_user_does_not_wait_for_the_encoder_and_beats_the_batch_that_does(rules):
    house = House(rules, vectors=Slow())
    blocks = [a_block(f"b{i}", "Alice uses Rust.", sequence=i + 1) for i in range(9)]
    batch = asyncio.create_task(together(house, blocks))
    await house.vectors.asked.wait()
    async with asyncio.timeout(1):
        await house.ingest.forget_user(USER, 7)
    house.vectors.go.set()
    assert await batch == [False] * 7 + [True] * 2
    assert sorted((await house.graphs.state(USER)).graph.blocks) == ["b7", "b8"]


async def test_a_block_that_cannot_be_written_fails_with_its_batch_once_and_then_alone(rules):
    house = House(rules)
    inner = house.vectors.passages

    async def picky(texts):
        if any("Poison" in text for text in texts):
            raise Fault(Reason.FIELD_INVALID, "a text that no encoder takes")
        return await inner(texts)

    house.vectors.passages = picky
    blocks = [a_block(f"b{i}", f"Person{i} uses {'Poison' if i == 2 else 'Rust'}.") for i in range(5)]
    failed = await asyncio.gather(*(house.ingest.block(b) for b in blocks), return_exceptions=True)
    assert all(isinstance(error, Fault) for error in failed)
    again = await asyncio.gather(*(house.ingest.block(b, alone=True) for b in blocks), return_exceptions=True)
    assert [isinstance(result, Fault) for result in again] == [False, False, True, False, False]


async def test_what_is_given_up_is_told_so_and_leaves_nothing_half_done(rules):
    house = House(rules, vectors=Slow())
    waiting = asyncio.create_task(house.ingest.block(a_block("b", "Alice uses Rust.")))
    await house.vectors.asked.wait()
    await house.ingest.stop()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert (await house.graphs.state(USER)).version == 0


async def test_an_older_view_stays_as_it_was_while_blocks_are_written(house):
    await house.ingest.block(a_block("b0", "Alice uses Rust."))
    view = await house.graphs.view(USER)
    names = set(view.graph.entities)
    await together(house, [a_block(f"c{i}", f"Person{i} uses Tool{i}.") for i in range(20)])
    assert set(view.graph.entities) == names
    assert len((await house.graphs.view(USER)).graph.blocks) == 21


async def test_the_newer_of_two_statements_marks_the_older_one_also_inside_a_batch(house):
    old = a_block("old", "我住在台南。", days_ago=300, sequence=1)
    new = replace(a_block("new", "我搬到台北了。", sequence=2), stated_at=NOW)
    await together(house, [new, old])
    assert [(n.block_id, n.superseded_by) for n in house.told.annotations[USER]] == [("old", "new")]
    assert (await house.graphs.state(USER)).graph.blocks["old"].superseded_by == "new"
