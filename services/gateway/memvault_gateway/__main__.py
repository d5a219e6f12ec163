"""`python -m memvault_gateway`: the service as a process of its own, with its gRPC and HTTP faces."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import dataclass, field

import grpc
from redis.asyncio import Redis

from memvault.bus.broker import build_bus
from memvault.bus.port import Bus
from memvault.bus.settings import BusSettings
from memvault.rpc.peers import Connect, by_address
from memvault.rpc.server import RunningServer, build_server
from memvault.runtime.lifecycle import run_service
from memvault.runtime.places import EMBEDDED, Addresses, Stores, instance_id
from memvault.runtime.settings import SettingsError, load
from memvault.runtime.topology import HttpSettings
from memvault_gateway.app import App, build, peers_of
from memvault_gateway.handlers.http import build_http
from memvault_gateway.handlers.http_server import HttpServer
from memvault_gateway.settings import Settings

NAME = "gateway"
_REDIS_S = 2.0


@dataclass(slots=True)
class Process:
    """The service with its servers, its bus and its Redis, in the order in which they start."""

    app: App
    settings: Settings
    bus: Bus
    redis: Redis
    listen: str
    http_listen: str
    bus_timeout_s: float
    channels: list[grpc.aio.Channel]
    server: RunningServer | None = None
    http: HttpServer | None = None
    stopped: list[str] = field(default_factory=list)

    @property
    def address(self) -> str:
        """Where its gRPC listens."""
        return self.server.address if self.server else self.listen

    async def start(self) -> None:
        """Bus first, so that a write is never refused for want of it; then HTTP; then gRPC, whose health says ready."""
        await self.app.start()
        await self.bus.start(self.bus_timeout_s)
        face = build_http(self.app.recall, self.app.memory, self.app.admin, self.settings)
        self.http = HttpServer(face, self.http_listen)
        await self.http.start()
        self.server = await build_server(self.app.registrations, self.listen, NAME, instance_id())

    async def stop(self) -> None:
        """The reverse."""
        if self.server is not None:
            await self.server.stop()
        if self.http is not None:
            await self.http.stop()
        await self.app.stop()
        await self.bus.stop()
        for channel in self.channels:
            await channel.close(None)
        await self.redis.aclose()


async def assemble(connect: Connect = by_address) -> Process:
    """Read settings and wire the process; `connect` gives the channels to the services it asks."""
    settings = load(NAME, Settings)
    stores, addresses = load("stores", Stores), load("addresses", Addresses)
    bus_settings = load("bus", BusSettings)
    if stores.nats != EMBEDDED:
        bus_settings = bus_settings.model_copy(update={"url": stores.nats})
    if stores.redis == EMBEDDED:
        raise SettingsError("stores.redis is embedded: start with `memvault up`, or set it to a redis:// address")
    redis = Redis.from_url(stores.redis, socket_timeout=_REDIS_S, socket_connect_timeout=_REDIS_S)
    channels: dict[str, grpc.aio.Channel] = {}

    def channel(name: str) -> grpc.aio.Channel:
        return channels.setdefault(name, connect(name))

    bus = build_bus(bus_settings, NAME)
    app = await build(settings, peers=peers_of(channel), bus=bus, redis=redis)
    http_listen = load("http", HttpSettings).address
    return Process(
        app,
        settings,
        bus,
        redis,
        addresses.gateway,
        http_listen,
        bus_settings.connect_timeout_s,
        list(channels.values()),
    )


if __name__ == "__main__":
    sys.exit(asyncio.run(run_service(NAME, assemble)))
