"""`python -m memvault_cascade`: the service as a process of its own."""

from __future__ import annotations

import asyncio
import sys

from memvault.bus.opening import open_bus
from memvault.embed.v1 import embed_pb2_grpc
from memvault.llm.client import LlmSettings, open_llm
from memvault.rpc.peers import Connect, by_address
from memvault.rpc.process import Process
from memvault.runtime.lifecycle import run_service
from memvault.runtime.places import Addresses, Stores
from memvault.runtime.settings import active_profile, load, load_profiles
from memvault.vectors.opening import open_store
from memvault_cascade.app import App, Peers, build
from memvault_cascade.settings import Settings

NAME = "cascade"


async def assemble(connect: Connect = by_address) -> Process[App]:
    """Read settings and wire the process; `connect` gives the channels to the services it asks."""
    profiles, profile = load_profiles(NAME, Settings), active_profile()
    settings, qdrant = profiles[profile], load("stores", Stores).qdrant
    bus, llm, channel = open_bus(NAME), open_llm(load("llm", LlmSettings)), connect("embed")
    app = await build(
        settings,
        peers=Peers(embed=embed_pb2_grpc.EmbedServiceStub(channel)),
        bus=bus,
        vectors=open_store(NAME, qdrant, flush_every_s=settings.flush_every_s, timeout_s=settings.store_timeout_s),
        walks={name: each.walk for name, each in profiles.items()},
        profile=profile,
        chat=llm,
    )
    address, opened = load("addresses", Addresses).cascade, (llm.stop,) if llm else ()
    return Process(NAME, app, address, bus, channels=(channel,), opened=opened)


if __name__ == "__main__":
    sys.exit(asyncio.run(run_service(NAME, assemble)))
