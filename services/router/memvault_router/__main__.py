"""`python -m memvault_router`: the service as a process of its own."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

from redis.asyncio import Redis

from memvault.bus.opening import open_bus
from memvault.llm.client import LlmSettings, open_llm
from memvault.rpc.peers import Connect, by_address
from memvault.rpc.process import Close, Process
from memvault.runtime.lifecycle import run_service
from memvault.runtime.places import EMBEDDED, Addresses, Stores
from memvault.runtime.settings import active_profile, home, load, load_profiles
from memvault_router.app import App, Peers, build
from memvault_router.settings import RouterSettings

NAME = "router"


def _archetype_folder() -> Path:
    chosen = load(NAME, RouterSettings).archetype_folder
    # the encoder's folder may be shared by many homes, as in tests: vectors of its texts belong beside it
    models = os.environ.get("MEMVAULT__SEARCH__EMBEDDER__MODELS")
    return Path(chosen).expanduser() if chosen else (Path(models) if models else home() / "models") / "archetypes"


async def assemble(connect: Connect = by_address) -> Process[App]:
    """Read settings and wire the process; `connect` gives the channels to the services it asks."""
    url, bus, llm = load("stores", Stores).redis, open_bus(NAME), open_llm(load("llm", LlmSettings))
    redis = Redis.from_url(url) if url != EMBEDDED else None
    channel = connect("embed")
    app = await build(
        dict[str, RouterSettings](load_profiles(NAME, RouterSettings).items()),
        peers=Peers(embed=channel),
        bus=bus,
        redis=redis,
        default_profile=active_profile(),
        chat=llm,
        archetype_folder=_archetype_folder(),
    )
    opened: list[Close] = [*([redis.aclose] if redis else []), *([llm.stop] if llm else [])]
    address = load("addresses", Addresses).router
    return Process(NAME, app, address, bus, tells_to_the_end=True, channels=(channel,), opened=opened)


if __name__ == "__main__":
    sys.exit(asyncio.run(run_service(NAME, assemble)))
