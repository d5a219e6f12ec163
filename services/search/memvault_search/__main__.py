"""`python -m memvault_search`: the service as a process of its own."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import dataclass

import grpc

from memvault.bus.broker import build_bus
from memvault.bus.port import Bus
from memvault.bus.settings import BusSettings
from memvault.rerank.v1.rerank_pb2_grpc import RerankServiceStub
from memvault.rpc.peers import Connect, by_address
from memvault.rpc.server import RunningServer, build_server
from memvault.runtime.lifecycle import run_service
from memvault.runtime.places import EMBEDDED, Addresses, Stores, instance_id
from memvault.runtime.settings import active_profile, home, load
from memvault.vectors import VectorStore
from memvault.vectors.edge import EdgeStore
from memvault_search.adapters.embedder_e5 import open_embedder
from memvault_search.app import App, Peers, build
from memvault_search.settings import Index, Profile, SearchSettings

NAME = "search"
PROFILES: tuple[Profile, ...] = ("reference", "tuned")


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
        """Encoder and store first, then questions, then facts."""
        await self.app.start()
        self.server = await build_server(self.app.registrations, self.listen, NAME, instance_id())
        await self.bus.start(self.bus_timeout_s)

    async def stop(self) -> None:
        """The reverse."""
        await self.bus.stop()
        if self.server is not None:
            await self.server.stop()
        await self.app.stop()
        await self.channel.close(None)


def open_store(index: Index, qdrant: str) -> tuple[VectorStore, str]:
    """The store that the setting names, not opened yet, and its kind."""
    if qdrant == EMBEDDED:
        return EdgeStore(home() / "data" / NAME, flush_every_s=index.flush_every_s), "edge"
    # imported here: an embedded store need not pay for the client of a server
    from memvault.vectors.server import connect  # noqa: PLC0415

    return connect(qdrant, timeout_s=index.server_timeout_s), "server"


async def assemble(connect: Connect = by_address) -> Process:
    """Read settings and wire the process; `connect` gives the channels to the services it asks."""
    profiles = {name: load(NAME, SearchSettings, profile=name) for name in PROFILES}
    profile = active_profile()
    stores, addresses = load("stores", Stores), load("addresses", Addresses)
    bus_settings = load("bus", BusSettings)
    if stores.nats != EMBEDDED:
        bus_settings = bus_settings.model_copy(update={"url": stores.nats})
    bus = build_bus(bus_settings, NAME)
    channel = connect("rerank")
    store, kind = open_store(profiles[profile].index, stores.qdrant)
    app = await build(
        profiles,
        profile=profile,
        peers=Peers(rerank=RerankServiceStub(channel)),
        bus=bus,
        store=store,
        store_name=kind,
        embedder=await asyncio.to_thread(open_embedder, profiles[profile].embedder, home()),
    )
    return Process(app, bus, channel, addresses.search, bus_settings.connect_timeout_s)


if __name__ == "__main__":
    sys.exit(asyncio.run(run_service(NAME, assemble)))
