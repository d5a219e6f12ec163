"""What happens to blocks after they were written: read, judged, annotated, forgotten, and tidied at night."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from memvault.bus import subjects
from memvault.events.v1 import events_pb2
from memvault.faults import Fault, Reason
from memvault.recall.v1 import types_pb2
from memvault_search.adapters.pointer import BLOCKS
from memvault_search.domain.block import NEAR_COPY_TAG
from memvault_search.domain.moment import Moment
from memvault_search.domain.passages import head_id, point_id
from memvault_search.domain.selection import Selection
from memvault_search.usecases.signals import Annotation
from memvault_search.usecases.writing import Write
from tests.unit.search.conftest import NOW, House, note, started, turn


async def read(house: House, *names: str, event: str, counts: bool = True) -> int:
    return await house.app.usecases.signals.accessed("ann", names, at=house.clock.now(), counts=counts, event_id=event)


@pytest.mark.r("R-18")
async def test_a_delivery_is_counted_exactly_once_per_event(house: House) -> None:
    await house.write(note("a", "x"), note("b", "y"))
    for event in ("e1", "e1", "e2", "e1"):
        await read(house, "a", "b", "unknown", event=event)
    assert [(await house.get(name)).access_count for name in "ab"] == [2, 2]
    assert (await house.get("a")).last_accessed_at == NOW


@pytest.mark.r("R-18")
async def test_deliveries_at_the_same_time_are_all_counted(house: House) -> None:
    await house.write(note("a", "x"))
    await asyncio.gather(*(read(house, "a", event=f"e{n}") for n in range(50)))
    assert (await house.get("a")).access_count == 50


@pytest.mark.r("R-18")
async def test_another_replicas_change_is_not_overwritten(house: House) -> None:
    await house.write(note("a", "x"))
    here = (await house.app.vaults.of("ann")).get("a")
    assert here is not None
    there = replace(here, block=replace(here.block, access_count=7), event_ids=("other",), revision=here.revision + 1)
    assert await house.app.index.save("ann", [there]) == []
    with pytest.raises(Fault) as caught:
        await read(house, "a", event="mine")
    assert caught.value.reason == Reason.VERSION_CONFLICT
    await read(house, "a", event="mine")
    assert (await house.get("a")).access_count == 8


@pytest.mark.r("R-18", "R-13")
async def test_reading_lengthens_life(house: House) -> None:
    old = NOW - timedelta(days=400)
    await house.write(note("read", "kettle", recorded_at=old), note("left", "kettle two", recorded_at=old))
    for event in range(20):
        await read(house, "read", event=f"e{event}")
    house.clock.move(timedelta(days=60))
    found = await house.ask("kettle", profile="reference", off=frozenset({"stage:PairwiseDedup"}))
    factor = {
        hit.stored.block.id: {one.stage: one.factor for one in hit.why.stages}["WeibullDecay"]
        for hit in found.hits
        if hit.why
    }
    assert factor["read"] > factor["left"] == pytest.approx(0.3)


async def test_reading_leaves_version_and_write_version_alone(house: House) -> None:
    await house.write(note("a", "x"))
    await read(house, "a", event="e1")
    assert (await house.get("a")).version == 1
    assert (await house.app.vaults.of("ann")).write_version == 1


@pytest.mark.r("R-54")
@pytest.mark.parametrize(
    ("change", "raised"),
    [
        ({"quarantine_set": frozenset({"spam"})}, 1),
        ({"superseded_by": "b"}, 1),
        ({"summary": "short"}, 1),
        ({"centrality": 0.5}, 0),
        ({"quarantine_unset": frozenset({"spam"})}, 0),
    ],
)
async def test_what_a_reader_would_see_raises_the_write_version_here_and_in_the_index(
    house: House, change: dict[str, Any], raised: int
) -> None:
    await house.write(note("a", "x"), note("b", "y"))
    await house.app.usecases.signals.annotated("ann", [Annotation("a", **change)], event_id="e1")
    assert (await house.app.vaults.of("ann")).write_version == 2 + raised
    assert await house.app.index.write_version("ann") == 2 + raised


@pytest.mark.r("R-54", "R-18")
async def test_a_rejection_raises_the_write_version_and_votes_do_not(house: House) -> None:
    await house.write(note("a", "x"))
    judged = house.app.usecases.signals.judged
    await judged("ann", "a", "up", event_id="f1")
    await judged("ann", "a", "down", event_id="f2")
    assert (await house.app.vaults.of("ann")).write_version == 1
    await judged("ann", "a", "rejected", event_id="f3")
    assert (await house.app.vaults.of("ann")).write_version == 2


async def test_a_rejection_is_told_to_the_house_once_and_its_echo_changes_nothing(house: House) -> None:
    await house.write(note("a", "x"))
    rejection = events_pb2.FeedbackRecorded(user_id="ann", block_id="a", verdict="rejected")
    await house.bus.publish(subjects.FEEDBACK_RECORDED, rejection, event_id="f1")
    await house.bus.settled()
    await house.app.usecases.signals.judged("ann", "a", "rejected", event_id="f1")
    await house.app.usecases.signals.judged("ann", "missing", "rejected", event_id="f2")
    await house.bus.settled()
    told = [event for event in house.bus.published if event.subject == subjects.BLOCK_ANNOTATED]
    assert [(one.id, list(one.message.annotations[0].quarantine_set)) for one in told] == [
        ("f1:rejected", ["rejected"])
    ]
    block = await house.get("a")
    assert (block.downs, block.version, block.quarantine) == (1, 2, {"rejected"})


async def test_events_from_the_bus_reach_their_blocks(house: House) -> None:
    await house.write(note("a", "x"))
    publish = house.bus.publish
    await publish(subjects.BLOCK_ACCESSED, events_pb2.BlockAccessed(user_id="ann", block_ids=["a"]), event_id="r1")
    await publish(
        subjects.BLOCK_ACCESSED, events_pb2.BlockAccessed(user_id="ann", block_ids=["a"], kind="dwelled"), event_id="r2"
    )
    for number, verdict in enumerate(("up", "up", "down", "rejected")):
        message = events_pb2.FeedbackRecorded(user_id="ann", block_id="a", verdict=verdict)
        await publish(subjects.FEEDBACK_RECORDED, message, event_id=f"f{number}")
    annotation = events_pb2.BlockAnnotation(block_id="a", centrality=0.5, summary="short")
    await publish(subjects.BLOCK_ANNOTATED, events_pb2.BlockAnnotated(user_id="ann", annotations=[annotation]))
    await house.bus.settled()
    assert [one for one in await house.bus.dead_letters(10) if one.durable.startswith("search__")] == []
    block = await house.get("a")
    assert (block.access_count, block.ups, block.downs) == (1, 2, 2)
    assert block.quarantine == {"rejected"}
    assert (block.centrality, block.summary) == (0.5, "short")
    assert (await house.ask("x")).hits == ()


@pytest.mark.parametrize(
    ("subject", "message"),
    [
        (subjects.FEEDBACK_RECORDED, events_pb2.FeedbackRecorded(user_id="ann", block_id="a", verdict="meh")),
        (subjects.BLOCK_ACCESSED, events_pb2.BlockAccessed(user_id="", block_ids=["a"])),
        (subjects.BLOCK_FORGOTTEN, events_pb2.BlockForgotten(user_id="a b", block_ids=["a"])),
        (subjects.BLOCK_UPSERTED, events_pb2.BlockUpserted(block=types_pb2.Block(id="a", text="no user"))),
        (
            subjects.BLOCK_UPSERTED,
            events_pb2.BlockUpserted(block=types_pb2.Block(id="a", user_id="ann", text="x"), on_unsafe="pray"),
        ),
    ],
)
async def test_an_event_that_can_never_be_handled_goes_to_the_dead_letters_at_once(
    house: House, subject, message
) -> None:  # type: ignore[no-untyped-def]
    await house.bus.publish(subject, message, event_id="e1")
    await house.bus.settled()
    letters = [one for one in await house.bus.dead_letters(10) if one.durable.startswith("search__")]
    assert [one.deliveries for one in letters] == [1]


async def test_annotations_set_and_unset_and_leave_the_rest(house: House) -> None:
    await house.write(note("a", "x", summary="given", quarantine=frozenset({"spam"})), note("b", "y"))
    annotate = house.app.usecases.signals.annotated
    wanted = Annotation(
        "a", quarantine_set=frozenset({"garbled"}), quarantine_unset=frozenset({"spam"}), superseded_by="b"
    )
    assert await annotate("ann", [wanted], event_id="e1") == 1
    block = await house.get("a")
    assert (block.quarantine, block.superseded_by, block.summary, block.version) == ({"garbled"}, "b", "given", 2)
    await annotate("ann", [Annotation("a", centrality=0.25)], event_id="e2")
    assert ((await house.get("a")).version, (await house.get("a")).centrality) == (2, 0.25)


@pytest.mark.r("R-62")
async def test_a_forgotten_block_is_nowhere_any_more(house: House) -> None:
    await house.write(*(turn(n, f"word{n} in turn {n}") for n in range(3)), note("a", "alone"))
    forgotten = (await house.app.vaults.of("ann")).get("turn-1")
    assert forgotten is not None
    points = [one.point_id for one in forgotten.passages]
    assert await house.app.index.token_vectors("ann", points)
    done = await house.app.usecases.forgetting.forget("ann", block_ids=["turn-1", "missing"])
    assert done.block_ids == ("turn-1",)
    assert (await house.ask("word1", off=frozenset({"ranker:dense_self", "ranker:dense_context"}))).hits == ()
    assert (await house.app.usecases.reading.read("ann", ["turn-1"]))[0] == []
    again = await house.reopened()
    assert (await again.ask("word1", off=frozenset({"ranker:dense_self", "ranker:dense_context"}))).hits == ()
    assert len(await again.app.vaults.of("ann")) == 3
    assert await again.app.index.token_vectors("ann", points) == {}
    records = [
        record
        for collection in ("search_blocks", "search_passages")
        for record in (await again.store.scroll(collection, None, limit=100, with_vectors=True))[0]
    ]
    assert "word1" not in str([record.payload for record in records])
    await again.bus.stop()


@pytest.mark.r("R-62")
async def test_forgetting_by_filter_and_of_a_whole_user(house: House) -> None:
    await house.write(
        note("a", "x", tags=("trip",)), note("b", "y"), note("c", "z", user_id="bob"), note("d", "w", tags=("trip",))
    )
    forget = house.app.usecases.forgetting.forget
    assert (await forget("ann", selection=Selection(tags=("trip",)))).block_ids == ("a", "d")
    assert (await forget("ann", whole_user=True)).block_ids == ("b",)
    await house.bus.settled()
    assert await house.app.index.users() == ["bob"]
    assert await house.app.index.count() == (1, 1, 0)
    for record in (await house.store.scroll("search_blocks", None, limit=100))[0]:
        assert "ann" not in str(record.payload)
    told = [event.message for event in house.bus.published if event.subject == subjects.BLOCK_FORGOTTEN]
    assert [(list(one.block_ids), list(one.tags), one.whole_user) for one in told] == [
        (["a", "d"], [], False),
        ([], ["trip"], False),
        ([], [], True),
    ]


@pytest.mark.r("R-62")
async def test_what_the_facts_own_echo_removed_first_is_told_as_forgotten_too(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    await house.write(note("a", "x", tags=("trip",)), note("b", "y"), note("c", "z"))
    publish = house.bus.publish

    async def published_and_come_back(subject: str, message: Any, **more: Any) -> int:
        sequence = await publish(subject, message, **more)
        await house.bus.settled()
        return sequence

    monkeypatch.setattr(house.bus, "publish", published_and_come_back)
    forget = house.app.usecases.forgetting.forget
    assert (await forget("ann", selection=Selection(tags=("trip",)))).block_ids == ("a",)
    assert (await forget("ann", block_ids=["missing", "b"])).block_ids == ("b",)
    assert (await forget("ann", whole_user=True)).block_ids == ("c",)


@pytest.mark.r("R-62")
async def test_a_forget_tells_which_labels_went_with_the_blocks_and_no_other(house: House) -> None:
    await house.write(
        note("a", "x", tags=("trip", "Rome", "both")), note("b", "y", tags=("both",)), note("c", "z", tags=("other",))
    )
    forget = house.app.usecases.forgetting.forget

    def told() -> list[str]:
        published = [event.message for event in house.bus.published if event.subject == subjects.BLOCK_FORGOTTEN]
        return [tag for message in published for tag in message.tags]

    await forget("ann", block_ids=["a"])
    assert told() == ["Rome", "trip"]
    await forget("ann", selection=Selection(tags=("both", "never written")))
    assert told()[2:] == ["both", "never written"]


@pytest.mark.r("R-62")
async def test_a_write_accepted_before_it_was_forgotten_does_not_come_back(house: House) -> None:
    early = Write(note("a", "x"), "refuse", "e1", Moment(1, NOW - timedelta(seconds=5)))
    await house.app.usecases.writing.write(early)
    await house.app.usecases.forgetting.apply("ann", ["a"], Moment(2, NOW), whole_user=False)
    assert (await house.app.usecases.writing.write(early)).status == "outdated"
    never_seen = Write(note("a", "other"), "refuse", "e9", Moment(1, NOW - timedelta(seconds=4)))
    assert (await house.app.usecases.writing.write(never_seen)).status == "outdated"
    later = Write(note("a", "again"), "refuse", "e3", Moment(3, NOW + timedelta(seconds=1)))
    assert (await house.app.usecases.writing.write(later)).status == "indexed"
    await house.app.usecases.forgetting.apply("ann", ["a"], Moment(2, NOW), whole_user=False)
    assert (await house.get("a")).text == "again"


@pytest.mark.r("R-62")
async def test_a_forgotten_user_stays_forgotten_and_may_begin_anew(house: House) -> None:
    early = Write(note("a", "x"), "refuse", "e1", Moment(1, NOW - timedelta(seconds=5)))
    await house.app.usecases.writing.write(early)
    await house.app.usecases.forgetting.apply("ann", [], Moment(2, NOW), whole_user=True)
    assert (await house.app.usecases.writing.write(early)).status == "outdated"
    later = Write(note("b", "new life"), "refuse", "e3", Moment(3, NOW + timedelta(seconds=1)))
    assert (await house.app.usecases.writing.write(later)).status == "indexed"
    assert (await house.app.vaults.of("ann")).write_version > 1


@pytest.mark.r("R-62")
async def test_a_user_who_began_anew_is_not_given_back_what_was_forgotten_by_a_late_delivery(house: House) -> None:
    write, apply = house.app.usecases.writing.write, house.app.usecases.forgetting.apply
    early = Write(note("a", "x"), "refuse", "e1", Moment(1, NOW - timedelta(seconds=5)))
    unseen = Write(note("z", "never seen"), "refuse", "e2", Moment(2, NOW - timedelta(seconds=4)))
    later = Write(note("b", "new life"), "refuse", "e4", Moment(4, NOW + timedelta(seconds=1)))
    await write(early)
    await write(later)
    forgotten = await apply("ann", [], Moment(3, NOW), whole_user=True)
    assert forgotten.block_ids == ("a",)
    assert [(await write(one)).status for one in (early, unseen)] == ["outdated", "outdated"]
    assert (await apply("ann", [], Moment(3, NOW), whole_user=True)).block_ids == ()
    again = await house.reopened()
    assert (await again.app.usecases.writing.write(unseen)).status == "outdated"
    assert [one.block.id for one in (await again.app.vaults.of("ann")).blocks()] == ["b"]
    await again.bus.stop()


@pytest.mark.r("R-62")
async def test_a_late_write_is_outdated_also_when_the_forgotten_user_wrote_something_new(house: House) -> None:
    write = house.app.usecases.writing.write
    early = Write(note("a", "x"), "refuse", "e1", Moment(1, NOW - timedelta(seconds=5)))
    await write(early)
    await house.app.usecases.forgetting.apply("ann", [], Moment(2, NOW), whole_user=True)
    await write(Write(note("b", "new life"), "refuse", "e3", Moment(3, NOW + timedelta(seconds=1))))
    assert (await write(early)).status == "outdated"


@pytest.mark.parametrize("named", [{}, {"block_ids": ["a"], "whole_user": True}, {"selection": Selection()}])
async def test_what_to_forget_must_be_said_in_exactly_one_way(house: House, named) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(Fault) as caught:
        await house.app.usecases.forgetting.forget("ann", **named)
    assert caught.value.reason == Reason.FIELD_INVALID


async def test_when_the_bus_is_down_nothing_is_forgotten_by_halves(house: House) -> None:
    await house.write(note("a", "x"))
    house.bus.down = True
    with pytest.raises(Fault):
        await house.app.usecases.forgetting.forget("ann", block_ids=["a"])
    house.bus.down = False
    assert (await house.get("a")).text == "x"


@pytest.mark.r("R-36", "R-11")
async def test_the_nightly_part_weighs_words_by_the_average_of_now(house: House) -> None:
    await house.write(note("first", "a short note about rowing"))
    await house.write(*(note(f"n{n}", f"rowing {n} " + "and many other words follow here " * 12) for n in range(6)))
    await house.bus.publish(subjects.DREAM_REQUESTED, events_pb2.DreamRequested(run_id="night-1"))
    await house.bus.settled()
    told = [event.message for event in house.bus.published if event.subject == subjects.DREAM_FINISHED]
    assert [(one.run_id, one.owner) for one in told] == [("night-1", "search")]
    assert told[0].changes["reweighted"] >= 1
    again = await house.app.usecases.dreaming.dream("night-2", "")
    assert again["reweighted"] == again["retiered"] == again["near_copies"] == 0
    loaded = await house.app.index.load("ann")
    average = (await house.app.vaults.of("ann")).words.average_length("default", "self")
    for _, passages in loaded.blocks:
        assert passages[0].averages["self"] == pytest.approx(average, rel=0.11)


@pytest.mark.r("R-36")
async def test_a_night_that_was_cut_off_goes_on_with_those_who_were_not_done(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    for user in ("ann", "bob", "cem"):
        await house.write(note(f"of-{user}", f"{user} rows", user_id=user))
    dreaming = house.app.usecases.dreaming
    of_user, asked = dreaming._of_user, []

    async def cut_off(user_id: str, run_id: str) -> Counter[str]:
        asked.append(user_id)
        if asked == ["ann", "bob"]:
            raise TimeoutError
        return await of_user(user_id, run_id) + Counter(users=1)

    monkeypatch.setattr(dreaming, "_of_user", cut_off)
    with pytest.raises(TimeoutError):
        await dreaming.dream("night-1", "")
    assert (await dreaming.dream("night-1", ""))["users"] == 3
    assert asked == ["ann", "bob", "bob", "cem"]
    await dreaming.dream("night-2", "")
    assert asked[4:] == ["ann", "bob", "cem"]


@pytest.mark.r("R-36")
async def test_the_nightly_part_leaves_in_memory_whom_it_found_there(house: House) -> None:
    for user in ("ann", "bob"):
        await house.write(note(f"of-{user}", f"{user} rows", user_id=user))
    house.app.vaults.drop("bob")
    await house.app.usecases.dreaming.dream("night", "")
    assert set(house.app.vaults.loaded()) == {"ann"}
    assert (await house.ask("rows", user="bob")).hits[0].stored.block.id == "of-bob"


@pytest.mark.r("R-36")
async def test_the_nightly_part_removes_passages_of_no_block(house: House) -> None:
    await house.write(note("a", "rowing"), note("b", "sailing"))
    whole = await house.app.index.orphans("ann")
    await house.store.delete(BLOCKS, [head_id("ann", "b")])
    cut_off = await house.app.index.orphans("ann")
    changes = await house.app.usecases.dreaming.dream("night", "ann")
    assert (whole, cut_off) == ([], [point_id("ann", "b", 0)])
    assert changes["orphans"] == 1
    assert await house.app.index.orphans("ann") == []


@pytest.mark.r("R-36", "R-60a")
async def test_the_nightly_part_tags_the_later_of_two_near_copies(house: House) -> None:
    await house.write(note("a", "the printer is at 10.0.0.5"), note("b", "the printer is at 10.0.0.5 now"))
    await house.write(note("a", "the printer is at 10.0.0.5", service="moved"))
    vault = await house.app.vaults.of("ann")
    assert NEAR_COPY_TAG in (await house.get("b")).tags
    await house.app.usecases.dreaming.dream("night", "ann")
    tagged = [one.block.id for one in vault.blocks() if NEAR_COPY_TAG in one.block.tags]
    assert tagged == ["a"]


async def test_a_replica_sees_what_another_one_wrote_and_forgot(house: House) -> None:
    await house.write(note("a", "a violin here"))
    other = await started(house.folder, house.store, house.encoder, house.reranker, house.clock, 100)
    assert len(await other.app.vaults.of("ann")) == 1
    await other.write(note("b", "a trumpet there"))
    found = await house.ask("trumpet")
    assert found.hits[0].stored.block.id == "b"
    await house.app.usecases.forgetting.forget("ann", block_ids=["b"])
    assert [hit.stored.block.id for hit in (await other.ask("trumpet")).hits] == ["a"]
    first, second = await asyncio.gather(house.write(note("c", "a flute")), other.write(note("d", "a drum")))
    assert first[0].write_version != second[0].write_version
    for replica in (house, other):
        assert {hit.stored.block.id for hit in (await replica.ask("flute drum violin")).hits} == {"a", "c", "d"}
    await other.bus.stop()
