"""The search service as it runs on a laptop: packaged encoder, embedded engine, reranker; made once."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

import pytest
import pytest_asyncio

from memvault.bus.memory import MemoryBus
from memvault.recall.v1 import types_pb2
from memvault.rerank.v1.rerank_pb2_grpc import RerankServiceStub
from memvault.rpc.local import LocalChannel
from memvault.runtime.settings import load
from memvault.search.v1.search_pb2_grpc import SearchServiceStub
from memvault.vectors.edge import EdgeStore
from memvault_rerank.app import build as build_rerank
from memvault_rerank.settings import RerankSettings
from memvault_search.adapters.embedder_opening import open_embedder
from memvault_search.app import App, Peers, build
from memvault_search.domain.moment import Moment
from memvault_search.handlers.convert import block_from
from memvault_search.settings import Profile, SearchSettings
from memvault_search.usecases.writing import Write

NAMES: tuple[Profile, ...] = ("reference", "tuned")
_numbers = count(1)


@dataclass
class RealSearch:
    """The service, its bus, and a stub that calls it as another service would."""

    app: App
    bus: MemoryBus
    stub: SearchServiceStub
    folder: Path

    async def write(self, blocks: Sequence[types_pb2.Block]) -> None:
        """Store blocks as the bus would deliver them, many at a time."""
        writes = [
            Write(block_from(block), "refuse", f"e{number}", Moment(number, datetime.now(UTC)))
            for block, number in zip(blocks, _numbers, strict=False)
        ]
        await asyncio.gather(*map(self.app.usecases.writing.write, writes))


def models_home() -> Path:
    configured = os.environ.get("MEMVAULT_HOME", "")
    return Path(configured) if configured else Path(__file__).parents[3] / ".memvault"


async def open_search(folder: Path) -> RealSearch:
    profiles = {name: load("search", SearchSettings, profile=name, environ={}, home=folder) for name in NAMES}
    rerank = await build_rerank(load("rerank", RerankSettings, environ={}, home=folder))
    await rerank.start()
    bus = MemoryBus("search")
    app = await build(
        profiles,
        profile="tuned",
        peers=Peers(rerank=RerankServiceStub(LocalChannel(rerank.registrations, "rerank"))),
        bus=bus,
        store=EdgeStore(folder / "data", flush_every_s=30),
        store_name="edge",
        embedder=open_embedder(profiles["tuned"].embedder, models_home()),
    )
    await app.start()
    await bus.start(1)
    return RealSearch(app, bus, SearchServiceStub(LocalChannel(app.registrations, "search")), folder)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def real_search(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[RealSearch]:
    running = await open_search(tmp_path_factory.mktemp("search"))
    yield running
    await running.bus.stop()
    await running.app.stop()
