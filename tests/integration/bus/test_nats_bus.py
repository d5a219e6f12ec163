"""The bus against a real NATS server: what is promised in `memvault.bus.port.Bus`."""

import asyncio
import gc
import json
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable

import nats
import pytest
from nats.js.errors import NotFoundError

from memvault.bus import subjects
from memvault.bus.broker import BusSettings, Event, NatsBus, Reject, build_bus
from memvault.events.v1 import events_pb2
from memvault.faults import Fault, Reason
from memvault.recall.v1 import types_pb2
from memvault.runtime import telemetry
from tests.integration.bus.nats_server import NatsServer, eventually

UPSERTED = events_pb2.BlockUpserted


def block(identity: str) -> events_pb2.BlockUpserted:
    return UPSERTED(block=types_pb2.Block(id=identity, user_id="ada", text="茶 and tea"))


def collect(into: list[Event]) -> Callable[[Event], object]:
    async def handler(event: Event) -> None:
        into.append(event)

    return handler


def on_blocks(handler: Callable) -> Callable[[NatsBus], None]:
    return lambda bus: bus.subscribe(subjects.SEARCH_BLOCKS, UPSERTED, handler)


@pytest.mark.r("R-60")
async def test_an_event_arrives_with_its_id_time_sequence_and_trace(started):
    seen: list[Event] = []
    bus = await started("search", on_blocks(collect(seen)))
    with telemetry.span("a recall") as span:
        sequence = await bus.publish(subjects.BLOCK_UPSERTED, block("b1"), event_id="e-1 ü")
    await eventually(lambda: len(seen) == 1)
    event = seen[0]
    assert event.message.block.text == "茶 and tea"
    assert (event.id, event.sequence, event.stream) == ("e-1 ü", sequence, "BLOCKS")
    assert event.source == "memvault/search"
    assert event.traceparent.split("-")[1] == span.trace_id


@pytest.mark.r("R-60")
async def test_the_same_event_id_is_stored_once(started):
    seen: list[Event] = []
    bus = await started("search", on_blocks(collect(seen)))
    first = await bus.publish(subjects.BLOCK_UPSERTED, block("b1"), event_id="same")
    again = await bus.publish(subjects.BLOCK_UPSERTED, block("b1"), event_id="same")
    await bus.publish(subjects.BLOCK_UPSERTED, block("b2"), event_id="other")
    await eventually(lambda: len(seen) == 2)
    assert first == again
    assert [event.id for event in seen] == ["same", "other"]


@pytest.mark.r("R-60")
async def test_what_is_published_while_a_service_was_never_up_waits_for_it(started):
    writer = await started("gateway")
    await writer.publish(subjects.BLOCK_UPSERTED, block("early"))
    seen: list[Event] = []
    await started("search", on_blocks(collect(seen)))
    await eventually(lambda: [event.message.block.id for event in seen] == ["early"])


@pytest.mark.r("R-62")
async def test_a_block_leaves_its_stream_once_every_durable_has_acknowledged_it(started, settings):
    seen: list[Event] = []
    bus = await started("search", on_blocks(collect(seen)))
    sequence = await bus.publish(subjects.BLOCK_UPSERTED, block("b1"))
    client = await nats.connect(settings.url)

    async def gone() -> bool:
        try:
            await client.jetstream().get_msg("BLOCKS", sequence)
        except NotFoundError:
            return True
        return False

    await eventually(gone)
    await client.close()
    assert len(seen) == 1


async def test_a_failing_handler_is_tried_again_and_then_succeeds(started):
    deliveries: list[int] = []

    async def flaky(event: Event) -> None:
        deliveries.append(event.delivery)
        if event.delivery < 3:
            raise RuntimeError("not yet")

    bus = await started("search", on_blocks(flaky))
    await bus.publish(subjects.BLOCK_UPSERTED, block("b1"))
    await eventually(lambda: deliveries == [1, 2, 3])
    assert await bus.dead_letters(10) == []


async def test_the_nightly_loop_may_take_longer_than_an_event_like_any_other(started):
    tries: dict[str, list[int]] = {"dream": [], "forget": []}

    async def dream(event: Event) -> None:
        tries["dream"].append(event.delivery)
        await asyncio.sleep(1.0)

    async def forget(event: Event) -> None:
        tries["forget"].append(event.delivery)
        await asyncio.sleep(0 if event.delivery > 1 else 1.0)

    def prepare(bus: NatsBus) -> None:
        bus.subscribe(subjects.SEARCH_DREAM, events_pb2.DreamRequested, dream)
        bus.subscribe(subjects.SEARCH_FORGET, events_pb2.BlockForgotten, forget)

    bus = await started("search", prepare, handler_timeout_s=0.3)
    await bus.publish(subjects.DREAM_REQUESTED, events_pb2.DreamRequested(run_id="r"))
    await bus.publish(subjects.BLOCK_FORGOTTEN, events_pb2.BlockForgotten(user_id="ada"))
    await eventually(lambda: tries["forget"] == [1, 2])
    await asyncio.sleep(1.0)
    assert tries["dream"] == [1]


async def test_after_the_last_try_an_event_is_a_dead_letter_and_can_be_replayed(started):
    broken = True
    seen: list[Event] = []

    async def handler(event: Event) -> None:
        if broken:
            raise RuntimeError("the store is on fire\nbadly")
        seen.append(event)

    bus = await started("search", on_blocks(handler))
    await bus.publish(subjects.BLOCK_UPSERTED, block("b1"), event_id="e-1")
    await eventually(lambda: _has_letters(bus, 1))
    (letter,) = await bus.dead_letters(10)
    assert letter.subject == subjects.BLOCK_UPSERTED
    assert (letter.event_id, letter.durable, letter.deliveries) == ("e-1", "search__blocks", 3)
    assert letter.reason == "RuntimeError: the store is on fire\nbadly"
    assert json.loads(letter.body)["block"]["id"] == "b1"

    broken = False
    await bus.replay(letter.id)
    await eventually(lambda: len(seen) == 1)
    assert (seen[0].id, seen[0].sequence) == ("e-1", letter.sequence)
    assert await bus.dead_letters(10) == []
    with pytest.raises(Fault) as fault:
        await bus.replay(letter.id)
    assert fault.value.reason is Reason.NOT_FOUND


async def test_a_replay_reaches_only_the_durable_that_failed(started):
    broken = True
    forgotten: dict[str, int] = {"search": 0, "router": 0}

    def prepare(bus: NatsBus) -> None:
        async def search(_: Event) -> None:
            if broken:
                raise Reject("no such block")
            forgotten["search"] += 1

        async def router(_: Event) -> None:
            forgotten["router"] += 1

        bus.subscribe(subjects.SEARCH_FORGET, events_pb2.BlockForgotten, search)
        bus.subscribe(subjects.ROUTER_FORGET, events_pb2.BlockForgotten, router)

    bus = await started("laptop", prepare)
    await bus.publish(subjects.BLOCK_FORGOTTEN, events_pb2.BlockForgotten(user_id="ada"))
    await eventually(lambda: _has_letters(bus, 1))
    broken = False
    await bus.replay((await bus.dead_letters(1))[0].id)
    await eventually(lambda: forgotten["search"] == 1)
    await asyncio.sleep(0.3)
    assert forgotten == {"search": 1, "router": 1}


async def test_a_body_that_is_no_json_goes_to_the_dead_letters_without_a_second_try(started, settings):
    called: list[Event] = []
    bus = await started("search", on_blocks(collect(called)))
    client = await nats.connect(settings.url)
    for body in (b"{not json", b"\xff\xfe", b'{"block": {"id": 7}}', b"[]"):
        await client.jetstream().publish(subjects.BLOCK_UPSERTED, body, stream="BLOCKS")
    await client.close()
    await eventually(lambda: _has_letters(bus, 4))
    letters = await bus.dead_letters(10)
    assert all("is not a memvault.events.v1.BlockUpserted" in letter.reason for letter in letters)
    assert [letter.deliveries for letter in letters] == [1, 1, 1, 1]
    assert sorted(letter.body for letter in letters) == sorted(
        (b"{not json", b"\xff\xfe", b'{"block": {"id": 7}}', b"[]")
    )
    assert called == []


async def test_anybody_can_publish_with_a_plain_client_and_unknown_fields_are_ignored(started, settings):
    seen: list[Event] = []
    await started("search", on_blocks(collect(seen)))
    client = await nats.connect(settings.url)
    await client.publish(subjects.BLOCK_UPSERTED, b'{"block": {"id": "x", "text": "hi"}, "from_the_future": 1}')
    await client.flush()
    await client.close()
    await eventually(lambda: len(seen) == 1)
    assert seen[0].id == f"BLOCKS:{seen[0].sequence}"
    assert seen[0].source == "unknown"


async def test_a_slow_handler_is_not_given_the_event_twice(started):
    started_handling: list[int] = []

    async def slow(event: Event) -> None:
        started_handling.append(event.delivery)
        await asyncio.sleep(2.5)

    bus = await started("search", on_blocks(slow))
    await bus.publish(subjects.BLOCK_UPSERTED, block("b1"))
    await asyncio.sleep(3)
    assert started_handling == [1]


async def test_kill_9_of_the_server_in_the_middle_loses_nothing_and_all_reconnects(started, server: NatsServer):
    seen: set[str] = set()

    async def handler(event: Event) -> None:
        seen.add(event.message.block.id)

    bus = await started("search", on_blocks(handler))
    accepted: list[str] = []

    async def write(number: int) -> None:
        await bus.publish(subjects.BLOCK_UPSERTED, block(f"b{number}"))
        accepted.append(f"b{number}")

    for number in range(40):
        await write(number)
    server.kill(signal.SIGKILL)
    waiting = asyncio.create_task(write(40))
    await asyncio.sleep(0.5)
    assert not bus.connected
    await server.start()
    await waiting
    for number in range(41, 60):
        await write(number)
    await eventually(lambda: seen == set(accepted))
    assert len(accepted) == 60
    assert bus.connected


async def test_while_the_server_is_away_publishing_fails_in_time_with_the_reason(started, server: NatsServer):
    bus = await started("gateway")
    server.kill()
    loop = asyncio.get_running_loop()
    begin = loop.time()
    with pytest.raises(Fault) as fault:
        await bus.publish(subjects.BLOCK_UPSERTED, block("b1"), timeout_s=1.0)
    assert fault.value.reason is Reason.BUS_UNAVAILABLE
    assert loop.time() - begin < 3


async def test_a_service_starts_without_the_bus_and_joins_it_when_it_comes(server: NatsServer, settings: BusSettings):
    server.kill()
    seen: list[Event] = []
    bus = build_bus(settings, "search")
    bus.subscribe(subjects.SEARCH_BLOCKS, UPSERTED, collect(seen))
    assert await bus.start(timeout_s=0.5) is False
    with pytest.raises(Fault):
        await bus.dead_letters(1)
    await server.start()
    await bus.publish(subjects.BLOCK_UPSERTED, block("b1"))
    await eventually(lambda: len(seen) == 1)
    await bus.stop()


async def test_stopping_while_the_server_is_away_does_not_hang(server: NatsServer, settings: BusSettings):
    bus = build_bus(settings, "search")
    assert await bus.start(timeout_s=10)
    server.kill()
    async with asyncio.timeout(10):
        await bus.stop()


async def test_a_connection_closed_for_good_is_opened_anew_and_others_keep_running(started):
    seen: list[Event] = []
    bus = await started("search", on_blocks(collect(seen)))
    await bus.publish(subjects.BLOCK_UPSERTED, block("b1"))
    await eventually(lambda: len(seen) == 1)
    assert bus._client is not None
    await bus._client.close()
    await bus.publish(subjects.BLOCK_UPSERTED, block("b2"))
    await eventually(lambda: len(seen) == 2)
    assert bus.connected


async def test_a_fetch_that_brings_nothing_leaves_no_work_for_the_garbage_collector(started):
    seen: list[Event] = []
    bus = await started("search", on_blocks(collect(seen)), fetch_timeout_s=0.1)
    await asyncio.sleep(0.3)  # the first fetch begins within the start
    gc.collect()
    gc.disable()
    try:
        await asyncio.sleep(1.5)
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        assert [one for one in gc.garbage if isinstance(one, asyncio.Task | TimeoutError)] == []
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()
    await bus.publish(subjects.BLOCK_UPSERTED, block("b1"))
    await eventually(lambda: len(seen) == 1)


async def test_a_changed_setting_reaches_a_durable_that_exists(started, settings):
    await started("search")
    await started("search", max_ack_pending=7)
    client = await nats.connect(settings.url)
    info = await client.jetstream().consumer_info("BLOCKS", "search__blocks")
    await client.close()
    assert info.config.max_ack_pending == 7


DYING_CONSUMER = textwrap.dedent(
    """
    import asyncio, os, sys
    from memvault.bus import subjects
    from memvault.bus.broker import BusSettings, build_bus
    from memvault.events.v1 import events_pb2

    async def die(event):
        if event.message.block.id == "poison":
            os._exit(9)
        print(event.message.block.id, flush=True)

    async def main():
        bus = build_bus(BusSettings.model_validate_json(sys.argv[1]), "search")
        bus.subscribe(subjects.SEARCH_BLOCKS, events_pb2.BlockUpserted, die)
        await bus.start(20)
        await asyncio.sleep(60)

    asyncio.run(main())
    """
)


@pytest.mark.slow
async def test_an_event_that_kills_its_process_each_time_ends_as_dead_letter_and_leaves_the_stream(started, settings):
    bus = await started("gateway")
    await bus.publish(subjects.BLOCK_UPSERTED, block("poison"), event_id="deadly")
    command = [sys.executable, "-c", DYING_CONSUMER, settings.model_dump_json()]
    for _ in range(3):
        process = await asyncio.create_subprocess_exec(*command, stdout=subprocess.DEVNULL)
        assert await asyncio.wait_for(process.wait(), 30) == 9
    survivor = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    await bus.publish(subjects.BLOCK_UPSERTED, block("healthy"))
    await eventually(lambda: _has_letters(bus, 1))
    assert survivor.stdout is not None
    assert (await asyncio.wait_for(survivor.stdout.readline(), 20)).strip() == b"healthy"
    survivor.kill()
    await survivor.wait()
    (letter,) = await bus.dead_letters(5)
    assert (letter.event_id, letter.durable) == ("deadly", "search__blocks")
    assert "process died or hung" in letter.reason
    await eventually(lambda: _erased(bus, letter.stream, letter.sequence))


async def test_kill_9_of_a_consumer_in_the_middle_of_an_event_hands_it_to_the_next(started, settings):
    bus = await started("gateway")
    script = DYING_CONSUMER.replace("os._exit(9)", "print('holding', flush=True); await asyncio.sleep(60)")
    command = [sys.executable, "-c", script, settings.model_dump_json()]
    await bus.publish(subjects.BLOCK_UPSERTED, block("poison"), event_id="held")
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    assert process.stdout is not None
    assert (await asyncio.wait_for(process.stdout.readline(), 20)).strip() == b"holding"
    process.kill()
    await process.wait()
    seen: list[Event] = []
    await started("search", on_blocks(collect(seen)))
    await eventually(lambda: [event.id for event in seen] == ["held"])


@pytest.mark.r("R-62")
async def test_an_utterance_can_be_erased_by_its_sequence(started):
    bus = await started("gateway")
    said = events_pb2.UtteranceAppended(user_id="ada", text="a secret")
    sequence = await bus.publish(subjects.UTTERANCE_APPENDED, said)
    assert [e.message.text for e in await bus.history(subjects.UTTERANCE_APPENDED, type(said), 5)] == ["a secret"]
    assert await bus.erase("UTTERANCES", sequence)
    assert not await bus.erase("UTTERANCES", sequence)
    assert await bus.history(subjects.UTTERANCE_APPENDED, type(said), 5) == []


async def test_history_gives_the_newest_events_of_one_subject_oldest_first(started):
    bus = await started("gateway")
    for number in range(5):
        await bus.publish(subjects.INJECTION_REDACTED, events_pb2.InjectionRedacted(block_id=f"b{number}"))
    found = await bus.history(subjects.INJECTION_REDACTED, events_pb2.InjectionRedacted, 3)
    assert [event.message.block_id for event in found] == ["b2", "b3", "b4"]


async def test_a_watcher_hears_what_is_published_while_it_listens(started):
    heard: list[Event] = []
    bus = await started(
        "gateway", lambda bus: bus.watch(subjects.BLOCK_INDEXED, events_pb2.BlockIndexed, collect(heard))
    )
    await bus.publish(subjects.BLOCK_INDEXED, events_pb2.BlockIndexed(upsert_event_id="e1"))
    await eventually(lambda: [event.message.upsert_event_id for event in heard] == ["e1"])


@pytest.mark.r("R-36")
async def test_a_claim_has_one_winner_and_ends_by_itself(started):
    one, two = await started("cascade"), await started("search")
    assert sorted(await asyncio.gather(one.claim("dream", 0.5), two.claim("dream", 0.5))) == [False, True]
    assert not await one.claim("dream", 0.5)
    await asyncio.sleep(0.6)
    assert sorted(await asyncio.gather(one.claim("dream", 30), two.claim("dream", 30))) == [False, True]
    await two.release("dream")
    assert await one.claim("dream", 30)


async def test_a_payload_above_the_limit_is_refused_clearly(started):
    bus = await started("gateway")
    huge = UPSERTED(block=types_pb2.Block(id="b", text="x" * 2_000_000))
    with pytest.raises(Fault) as fault:
        await bus.publish(subjects.BLOCK_UPSERTED, huge)
    assert fault.value.reason is Reason.PAYLOAD_TOO_LARGE


async def test_a_full_stream_is_a_visible_error(started):
    bus = await started("gateway", stream_max_bytes=1 << 20)
    with pytest.raises(Fault) as fault:
        for number in range(4):
            await bus.publish(
                subjects.BLOCK_UPSERTED, UPSERTED(block=types_pb2.Block(id=str(number), text="x" * 400_000))
            )
    assert fault.value.reason is Reason.OVERLOADED


async def test_the_state_of_every_durable_can_be_read(started):
    bus = await started("gateway")
    await bus.publish(subjects.BLOCK_UPSERTED, block("b1"))
    states = {state.name: state for state in await bus.durables()}
    assert set(states) == {durable.name for durable in subjects.DURABLES}

    async def told() -> bool:  # the server counts a moment after it has stored
        waiting = {state.name: state.waiting for state in await bus.durables()}
        return (waiting["search__blocks"], waiting["search__forget"]) == (1, 0)

    await eventually(told)


async def _has_letters(bus: NatsBus, count: int) -> bool:
    return len(await bus.dead_letters(100)) == count


async def _erased(bus: NatsBus, stream: str, sequence: int) -> bool:
    client = await nats.connect(bus._settings.url)
    try:
        await client.jetstream().get_msg(stream, sequence)
    except NotFoundError:
        return True
    finally:
        await client.close()
    return False
