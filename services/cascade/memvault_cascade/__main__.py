"""`python -m memvault_cascade`: the service as a process of its own."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import dataclass

import grpc

from memvault.bus.broker import build_bus
from memvault.bus.port import Bus
from memvault.bus.settings import BusSettings
from memvault.embed.v1 import embed_pb2_grpc
from memvault.llm.client import LlmClient, LlmSettings, open_llm
from memvault.rpc.peers import Connect, by_address
from memvault.rpc.server import RunningServer, build_server
from memvault.runtime.lifecycle import run_service
from memvault.runtime.places import EMBEDDED, Addresses, Stores, instance_id
from memvault.runtime.settings import Profile, active_profile, home, load
from memvault.vectors import VectorStore
from memvault.vectors.edge import EdgeStore
from memvault_cascade.app import App, Peers, build
from memvault_cascade.settings import Settings

NAME = "cascade"
PROFILES: tuple[Profile, ...] = ("reference", "tuned")


@dataclass(slots=True)
class Process:
    """The service with its server and its bus, in the order in which they start."""

    app: App
    bus: Bus
    llm: LlmClient | None
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
        await self.channel.close(None)


def open_store(settings: Settings, qdrant: str) -> VectorStore:
    """The store that the setting names, not opened yet."""
    if qdrant == EMBEDDED:
        return EdgeStore(home() / "data" / NAME, flush_every_s=settings.flush_every_s)
    # imported here: an embedded store need not pay for the client of a server
    from memvault.vectors.server import connect as connect_store  # noqa: PLC0415

    return connect_store(qdrant, timeout_s=settings.store_timeout_s)


async def assemble(connect: Connect = by_address) -> Process:
    """Read settings and wire the process; `connect` gives the channels to the services it asks."""
    settings, profile = load(NAME, Settings), active_profile()
    stores, addresses = load("stores", Stores), load("addresses", Addresses)
    bus_settings = load("bus", BusSettings)
    if stores.nats != EMBEDDED:
        bus_settings = bus_settings.model_copy(update={"url": stores.nats})
    bus = build_bus(bus_settings, NAME)
    llm = open_llm(load("llm", LlmSettings))
    channel = connect("embed")
    app = await build(
        settings,
        peers=Peers(embed=embed_pb2_grpc.EmbedServiceStub(channel)),
        bus=bus,
        vectors=open_store(settings, stores.qdrant),
        walks={name: load(NAME, Settings, profile=name).walk for name in PROFILES},
        profile=profile,
        chat=llm,
    )
    return Process(app, bus, llm, channel, addresses.cascade, bus_settings.connect_timeout_s)


if __name__ == "__main__":
    sys.exit(asyncio.run(run_service(NAME, assemble)))
