"""`python -m memvault_cascade`: the service as a process of its own."""

from __future__ import annotations

import asyncio
import os
import sys
from dataclasses import dataclass
from uuid import uuid4

import grpc
from pydantic import BaseModel, ConfigDict

from memvault.bus.broker import build_bus
from memvault.bus.port import Bus
from memvault.bus.settings import BusSettings
from memvault.embed.v1 import embed_pb2_grpc
from memvault.rpc.peers import Connect, by_address
from memvault.rpc.server import RunningServer, build_server
from memvault.runtime.lifecycle import run_service
from memvault.runtime.settings import active_profile, home, load
from memvault.vectors import VectorStore
from memvault.vectors.edge import EdgeStore
from memvault.vectors.server import connect
from memvault_cascade.app import App, Peers, build
from memvault_cascade.settings import Settings

NAME = "cascade"


class Stores(BaseModel):
    """Section `stores`: each an address or `embedded`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    nats: str
    redis: str
    qdrant: str


class Addresses(BaseModel):
    """Section `addresses`: host and port of each service."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    router: str
    search: str
    embed: str
    rerank: str
    cascade: str
    slow_thinker: str
    gateway: str


@dataclass(slots=True)
class Process:
    """The service with its server and its bus, in the order in which they start."""

    app: App
    bus: Bus
    channel: grpc.aio.Channel
    listen: str
    bus_timeout_s: float
    server: RunningServer | None = None

    @property
    def address(self) -> str:
        """Where it listens."""
        return self.server.address if self.server else self.listen

    async def start(self) -> None:
        """Store first, then questions, then facts."""
        await self.app.start()
        instance = os.environ.get("MEMVAULT_INSTANCE_ID") or uuid4().hex
        self.server = await build_server(self.app.registrations, self.listen, NAME, instance)
        await self.bus.start(self.bus_timeout_s)

    async def stop(self) -> None:
        """The reverse."""
        await self.bus.stop()
        if self.server is not None:
            await self.server.stop()
        await self.app.stop()
        await self.channel.close(None)


def open_store(settings: Settings, qdrant: str) -> VectorStore:
    """The store that the setting names."""
    if qdrant == "embedded":
        return EdgeStore(home() / "data" / NAME, flush_every_s=settings.flush_every_s)
    return connect(qdrant, timeout_s=round(settings.store_timeout_s))


async def assemble(connect: Connect = by_address) -> Process:
    """Read settings and wire the process; `connect` gives the channels to the services it asks."""
    settings = load(NAME, Settings)
    stores, addresses = load("stores", Stores), load("addresses", Addresses)
    bus_settings = load("bus", BusSettings)
    if stores.nats != "embedded":
        bus_settings = bus_settings.model_copy(update={"url": stores.nats})
    bus = build_bus(bus_settings, NAME)
    channel = connect("embed")
    walks = {
        "reference": load(NAME, Settings, profile="reference").walk,
        "tuned": load(NAME, Settings, profile="tuned").walk,
    }
    app = await build(
        settings,
        peers=Peers(embed=embed_pb2_grpc.EmbedServiceStub(channel)),
        bus=bus,
        vectors=open_store(settings, stores.qdrant),
        walks=walks,
        profile=active_profile(),
    )
    return Process(app, bus, channel, addresses.cascade, bus_settings.connect_timeout_s)


if __name__ == "__main__":
    sys.exit(asyncio.run(run_service(NAME, assemble)))
