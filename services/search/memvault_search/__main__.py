"""`python -m memvault_search`: the service as a process of its own."""

from __future__ import annotations

import asyncio
import sys

from memvault.bus.opening import open_bus
from memvault.rerank.v1.rerank_pb2_grpc import RerankServiceStub
from memvault.rpc.peers import Connect, by_address
from memvault.rpc.process import Process
from memvault.runtime.lifecycle import run_service
from memvault.runtime.places import EMBEDDED, Addresses, Stores
from memvault.runtime.settings import active_profile, home, load, load_profiles
from memvault.vectors.opening import open_store
from memvault_search.adapters.embedder_opening import open_embedder
from memvault_search.app import App, Peers, build
from memvault_search.settings import SearchSettings

NAME = "search"


async def assemble(connect: Connect = by_address) -> Process[App]:
    """Read settings and wire the process; `connect` gives the channels to the services it asks."""
    profiles, profile = load_profiles(NAME, SearchSettings), active_profile()
    qdrant, index = load("stores", Stores).qdrant, profiles[profile].index
    bus, channel = open_bus(NAME), connect("rerank")
    app = await build(
        profiles,
        profile=profile,
        peers=Peers(rerank=RerankServiceStub(channel)),
        bus=bus,
        store=open_store(NAME, qdrant, flush_every_s=index.flush_every_s, timeout_s=index.server_timeout_s),
        store_name="edge" if qdrant == EMBEDDED else "server",
        embedder=await asyncio.to_thread(open_embedder, profiles[profile].embedder, home()),
    )
    return Process(NAME, app, load("addresses", Addresses).search, bus, channels=(channel,))


if __name__ == "__main__":
    sys.exit(asyncio.run(run_service(NAME, assemble)))
