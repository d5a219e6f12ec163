"""`python -m memvault_gateway`: the service as a process of its own, with its gRPC and HTTP faces."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import dataclass

import grpc
from redis.asyncio import Redis

from memvault.bus.opening import open_bus
from memvault.rpc import process
from memvault.rpc.peers import Connect, by_address
from memvault.runtime.lifecycle import run_service
from memvault.runtime.places import EMBEDDED, Addresses, Stores
from memvault.runtime.settings import SettingsError, load
from memvault.runtime.topology import HttpSettings
from memvault_gateway.app import App, build, peers_of
from memvault_gateway.handlers.http import build_http
from memvault_gateway.handlers.http_server import HttpServer
from memvault_gateway.settings import Settings

NAME = "gateway"
_REDIS_S = 2.0


@dataclass(slots=True, kw_only=True)
class Process(process.Process[App]):
    """As any other, with an HTTP face beside the gRPC server."""

    http: HttpServer

    async def start(self) -> None:
        """Bus first, so that a write is never refused for want of it; then HTTP; then gRPC, whose health says ready."""
        await self.app.start()
        await self.hear()
        await self.http.start()
        await self.serve()

    async def close_doors(self) -> None:
        """Accept no more questions on either face."""
        await process.Process.close_doors(self)  # super() does not know a class with slots
        await self.http.stop()


async def assemble(connect: Connect = by_address) -> Process:
    """Read settings and wire the process; `connect` gives the channels to the services it asks."""
    settings, url = load(NAME, Settings), load("stores", Stores).redis
    if url == EMBEDDED:
        raise SettingsError("stores.redis is embedded: start with `memvault up`, or set it to a redis:// address")
    redis = Redis.from_url(url, socket_timeout=_REDIS_S, socket_connect_timeout=_REDIS_S)
    channels: dict[str, grpc.aio.Channel] = {}

    def channel(name: str) -> grpc.aio.Channel:
        return channels.setdefault(name, connect(name))

    bus = open_bus(NAME)
    address = load("http", HttpSettings).address
    app = await build(settings, peers=peers_of(channel), bus=bus, redis=redis)
    return Process(
        name=NAME,
        app=app,
        listen=load("addresses", Addresses).gateway,
        bus=bus,
        tells_to_the_end=True,
        channels=list(channels.values()),
        opened=(redis.aclose,),
        http=HttpServer(build_http(app.recall, app.memory, app.admin, settings, address), address),
    )


if __name__ == "__main__":
    sys.exit(asyncio.run(run_service(NAME, assemble)))
