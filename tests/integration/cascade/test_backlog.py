"""A backlog of events on a real bus: taken up in batches, and dropped at once when its user is forgotten."""

import asyncio
import time

import pytest

from memvault.bus.broker import BusSettings, build_bus
from memvault.bus.subjects import BLOCK_FORGOTTEN, BLOCK_INDEXED, CASCADE_BLOCKS
from memvault.cascade.v1 import cascade_pb2, cascade_pb2_grpc
from memvault.embed.v1 import embed_pb2_grpc
from memvault.events.v1 import events_pb2
from memvault.recall.v1 import types_pb2
from memvault.rpc.local import LocalChannel
from memvault.runtime.settings import load
from memvault.vectors.edge import EdgeStore
from memvault_cascade.app import Peers, build
from memvault_cascade.settings import Settings
from tests.integration.bus.nats_server import NatsServer
from tests.integration.cascade.test_app import NOW, WordEmbed
from tests.unit.cascade.conftest import until

EVENTS = 200
ENCODING_S = 0.5


class SlowEmbed(WordEmbed):
    """An encoder that is busy with other things, and remembers how often it was asked."""

    def __init__(self):
        self.calls = 0
        self.pause_s = 0.0

    async def Embed(self, request, context):
        self.calls += 1
        await asyncio.sleep(self.pause_s)
        return await super().Embed(request, context)


class Backlog:
    """Cascade on a bus, with a stub, an encoder to slow down, and events that wait."""

    def __init__(self, app, bus, embed):
        self.app, self.bus, self.embed = app, bus, embed
        self.stub = cascade_pb2_grpc.CascadeServiceStub(LocalChannel(app.registrations, "cascade"))

    async def fill(self, user, count=EVENTS):
        for number in range(count):
            text = f"Person{number} uses Tool{number}."
            block = types_pb2.Block(id=f"b{number}", user_id=user, text=text, version=1)
            block.event_time.FromDatetime(NOW)
            await self.bus.publish(BLOCK_INDEXED, events_pb2.BlockIndexed(block=block, changed=True))

    async def drained(self):
        states = {one.name: one for one in await self.bus.durables()}
        one = states[CASCADE_BLOCKS.name]
        return one.waiting + one.in_flight == 0

    async def graph(self, user):
        return await self.stub.GetGraph(cascade_pb2.GetGraphRequest(user_id=user), timeout=10)


@pytest.fixture
async def backlog(tmp_path):
    server = NatsServer(tmp_path / "nats")
    await server.start()
    bus = build_bus(load("bus", BusSettings, home=tmp_path).model_copy(update={"url": server.url}), "cascade")
    embed = SlowEmbed()
    servicers = ((embed_pb2_grpc.add_EmbedServiceServicer_to_server, embed),)
    app = await build(
        load("cascade", Settings, profile="reference", home=tmp_path, environ={}),
        peers=Peers(embed=embed_pb2_grpc.EmbedServiceStub(LocalChannel(servicers, "embed"))),
        bus=bus,
        vectors=EdgeStore(tmp_path / "data", flush_every_s=60),
        profile="reference",
        alarm=False,
    )
    await app.start()
    assert await bus.start(timeout_s=20)
    yield Backlog(app, bus, embed)
    await bus.stop()
    await app.stop()
    server.kill()


@pytest.mark.r("R-60")
async def test_events_that_wait_on_the_bus_are_taken_up_in_batches(backlog):
    await backlog.fill("alice")
    await until(backlog.drained, 60)
    assert (await backlog.graph("alice")).triples == EVENTS
    assert backlog.embed.calls < EVENTS / 2


@pytest.mark.r("R-62")
async def test_a_user_who_is_forgotten_waits_for_no_backlog_and_the_backlog_is_dropped(backlog):
    """In the order of the house: the fact first, then the call, which does not know the place of the fact."""
    backlog.embed.pause_s = ENCODING_S
    await backlog.fill("alice")
    told = await backlog.bus.publish(BLOCK_FORGOTTEN, events_pb2.BlockForgotten(user_id="alice", whole_user=True))
    started = time.perf_counter()
    await backlog.stub.ForgetGraph(cascade_pb2.ForgetGraphRequest(user_id="alice"), timeout=10)
    assert time.perf_counter() - started < 5

    async def known():
        return (await backlog.app.graphs.state("alice")).forgotten_through == told

    await until(known)
    asked = backlog.embed.calls
    await until(backlog.drained, 60)
    state = await backlog.app.graphs.state("alice")
    assert state.forgotten_through == told
    # What was on its way to the encoder at that moment, of a batch or of a summary, may still arrive.
    assert backlog.embed.calls <= asked + 2
    assert (len(state.graph.blocks), len(state.graph.triples)) == (0, 0)
    await backlog.fill("bob", 1)
    await until(backlog.drained, 60)
    assert (await backlog.graph("bob")).triples == 1
