"""`python -m memvault_search`: the service as a process of its own."""

from __future__ import annotations

import asyncio
import sys

import structlog

from memvault.bus.opening import open_bus
from memvault.faults import Fault, Reason
from memvault.rerank.v1.rerank_pb2_grpc import RerankServiceStub
from memvault.rpc.peers import Connect, by_address
from memvault.rpc.process import Process
from memvault.runtime.lifecycle import run_service
from memvault.runtime.places import EMBEDDED, Addresses, Stores
from memvault.runtime.settings import active_profile, home, load, load_profiles
from memvault.vectors import VectorStore
from memvault.vectors.opening import open_store
from memvault_search.adapters.embedder_opening import open_embedder, open_former
from memvault_search.adapters.pointer import read_pointer
from memvault_search.app import App, Peers, build
from memvault_search.ports import RunningEmbedder
from memvault_search.settings import EmbedderSettings, SearchSettings

NAME = "search"
_log = structlog.get_logger("memvault.search")


async def assemble(connect: Connect = by_address) -> Process[App]:
    """Read settings and wire the process; `connect` gives the channels to the services it asks."""
    profiles, profile = load_profiles(NAME, SearchSettings), active_profile()
    qdrant, index = load("stores", Stores).qdrant, profiles[profile].index
    bus, channel = open_bus(NAME), connect("rerank")
    store = open_store(NAME, qdrant, flush_every_s=index.flush_every_s, timeout_s=index.server_timeout_s)
    embedder = await asyncio.to_thread(open_embedder, profiles[profile].embedder, home())
    former, house = await _others(store, embedder, profiles[profile].embedder)
    app = await build(
        profiles,
        profile=profile,
        peers=Peers(rerank=RerankServiceStub(channel)),
        bus=bus,
        store=store,
        store_name="edge" if qdrant == EMBEDDED else "server",
        embedder=embedder,
        former=former,
        house=house,
        failed=lambda error: _log.error("reindex failed", error=repr(error), exc_info=error),
    )
    return Process(NAME, app, load("addresses", Addresses).search, bus, channels=(channel,))


async def _others(
    store: VectorStore, embedder: RunningEmbedder, settings: EmbedderSettings
) -> tuple[RunningEmbedder | None, RunningEmbedder | None]:
    """The encoders of the index that is there and of the rest of the house, where they differ from the one set.

    Raises:
        Fault: EMBEDDER_CHANGED when the house's encoder cannot be had.
    """
    pointer = await read_pointer(store)
    if pointer is None:
        return None, None
    former = house = None
    current = pointer.current
    if current.made.encoder != (embedder.id, embedder.prefix_version):
        former = await asyncio.to_thread(open_former, current.made, current.settings, settings, home())
        if former is not None:
            _log.warning("the index was made by another encoder, and answers with it: run `memvault reindex`")
    serving = former or embedder
    if pointer.house is not None and pointer.house.made.encoder != (serving.id, serving.prefix_version):
        kept = pointer.house
        house = embedder if kept.made.encoder == (embedder.id, embedder.prefix_version) else None
        house = house or await asyncio.to_thread(open_former, kept.made, kept.settings, settings, home())
        if house is None:
            text = f"the graph was made by encoder {kept.made}, which is not there: put its model back"
            raise Fault(Reason.EMBEDDER_CHANGED, text)
    return former, house


if __name__ == "__main__":
    sys.exit(asyncio.run(run_service(NAME, assemble)))
