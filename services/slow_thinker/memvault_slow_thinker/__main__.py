"""`python -m memvault_slow_thinker`: the service as a process of its own."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import dataclass

import grpc
from redis.asyncio import Redis

from memvault.bus.broker import build_bus
from memvault.bus.port import Bus
from memvault.bus.settings import BusSettings
from memvault.cascade.v1.cascade_pb2_grpc import CascadeServiceStub
from memvault.embed.v1.embed_pb2_grpc import EmbedServiceStub
from memvault.llm.client import LlmClient, LlmSettings, open_llm
from memvault.recall.v1.recall_pb2_grpc import RecallServiceStub
from memvault.rpc.peers import Connect, by_address
from memvault.rpc.server import RunningServer, build_server
from memvault.runtime.lifecycle import run_service
from memvault.runtime.places import EMBEDDED, Addresses, Stores, instance_id
from memvault.runtime.settings import load
from memvault_slow_thinker.app import App, Peers, build
from memvault_slow_thinker.settings import Settings

NAME = "slow_thinker"
_REDIS_S = 5.0


@dataclass(slots=True)
class Process:
    """The service with its server, its bus and its Redis, in the order in which they start."""

    app: App
    bus: Bus
    redis: Redis | None
    llm: LlmClient | None
    channels: tuple[grpc.aio.Channel, ...]
    listen: str
    bus_timeout_s: float
    server: RunningServer | None = None

    @property
    def address(self) -> str:
        """Where it listens."""
        return self.server.address if self.server else self.listen

    async def start(self) -> None:
        """Questions first, then facts."""
        await self.app.start()
        self.server = await build_server(self.app.registrations, self.listen, NAME, instance_id())
        await self.bus.start(self.bus_timeout_s)

    async def stop(self) -> None:
        """The reverse."""
        await self.bus.stop()
        if self.server is not None:
            await self.server.stop()
        await self.app.stop()
        if self.llm is not None:
            await self.llm.stop()
        for channel in self.channels:
            await channel.close(None)
        if self.redis is not None:
            await self.redis.aclose()


async def assemble(connect: Connect = by_address) -> Process:
    """Read settings and wire the process; `connect` gives the channels to the services it asks."""
    settings = load(NAME, Settings)
    stores, addresses = load("stores", Stores), load("addresses", Addresses)
    bus_settings = load("bus", BusSettings)
    if stores.nats != EMBEDDED:
        bus_settings = bus_settings.model_copy(update={"url": stores.nats})
    bus = build_bus(bus_settings, NAME)
    redis = None if stores.redis == EMBEDDED else open_redis(stores.redis)
    gateway, embed, cascade = (connect(name) for name in ("gateway", "embed", "cascade"))
    peers = Peers(RecallServiceStub(gateway), EmbedServiceStub(embed), CascadeServiceStub(cascade))
    llm = open_llm(load("llm", LlmSettings))
    app = await build(settings, peers=peers, bus=bus, redis=redis, llm=llm)
    return Process(
        app, bus, redis, llm, (gateway, embed, cascade), addresses.slow_thinker, bus_settings.connect_timeout_s
    )


def open_redis(url: str) -> Redis:
    """Return a client that connects at its first use and waits for no answer longer than a few seconds."""
    return Redis.from_url(url, socket_timeout=_REDIS_S, socket_connect_timeout=_REDIS_S)


if __name__ == "__main__":
    sys.exit(asyncio.run(run_service(NAME, assemble)))
