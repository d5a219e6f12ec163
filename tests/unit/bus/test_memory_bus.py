"""The bus in memory keeps the promises that the NATS bus keeps."""

import pytest

from memvault.bus import subjects
from memvault.bus.envelope import Event, Reject
from memvault.bus.memory import MemoryBus
from memvault.events.v1.events_pb2 import BlockForgotten, BlockUpserted
from memvault.faults import Fault, Reason


async def test_each_durable_gets_each_event_once_and_a_repeated_id_is_stored_once():
    bus, seen = MemoryBus(), []

    async def handler(event: Event) -> None:
        seen.append((event.id, event.sequence))

    bus.subscribe(subjects.SEARCH_FORGET, BlockForgotten, handler)
    bus.subscribe(subjects.ROUTER_FORGET, BlockForgotten, handler)
    await bus.start(1)
    await bus.publish(subjects.BLOCK_FORGOTTEN, BlockForgotten(), event_id="a")
    await bus.publish(subjects.BLOCK_FORGOTTEN, BlockForgotten(), event_id="a")
    await bus.settled()
    assert seen == [("a", 1), ("a", 1)]
    await bus.stop()


async def test_failures_are_tried_again_then_kept_and_replayed_for_the_one_that_failed():
    bus, tries, broken, places = MemoryBus(max_deliver=3), [], True, set()

    async def failing(event: Event) -> None:
        tries.append(event.delivery)
        places.add((event.sequence, event.time))
        if broken:
            raise RuntimeError("no")

    others: list[Event] = []

    async def other(event: Event) -> None:
        others.append(event)

    bus.subscribe(subjects.SEARCH_FORGET, BlockForgotten, failing)
    bus.subscribe(subjects.ROUTER_FORGET, BlockForgotten, other)
    await bus.start(1)
    await bus.publish(subjects.BLOCK_FORGOTTEN, BlockForgotten(user_id="ada"))
    await bus.settled()
    (letter,) = await bus.dead_letters(5)
    assert (tries, letter.reason, letter.durable) == ([1, 2, 3], "RuntimeError: no", "search__forget")
    broken = False
    assert await bus.replay(letter.id) == 2
    await bus.settled()
    assert tries == [1, 2, 3, 1]
    assert [sequence for sequence, _ in places] == [1], "a replayed event is as old as it was"
    assert len(others) == 1
    assert await bus.dead_letters(5) == []
    await bus.stop()


async def test_a_rejected_event_is_not_tried_again():
    bus, tries = MemoryBus(), []

    async def handler(event: Event) -> None:
        tries.append(event.delivery)
        raise Reject("unsafe")

    bus.subscribe(subjects.SEARCH_BLOCKS, BlockUpserted, handler)
    await bus.start(1)
    await bus.publish(subjects.BLOCK_UPSERTED, BlockUpserted())
    await bus.settled()
    assert tries == [1]
    assert [letter.reason for letter in await bus.dead_letters(5)] == ["unsafe"]
    await bus.stop()


async def test_a_bus_that_is_down_refuses_with_the_reason():
    bus = MemoryBus()
    bus.down = True
    with pytest.raises(Fault) as fault:
        await bus.publish(subjects.BLOCK_UPSERTED, BlockUpserted())
    assert fault.value.reason is Reason.BUS_UNAVAILABLE
    assert not bus.connected


async def test_a_durable_that_is_not_declared_cannot_be_subscribed():
    async def handler(_: Event) -> None:
        raise AssertionError

    stray = subjects.Durable("search__stray", "BLOCKS", subjects.BLOCK_UPSERTED)
    with pytest.raises(ValueError, match="DURABLES"):
        MemoryBus().subscribe(stray, BlockUpserted, handler)
