"""`python -m memvault_router`: the service as a process of its own."""

from __future__ import annotations

import asyncio
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import grpc
from redis.asyncio import Redis

from memvault.bus.broker import build_bus
from memvault.bus.port import Bus
from memvault.bus.settings import BusSettings
from memvault.llm.client import LlmClient, LlmSettings, open_llm
from memvault.rpc.peers import Connect, by_address
from memvault.rpc.server import RunningServer, build_server
from memvault.runtime.lifecycle import run_service
from memvault.runtime.places import EMBEDDED, Addresses, Stores
from memvault.runtime.settings import active_profile, home, load
from memvault_router.app import App, Peers, build
from memvault_router.settings import RouterSettings

NAME = "router"


@dataclass(slots=True)
class Process:
    """The service with its server, bus and Redis, in the order in which they start."""

    app: App
    bus: Bus
    redis: Redis | None
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
        """Archetypes first, then questions, then facts."""
        await self.app.start()
        instance = os.environ.get("MEMVAULT_INSTANCE_ID") or uuid4().hex
        self.server = await build_server(self.app.registrations, self.listen, NAME, instance)
        await self.bus.start(self.bus_timeout_s)

    async def stop(self) -> None:
        """The reverse; facts under way are published before the bus goes."""
        if self.server is not None:
            await self.server.stop()
        await self.app.stop()
        await self.bus.stop()
        await self.channel.close(None)
        if self.redis is not None:
            await self.redis.aclose()
        if self.llm is not None:
            await self.llm.stop()


def _archetype_folder() -> Path:
    chosen = load(NAME, RouterSettings).archetype_folder
    # the encoder's folder may be shared by many homes, as in tests: vectors of its texts belong beside it
    models = os.environ.get("MEMVAULT__SEARCH__EMBEDDER__MODELS")
    return Path(chosen).expanduser() if chosen else (Path(models) if models else home() / "models") / "archetypes"


async def assemble(connect: Connect = by_address) -> Process:
    """Read settings and wire the process; `connect` gives the channels to the services it asks."""
    stores, addresses = load("stores", Stores), load("addresses", Addresses)
    bus_settings = load("bus", BusSettings)
    if stores.nats != EMBEDDED:
        bus_settings = bus_settings.model_copy(update={"url": stores.nats})
    bus = build_bus(bus_settings, NAME)
    redis = Redis.from_url(stores.redis) if stores.redis != EMBEDDED else None
    channel = connect("embed")
    llm = open_llm(load("llm", LlmSettings))
    app = await build(
        {
            "reference": load(NAME, RouterSettings, profile="reference"),
            "tuned": load(NAME, RouterSettings, profile="tuned"),
        },
        peers=Peers(embed=channel),
        bus=bus,
        redis=redis,
        default_profile=active_profile(),
        chat=llm,
        archetype_folder=_archetype_folder(),
    )
    return Process(app, bus, redis, llm, channel, addresses.router, bus_settings.connect_timeout_s)


if __name__ == "__main__":
    sys.exit(asyncio.run(run_service(NAME, assemble)))
