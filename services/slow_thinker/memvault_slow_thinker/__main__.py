"""`python -m memvault_slow_thinker`: the service as a process of its own."""

from __future__ import annotations

import asyncio
import sys

from redis.asyncio import Redis

from memvault.bus.opening import open_bus
from memvault.cascade.v1.cascade_pb2_grpc import CascadeServiceStub
from memvault.embed.v1.embed_pb2_grpc import EmbedServiceStub
from memvault.llm.client import LlmSettings, open_llm
from memvault.recall.v1.recall_pb2_grpc import RecallServiceStub
from memvault.rpc.peers import Connect, by_address
from memvault.rpc.process import Close, Process
from memvault.runtime.lifecycle import run_service
from memvault.runtime.places import EMBEDDED, Addresses, Stores
from memvault.runtime.settings import load
from memvault_slow_thinker.app import App, Peers, build
from memvault_slow_thinker.settings import Settings

NAME = "slow_thinker"
_REDIS_S = 5.0


async def assemble(connect: Connect = by_address) -> Process[App]:
    """Read settings and wire the process; `connect` gives the channels to the services it asks."""
    url, bus, llm = load("stores", Stores).redis, open_bus(NAME), open_llm(load("llm", LlmSettings))
    redis = None if url == EMBEDDED else open_redis(url)
    gateway, embed, cascade = (connect(name) for name in ("gateway", "embed", "cascade"))
    peers = Peers(RecallServiceStub(gateway), EmbedServiceStub(embed), CascadeServiceStub(cascade))
    app = await build(load(NAME, Settings), peers=peers, bus=bus, redis=redis, llm=llm)
    opened: list[Close] = [*([llm.stop] if llm else []), *([redis.aclose] if redis else [])]
    address, channels = load("addresses", Addresses).slow_thinker, (gateway, embed, cascade)
    return Process(NAME, app, address, bus, channels=channels, opened=opened)


def open_redis(url: str) -> Redis:
    """Return a client that connects at its first use and waits for no answer longer than a few seconds."""
    return Redis.from_url(url, socket_timeout=_REDIS_S, socket_connect_timeout=_REDIS_S)


if __name__ == "__main__":
    sys.exit(asyncio.run(run_service(NAME, assemble)))
