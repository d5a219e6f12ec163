"""Wires search together: the only place that knows which adapter serves which port."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memvault.bus.port import Bus
from memvault.embed.v1.embed_pb2_grpc import add_EmbedServiceServicer_to_server
from memvault.ops import Observer
from memvault.rpc import deadline
from memvault.rpc.methods import Registration
from memvault.runtime import telemetry
from memvault.search.v1.search_pb2_grpc import add_SearchServiceServicer_to_server
from memvault.text import search_tokens
from memvault.vectors import VectorStore
from memvault_search.adapters.announcer import BusAnnouncer
from memvault_search.adapters.embedder_cache import CachedEmbedder
from memvault_search.adapters.index import StoredIndex
from memvault_search.adapters.persons_file import load_persons
from memvault_search.adapters.predicates_file import load_single_valued
from memvault_search.adapters.rerank_client import RerankClient
from memvault_search.adapters.strengths_file import load_strengths
from memvault_search.adapters.system_clock import SystemClock
from memvault_search.domain.scoring.telling_apart import tell_apart
from memvault_search.handlers.convert import block_to
from memvault_search.handlers.embed import EmbedHandlers
from memvault_search.handlers.events import EventHandlers
from memvault_search.handlers.search import SearchHandlers
from memvault_search.ports import Clock, Reranker, RunningEmbedder
from memvault_search.settings import Profile, SearchSettings
from memvault_search.usecases.dreaming import Dreaming
from memvault_search.usecases.encoding import Encoder
from memvault_search.usecases.finishing import Finishing
from memvault_search.usecases.forgetting import Forgetting
from memvault_search.usecases.freezing import Freezing
from memvault_search.usecases.gathering import Gathering
from memvault_search.usecases.preparing import Preparing
from memvault_search.usecases.reading import Reading
from memvault_search.usecases.saving import Saving
from memvault_search.usecases.searching import Searching
from memvault_search.usecases.signals import Signals
from memvault_search.usecases.stopwatch import Stopwatch
from memvault_search.usecases.storing import Storing
from memvault_search.usecases.succession import Succession
from memvault_search.usecases.vaults import Vaults
from memvault_search.usecases.writing import Writing

if TYPE_CHECKING:  # generated, and only there for type checkers
    from memvault.rerank.v1.rerank_pb2_grpc import RerankServiceAsyncStub


@dataclass(frozen=True, slots=True)
class Peers:
    """Stubs of the services that search calls."""

    rerank: RerankServiceAsyncStub


@dataclass(frozen=True, slots=True)
class UseCases:
    """The use cases, for a process that calls them directly."""

    searching: Searching
    writing: Writing
    forgetting: Forgetting
    signals: Signals
    dreaming: Dreaming
    reading: Reading
    preparing: Preparing


@dataclass(frozen=True, slots=True)
class App:
    """The service: start it before the bus starts and before its servicers are called; stop it after both."""

    registrations: Sequence[Registration]
    usecases: UseCases
    vaults: Vaults
    index: StoredIndex
    _embedder: RunningEmbedder
    _store: VectorStore
    _warm_users: int

    async def start(self) -> None:
        """Load the encoder, open the store, and read the users' blocks into memory.

        Raises:
            Fault: EMBEDDER_CHANGED when the index was made by another encoder.
            StoreLockedError, SpecMismatchError: as in `VectorStore.ensure`.
        """
        await self._embedder.start()
        await asyncio.to_thread(_warm_up)
        await self.index.open(encoder_id=self._embedder.id, prefix_version=self._embedder.prefix_version)
        for user_id in (await self.index.users())[: self._warm_users]:
            await self.vaults.of(user_id)

    async def stop(self) -> None:
        """Write everything to the disk and let go."""
        await self._store.close()
        await self._embedder.stop()


def _warm_up() -> None:
    """Load the dictionaries, which takes half a second: the first question shall not wait for them."""
    search_tokens("熱身 warming up")
    tell_apart("the first of 2 texts", "第二段文字")


async def build(  # noqa: PLR0913 - each is a part that a test or another way to run may replace
    profiles: Mapping[Profile, SearchSettings],
    *,
    profile: Profile,
    peers: Peers,
    bus: Bus,
    store: VectorStore,
    store_name: str,
    embedder: RunningEmbedder,
    clock: Clock | None = None,
    reranker: Reranker | None = None,
    observer: Observer = telemetry.OBSERVER,
) -> App:
    """Build the service.

    Args:
        profiles: Numbers of both profiles; section `search`.
        profile: Which of them counts when a question names none, and for writes.
        peers: The services it calls.
        bus: Not started yet; the handlers are registered here.
        store: Not opened yet.
        store_name: `edge` or `server`, for status.
        embedder: Not started yet.
        clock: None: the machine's.
        reranker: None: the rerank service.
        observer: Sees every step.
    """
    settings = profiles[profile]
    ticking = clock or SystemClock()
    cached = CachedEmbedder(embedder, max_bytes=settings.embedder.cache_bytes)
    index = StoredIndex(
        store, dimension=embedder.dimension, page=settings.index.page, token_cache=settings.index.token_cache
    )
    vaults = Vaults(
        index, embedder.means, blocks_in_memory=settings.index.blocks_in_memory, shared=store_name == "server"
    )
    announcer = BusAnnouncer(bus, block_to)
    encoder = Encoder(cached, index, settings)
    saving = Saving(index)
    succession = Succession(saving, load_single_valued())
    storing = Storing(vaults, index, encoder, settings)
    writing = Writing(vaults, index, storing, succession, announcer, ticking, settings)
    forgetting = Forgetting(vaults, index, encoder, succession, announcer, ticking, settings)
    signals = Signals(vaults, saving, announcer, event_ids_kept=settings.writing.event_ids_kept)
    freezing = Freezing(storing, announcer, ticking, settings)
    dreaming = Dreaming(vaults, index, encoder, freezing, saving, announcer, ticking, settings)
    reading = Reading(vaults, index)
    preparing = Preparing(vaults, newer_at_most=settings.finding.candidates)
    reranking = reranker or RerankClient(peers.rerank, encoder_id=embedder.id)
    searching = Searching(
        vaults,
        cached,
        embedder.means,
        Gathering(index, load_persons()),
        Finishing(index, cached, reranking),
        profiles,
        load_strengths(),
        time_left_s=deadline.remaining_s,
        stopwatch=lambda: Stopwatch(observer),
    )
    EventHandlers(writing, forgetting, signals, dreaming).subscribe(bus)
    handlers = SearchHandlers(
        searching,
        preparing,
        forgetting,
        reading,
        ticking,
        dimension=embedder.dimension,
        encoder_id=embedder.id,
        store=store_name,
        profile=profile,
        limit=settings.finding.limit,
    )
    registrations: Sequence[Registration] = (
        (add_SearchServiceServicer_to_server, handlers),
        (add_EmbedServiceServicer_to_server, EmbedHandlers(cached)),
    )
    usecases = UseCases(searching, writing, forgetting, signals, dreaming, reading, preparing)
    return App(registrations, usecases, vaults, index, embedder, store, settings.index.warm_users)
