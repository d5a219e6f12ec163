"""`memvault reindex`: from one encoder to another beside questions and writes, cut off anywhere, on both engines."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memvault.bus import subjects
from memvault.embed.v1 import embed_pb2
from memvault.embed.v1.embed_pb2_grpc import EmbedServiceStub
from memvault.events.v1 import events_pb2
from memvault.faults import Fault, Reason
from memvault.recall.v1 import types_pb2
from memvault.rpc.client import call
from memvault.rpc.deadline import remaining_s
from memvault.rpc.local import LocalChannel
from memvault.search.v1 import search_pb2 as pb
from memvault.search.v1.search_pb2_grpc import SearchServiceStub
from memvault.vectors.edge import EdgeStore
from memvault_search.adapters.collections import PASSAGES, TOKENS, named
from memvault_search.adapters.memory import RuleReranker, StandingClock
from memvault_search.adapters.pointer import read_pointer
from memvault_search.domain.similarity import EncoderMeans
from tests.unit.search.conftest import NOW, House, LastingStore, WordEncoder, note, started, turn

pytestmark = pytest.mark.r("R-10a")

ENOUGH_S = 60
ON_THE_SERVER = pytest.mark.parametrize("grounds", ["server"], indirect=True)
"""For what does not depend on the engine: opening the embedded one costs seconds."""


class OtherEncoder(WordEncoder):
    """Vectors of another size, for which nothing of the first encoder is worth anything."""

    id = "words-32"
    dimension = 32
    means = EncoderMeans("words-32", *(np.zeros(32, np.float32) for _ in range(3)))

    def __init__(self) -> None:
        super().__init__()
        self.before: Callable[[], Any] | None = None

    async def embed(self, texts: Any, kind: Any, *, token_vectors: bool = False, soon: bool = False) -> Any:
        if kind == "passage" and self.before is not None:
            await self.before()
        return await super().embed(texts, kind, token_vectors=token_vectors)


@dataclass
class Grounds:
    """Where houses stand one after another: each start is a new process, as far as that can be had in one."""

    kind: str
    folder: Path
    lasting: LastingStore = field(default_factory=LastingStore)
    houses: list[House] = field(default_factory=list)

    async def house(
        self, encoder: WordEncoder, former: WordEncoder | None = None, house: WordEncoder | None = None
    ) -> House:
        # a new bus counts from 1: what was written before it has to be older than what it says
        sequence = self.houses[-1].sequence if self.houses else -1000
        opened = self.store()
        clock = StandingClock(NOW)
        name = self.kind
        opened_house = await started(
            self.folder, opened, encoder, RuleReranker(), clock, sequence, former=former, house=house, store_name=name
        )
        self.houses.append(opened_house)
        return opened_house

    def store(self) -> Any:
        return EdgeStore(self.folder / "data", flush_every_s=600) if self.kind == "edge" else self.lasting

    async def end(self, house: House) -> None:
        await house.bus.stop()
        await house.app.stop()


@pytest.fixture(params=["edge", "server"])
async def grounds(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Grounds]:
    made = Grounds(request.param, tmp_path)
    yield made
    for house in made.houses:
        await made.end(house)
    await made.lasting.let_go()


async def filled(grounds: Grounds) -> None:
    """A vault made by the first encoder: talk, notes, a long one, two users."""
    house = await grounds.house(WordEncoder())
    await house.write(*(turn(n, f"we spoke about topic{n} at length") for n in range(12)))
    await house.write(note("long", "The roof leaks again near the chimney. " * 90, title="House"))
    await house.write(note("bobs", "a violin in the attic", user_id="bob"))
    await grounds.end(house)


async def renewed(house: House) -> None:
    house.app.renewing.start()
    async with asyncio.timeout(ENOUGH_S):
        await house.app.renewing.finished()
    assert house.app.renewing.told.state == "none", house.app.renewing.told


async def best(house: House, text: str, user: str = "ann") -> str:
    """By meaning alone."""
    words = frozenset({"ranker:sparse_self", "ranker:sparse_context", "view:context", "rerank"})
    hits = (await house.ask(text, user=user, off=words)).hits
    return hits[0].stored.block.id if hits else ""


async def whole(grounds: Grounds, house: House) -> None:
    """Every block is found by its own words, in an index that holds what a vault written anew would hold."""
    for number in range(12):
        assert await best(house, f"we spoke about topic{number} at length") == f"turn-{number}"
    assert await best(house, "roof leaks chimney") == "long"
    assert await best(house, "violin attic", user="bob") == "bobs"
    loaded = await house.app.index.load("ann")
    held = await house.app.vaults.of("ann")
    assert {stored.block.id for stored, _ in loaded.blocks} == {one.block.id for one in held.blocks()}
    assert await house.app.index.orphans("ann") == []
    assert {one.dense["self"].shape for _, passages in loaded.blocks for one in passages} == {(32,)}
    points = [one.point_id for stored in held.blocks() for one in stored.passages]
    assert sorted(await house.app.index.token_vectors("ann", points)) == sorted(points)


async def test_the_index_answers_with_its_own_encoder_until_the_next_one_takes_over(grounds: Grounds) -> None:
    await filled(grounds)
    former, wanted = WordEncoder(), OtherEncoder()
    house = await grounds.house(wanted, former)
    told = house.app.renewing.told
    assert (told.state, told.made.encoder_id, told.wanted.encoder_id) == ("needed", "words-64", "words-32")
    assert await best(house, "we spoke about topic3 at length") == "turn-3"
    assert wanted.texts == []
    await renewed(house)
    await whole(grounds, house)
    assert former.texts == []
    assert house.app.index.made.encoder_id == "words-32"
    await grounds.end(house)
    again = await grounds.house(OtherEncoder())
    assert again.app.renewing.told.state == "none"
    await whole(grounds, again)


async def test_what_is_written_read_and_forgotten_meanwhile_is_so_in_the_next_index(grounds: Grounds) -> None:
    await filled(grounds)
    wanted = OtherEncoder()
    house = await grounds.house(wanted, WordEncoder())
    answers: list[str] = []

    async def meanwhile() -> None:
        wanted.before = None
        app = house.app.usecases
        await house.write(note("new", "a zeppelin above the harbour"), turn(3, "now we speak about topic33"))
        answers.append(await best(house, "we spoke about topic9 at length"))
        await app.forgetting.forget("ann", block_ids=["turn-5"])
        await app.signals.accessed("ann", ["turn-7"], at=NOW, counts=True, event_id="read")
        await app.forgetting.forget("bob", whole_user=True)
        await house.write(note("mine", "a trumpet", user_id="carol"), turn(12, "and topic12 came last"))
        answers.append(await best(house, "and topic12 came last"))

    wanted.before = meanwhile
    await renewed(house)
    assert answers == ["turn-9", "turn-12"]
    assert await best(house, "zeppelin harbour") == "new"
    assert await best(house, "now we speak about topic33") == "turn-3"
    assert await best(house, "and topic12 came last") == "turn-12"
    assert await best(house, "trumpet", user="carol") == "mine"
    assert await best(house, "violin attic", user="bob") == ""
    assert (await house.get("turn-7")).access_count == 1
    held = await house.app.vaults.of("ann")
    assert held.get("turn-5") is None
    await house.app.usecases.signals.accessed("ann", ["turn-7"], at=NOW, counts=True, event_id="read-2")
    loaded = await house.app.index.load("ann")
    assert {stored.block.id: stored for stored, _ in loaded.blocks} == {one.block.id: one for one in held.blocks()}
    assert await house.app.index.orphans("ann") == []
    assert set(await house.app.index.sources("ann")) == set(held.places)


@pytest.mark.parametrize("stopped_after", [0, 2])
async def test_a_run_that_was_cut_off_goes_on_where_it_stopped(grounds: Grounds, stopped_after: int) -> None:
    await filled(grounds)
    wanted = OtherEncoder()
    house = await grounds.house(wanted, WordEncoder())
    house.app.renewing._steps = _Small(house)
    calls, reached = 0, asyncio.Event()

    async def until() -> None:
        nonlocal calls
        calls += 1
        if calls > stopped_after:
            reached.set()
            await asyncio.Event().wait()

    wanted.before = until
    house.app.renewing.start()
    async with asyncio.timeout(ENOUGH_S):
        await reached.wait()
    await house.app.renewing.stop()
    assert house.app.renewing.told.state == "unfinished"
    assert await best(house, "we spoke about topic3 at length") == "turn-3"
    done = len(wanted.texts)
    await grounds.end(house)
    second = OtherEncoder()
    again = await grounds.house(second, WordEncoder())
    assert again.app.renewing.told.state == "unfinished"
    await renewed(again)
    await whole(grounds, again)
    fresh = OtherEncoder()
    await grounds.end(again)
    assert (await grounds.house(fresh)).app.renewing.told.state == "none"
    assert (done > 0) is (stopped_after > 0)
    assert done + len(second.texts) == _TEXTS


_TEXTS = 30
"""Distinct texts of all views; each batch is encoded in two calls, with token vectors and without."""


class _Small:
    """The steps of the app with batches of four blocks."""

    def __init__(self, house: House) -> None:
        self._app = house.app

    def __getattr__(self, name: str) -> Any:
        return getattr(self._app, name)

    async def begin(self) -> Any:
        reindexing = await self._app.begin()
        reindexing._batch = 4
        return reindexing


@pytest.mark.parametrize("cut", ["before", "after"])
async def test_a_kill_around_the_switch_leaves_one_whole_index(
    grounds: Grounds, monkeypatch: pytest.MonkeyPatch, cut: str
) -> None:
    await filled(grounds)
    house = await grounds.house(OtherEncoder(), WordEncoder())

    async def killed(*_: Any) -> None:
        raise RuntimeError("killed")

    target = "switch" if cut == "before" else "drop_former"
    monkeypatch.setattr(house.app._generations, target, killed)
    house.app.renewing.start()
    await house.app.renewing.finished()
    await grounds.end(house)
    if cut == "before":
        again = await grounds.house(OtherEncoder(), WordEncoder())
        assert again.app.renewing.told.state == "unfinished"
        assert await best(again, "we spoke about topic3 at length") == "turn-3"
        await renewed(again)
    else:
        again = await grounds.house(OtherEncoder())
    await whole(grounds, again)


async def test_all_of_it_is_made_anew_by_the_same_encoder_when_asked_for_and_goes_on_where_it_was_stopped(
    grounds: Grounds,
) -> None:
    await filled(grounds)
    house = await grounds.house(WordEncoder())
    renewing = house.app.renewing
    renewing.start()
    assert renewing.told.state == "none"
    renewing.start(anew=True)
    await asyncio.sleep(0)
    await renewing.stop()
    assert renewing.told.state in {"none", "unfinished"}  # stopped before the next index was noted, or after
    renewing.start(anew=True)
    async with asyncio.timeout(ENOUGH_S):
        await renewing.finished()
    assert (renewing.told.state, renewing.told.built) == ("none", 12 + 1 + 4)
    assert await best(house, "we spoke about topic3 at length") == "turn-3"
    points = [one.point_id for stored in (await house.app.vaults.of("ann")).blocks() for one in stored.passages]
    assert sorted(await house.app.index.token_vectors("ann", points)) == sorted(points)
    await grounds.end(house)
    store = grounds.store()
    assert await exists(grounds, store, named(PASSAGES, 1))
    assert not await exists(grounds, store, PASSAGES)
    await store.close()


async def test_the_former_index_is_removed_after_the_switch_and_the_next_one_when_others_are_asked_for(
    grounds: Grounds,
) -> None:
    await filled(grounds)
    house = await grounds.house(OtherEncoder(), WordEncoder())
    await renewed(house)
    await grounds.end(house)
    store = grounds.store()
    assert await exists(grounds, store, named(PASSAGES, 1))
    for gone in (PASSAGES, TOKENS):
        assert not await exists(grounds, store, gone)
    await store.close()


async def exists(grounds: Grounds, store: Any, name: str) -> bool:
    if grounds.kind == "edge":
        return (grounds.folder / "data" / name).exists()
    return bool(await store._client.collection_exists(name))


@ON_THE_SERVER
async def test_who_is_forgotten_while_a_run_rests_is_gone_from_the_unfinished_index(grounds: Grounds) -> None:
    await filled(grounds)
    house = await grounds.house(OtherEncoder(), WordEncoder())
    steps = house.app
    reindexing = await steps.begin()
    await reindexing.round()
    assert await reindexing._following.sources("bob")
    await grounds.end(house)
    again = await grounds.house(OtherEncoder(), WordEncoder())
    await again.app.usecases.forgetting.forget("bob", whole_user=True)
    await again.app.usecases.forgetting.forget("ann", block_ids=["long"])
    following = again.app.index.next
    assert following is not None
    assert await following.sources("bob") == {}
    assert len(await following.sources("ann")) == 12


@ON_THE_SERVER
async def test_it_is_started_watched_and_seen_over_the_contract(grounds: Grounds) -> None:
    await filled(grounds)
    house = await grounds.house(OtherEncoder(), WordEncoder())
    stub = SearchServiceStub(LocalChannel(house.app.registrations, "search"))

    async def reindex(action: str) -> pb.ReindexResponse:
        return await call(stub.Reindex, pb.ReindexRequest(action=action), timeout_s=ENOUGH_S)  # type: ignore[arg-type, no-any-return]

    async def index() -> pb.GetIndexResponse:
        return await call(stub.GetIndex, pb.GetIndexRequest(), timeout_s=ENOUGH_S)  # type: ignore[arg-type, no-any-return]

    assert ((await reindex("")).state, (await index()).reindex, (await index()).encoder_id) == (
        "needed",
        "needed",
        "words-64",
    )
    with pytest.raises(Fault) as refused:
        await reindex("faster")
    assert refused.value.reason is Reason.FIELD_INVALID
    assert (await reindex("start")).state == "running"
    await house.app.renewing.finished()
    told = await reindex("start")
    assert (told.state, told.built, (await index()).encoder_id) == ("none", 12 + 1 + 4, "words-32")
    # a question whose vector another part made just before is embedded again, one of a stranger is not
    asked = pb.Understanding(user_id="ann", query="topic4", encoder_id="words-64", query_vector=b"\1" * 4 * 64)
    answer: pb.SearchResponse = await call(
        stub.Search,
        pb.SearchRequest(understanding=asked),
        timeout_s=ENOUGH_S,  # type: ignore[arg-type]
    )
    assert answer.hits[0].block.id == "turn-4"
    asked.encoder_id = "strange"
    with pytest.raises(Fault) as refused:
        await call(stub.Search, pb.SearchRequest(understanding=asked), timeout_s=ENOUGH_S)  # type: ignore[arg-type]
    assert refused.value.reason is Reason.EMBEDDER_CHANGED


@ON_THE_SERVER
async def test_a_run_has_not_the_deadline_of_the_call_that_starts_it(grounds: Grounds) -> None:
    await filled(grounds)
    wanted, left = OtherEncoder(), []

    async def before() -> None:
        left.append(remaining_s(-1.0))

    wanted.before = before
    house = await grounds.house(wanted, WordEncoder())
    stub = SearchServiceStub(LocalChannel(house.app.registrations, "search"))
    await call(stub.Reindex, pb.ReindexRequest(action="start"), timeout_s=ENOUGH_S)  # type: ignore[arg-type]
    await house.app.renewing.finished()
    assert set(left) == {-1.0}


@ON_THE_SERVER
async def test_a_failure_is_told_and_the_former_index_goes_on(grounds: Grounds) -> None:
    await filled(grounds)
    wanted = OtherEncoder()
    house = await grounds.house(wanted, WordEncoder())
    wanted.outage = RuntimeError("out of memory")
    house.app.renewing.start()
    await house.app.renewing.finished()
    told = house.app.renewing.told
    assert (told.state, told.detail) == ("failed", "RuntimeError: out of memory")
    assert await best(house, "we spoke about topic3 at length") == "turn-3"
    await house.write(note("more", "a kayak"))
    wanted.outage = None
    await renewed(house)
    assert await best(house, "kayak") == "more"


@ON_THE_SERVER
async def test_events_of_the_bus_go_to_the_index_that_answers(grounds: Grounds) -> None:
    await filled(grounds)
    house = await grounds.house(OtherEncoder(), WordEncoder())
    await renewed(house)
    block = types_pb2.Block(id="late", user_id="ann", text="a kayak on the lake")
    await house.bus.publish(subjects.BLOCK_UPSERTED, events_pb2.BlockUpserted(block=block), event_id="late")
    await house.bus.settled()
    assert await best(house, "kayak lake") == "late"
    assert await house.app.index.orphans("ann") == []


@ON_THE_SERVER
async def test_the_rest_of_the_house_keeps_its_encoder_because_the_graph_is_made_of_its_vectors(
    grounds: Grounds,
) -> None:
    async def embedded(house: House) -> tuple[str, int]:
        stub = EmbedServiceStub(LocalChannel(house.app.registrations, "search"))
        request = embed_pb2.EmbedRequest(texts=["topic4"], kind="query")
        answer: embed_pb2.EmbedResponse = await call(stub.Embed, request, timeout_s=ENOUGH_S)  # type: ignore[arg-type]
        return answer.encoder_id, len(answer.embeddings[0].vector) // 4

    async def asked(house: House) -> pb.SearchResponse:
        stub = SearchServiceStub(LocalChannel(house.app.registrations, "search"))
        question = pb.Understanding(user_id="ann", query="topic4", encoder_id="words-64", query_vector=b"\1" * 4 * 64)
        return await call(stub.Search, pb.SearchRequest(understanding=question), timeout_s=ENOUGH_S)  # type: ignore[arg-type, no-any-return]

    await filled(grounds)
    house = await grounds.house(OtherEncoder(), WordEncoder())
    await renewed(house)
    assert await embedded(house) == ("words-64", 64)
    assert (await asked(house)).query_vector == b""
    await grounds.end(house)
    store = grounds.store()
    pointer = await read_pointer(store)
    assert pointer is not None
    assert pointer.house is not None
    assert pointer.house.made.encoder_id == "words-64"
    await store.close()
    again = await grounds.house(OtherEncoder(), house=WordEncoder())
    assert await embedded(again) == ("words-64", 64)
    assert (await asked(again)).hits[0].block.id == "turn-4"
    await grounds.end(again)
    back = await grounds.house(WordEncoder(), OtherEncoder(), WordEncoder())
    await renewed(back)
    assert len((await asked(back)).query_vector) == 4 * 64
    assert await embedded(back) == ("words-64", 64)
    await grounds.end(back)
    store = grounds.store()
    pointer = await read_pointer(store)
    assert pointer is not None
    assert (pointer.house, pointer.current.made.encoder_id) == (None, "words-64")
    await store.close()
