"""Wires search together: the only place that knows which adapter serves which port."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memvault.bus.port import Bus
from memvault.embed.v1.embed_pb2_grpc import add_EmbedServiceServicer_to_server
from memvault.ops import Observer
from memvault.rpc import deadline
from memvault.rpc.methods import Registration
from memvault.runtime import telemetry
from memvault.search.v1.search_pb2_grpc import add_SearchServiceServicer_to_server
from memvault.vectors import VectorStore
from memvault_search.adapters.announcer import BusAnnouncer
from memvault_search.adapters.deeds_file import load_deeds
from memvault_search.adapters.embedder_cache import CachedEmbedder
from memvault_search.adapters.generations import Generations
from memvault_search.adapters.index import StoredIndex
from memvault_search.adapters.parts_file import load_parts
from memvault_search.adapters.persons_file import load_persons
from memvault_search.adapters.predicates_file import load_single_valued
from memvault_search.adapters.rerank_client import RerankClient
from memvault_search.adapters.strengths_file import load_strengths
from memvault_search.adapters.system_clock import SystemClock
from memvault_search.adapters.token_opening import tokens_beside
from memvault_search.adapters.token_store import TokenStore
from memvault_search.domain.made import Made, words_made
from memvault_search.handlers.convert import block_to
from memvault_search.handlers.current import Current, CurrentEmbed, CurrentSearch, Faces
from memvault_search.handlers.embed import EmbedHandlers
from memvault_search.handlers.events import EventHandlers, subscribe
from memvault_search.handlers.search import SearchHandlers
from memvault_search.ports import Clock, Embedder, Reranker, RunningEmbedder
from memvault_search.settings import Profile, SearchSettings
from memvault_search.usecases.dividing import Dividing
from memvault_search.usecases.dreaming import Changing, Dreaming
from memvault_search.usecases.encoding import Encoder
from memvault_search.usecases.finishing import Finishing
from memvault_search.usecases.forgetting import Forgetting
from memvault_search.usecases.freezing import Freezing
from memvault_search.usecases.gathering import Gathering
from memvault_search.usecases.preparing import Preparing
from memvault_search.usecases.reading import Reading
from memvault_search.usecases.reindexing import Reindexing
from memvault_search.usecases.renewing import Renewing
from memvault_search.usecases.saving import Saving
from memvault_search.usecases.searching import Searching
from memvault_search.usecases.signals import Signals
from memvault_search.usecases.stopwatch import Stopwatch
from memvault_search.usecases.storing import Storing
from memvault_search.usecases.succession import Succession
from memvault_search.usecases.together import UseCases
from memvault_search.usecases.vaults import Vaults
from memvault_search.usecases.warming import Warming, load_dictionaries
from memvault_search.usecases.write_barrier import WriteBarrier
from memvault_search.usecases.writing import Writing

if TYPE_CHECKING:  # generated, and only there for type checkers
    from memvault.rerank.v1.rerank_pb2_grpc import RerankServiceAsyncStub


@dataclass(frozen=True, slots=True)
class Peers:
    """Stubs of the services that search calls."""

    rerank: RerankServiceAsyncStub


Failed = Callable[[Exception], None]


@dataclass(frozen=True, slots=True)
class Encoders:
    """`serving` made the index that answers at first, a reindex leads to `wanted`, `house` embeds for other services.

    The graph's vectors are of `house`, so it stays the same when the index changes its encoder.
    """

    serving: RunningEmbedder
    wanted: RunningEmbedder
    house: RunningEmbedder


@dataclass(frozen=True, slots=True)
class Parts:
    """What every side of the service is made of."""

    profiles: Mapping[Profile, SearchSettings]
    profile: Profile
    peers: Peers
    bus: Bus
    store: VectorStore
    tokens: TokenStore
    store_name: str
    clock: Clock
    reranker: Reranker | None
    observer: Observer

    @property
    def settings(self) -> SearchSettings:
        """Numbers of the profile in force."""
        return self.profiles[self.profile]

    def made(self, embedder: RunningEmbedder) -> Made:
        """What an index is made with by this encoder."""
        words = words_made(self.settings.bm25.of("self"), self.settings.bm25.of("context"))
        return Made(embedder.id, embedder.prefix_version, embedder.dimension, words)

    def index(self, dimension: int) -> StoredIndex:
        """An index that is not opened yet."""
        return StoredIndex(self.store, self.tokens, dimension=dimension, page=self.settings.index.page)

    def side(self, embedder: RunningEmbedder, index: StoredIndex, barrier: WriteBarrier, encoders: Encoders) -> Side:
        """Everything around one index."""
        settings, clock = self.settings, self.clock
        cached = CachedEmbedder(embedder, max_bytes=settings.embedder.cache_bytes)
        vaults = Vaults(
            index,
            embedder.means,
            barrier,
            blocks_in_memory=settings.index.blocks_in_memory,
            lasting_blocks=settings.index.lasting_blocks,
            shared=self.store_name == "server",
        )
        announcer = BusAnnouncer(self.bus, block_to)
        encoder = Encoder(cached, index, settings)
        saving = Saving(index)
        succession = Succession(saving, load_single_valued())
        storing = Storing(vaults, index, encoder, settings)
        freezing = Freezing(storing, announcer, clock, settings)
        usecases = UseCases(
            searching=Searching(
                vaults,
                cached,
                embedder.means,
                Gathering(index, load_persons(), load_deeds(), embedder.means),
                Finishing(index, cached, self.reranker or RerankClient(self.peers.rerank, encoder_id=embedder.id)),
                self.profiles,
                load_strengths(),
                Dividing(cached, load_parts()),
                time_left_s=deadline.remaining_s,
                stopwatch=lambda: Stopwatch(self.observer),
            ),
            writing=Writing(vaults, index, storing, succession, announcer, clock, settings),
            forgetting=Forgetting(vaults, index, encoder, succession, announcer, clock, settings),
            signals=Signals(vaults, saving, announcer, event_ids_kept=settings.writing.event_ids_kept),
            dreaming=Dreaming(
                vaults, index, encoder, Changing(freezing, succession, saving), announcer, clock, settings
            ),
            reading=Reading(vaults, index),
            preparing=Preparing(vaults, newer_at_most=settings.finding.candidates),
        )
        faces = self._faces(usecases, cached, encoders)
        return Side(usecases, vaults, index, embedder, encoder, faces, self.made(embedder))

    def _faces(self, usecases: UseCases, embedder: Embedder, encoders: Encoders) -> Faces:
        search = SearchHandlers(
            usecases.searching,
            usecases.preparing,
            usecases.forgetting,
            usecases.reading,
            self.clock,
            dimension=embedder.dimension,
            encoder_id=embedder.id,
            other_encoders={encoders.serving.id, encoders.wanted.id, encoders.house.id} - {embedder.id},
            house_encoder_id=encoders.house.id,
            store=self.store_name,
            advised_blocks=self.settings.index.embedded_blocks if self.store_name == "edge" else 0,
            profile=self.profile,
            limit=self.settings.finding.limit,
        )
        events = EventHandlers(usecases.writing, usecases.forgetting, usecases.signals, usecases.dreaming)
        house: Embedder = embedder
        if encoders.house.id != embedder.id:
            house = CachedEmbedder(encoders.house, max_bytes=self.settings.embedder.cache_bytes)
        return Faces(search, EmbedHandlers(house), events)


@dataclass(frozen=True, slots=True)
class Side:
    """One index with its encoder and all that asks and changes it."""

    usecases: UseCases
    vaults: Vaults
    index: StoredIndex
    embedder: RunningEmbedder
    encoder: Encoder
    faces: Faces
    made: Made


class App:
    """The service: start it before the bus starts and before its servicers are called; stop it after both."""

    def __init__(self, parts: Parts, encoders: Encoders, bus: Bus, failed: Failed) -> None:
        """Nothing is started or opened yet."""
        self._parts = parts
        self._barrier = WriteBarrier()
        self._generations = Generations(parts.store, parts.tokens)
        self._encoders = encoders
        self._side = self._built(encoders.serving, parts.index(encoders.serving.dimension))
        self._next: Side | None = None
        self._warming = Warming()
        self._current = Current(self._side.faces)
        self.renewing = Renewing(
            self,
            self._barrier,
            present=lambda: self._side.index.made,
            wanted=parts.made(encoders.wanted),
            begun=lambda: None if self._side.index.next is None else self._side.index.next.made,
            failed=failed,
        )
        subscribe(bus, lambda: self._current.faces.events)
        self.registrations: Sequence[Registration] = (
            (add_SearchServiceServicer_to_server, CurrentSearch(self._current, self.renewing)),
            (add_EmbedServiceServicer_to_server, CurrentEmbed(self._current)),
        )

    @property
    def usecases(self) -> UseCases:
        """Of the index that answers."""
        return self._side.usecases

    @property
    def vaults(self) -> Vaults:
        """Of the index that answers."""
        return self._side.vaults

    @property
    def index(self) -> StoredIndex:
        """The index that answers."""
        return self._side.index

    async def start(self) -> None:
        """Load the encoder, open the store, and read users' blocks into memory, those that take long while it serves.

        Raises:
            Fault: EMBEDDER_CHANGED when the index was made by another encoder.
            StoreLockedError, SpecMismatchError: as in `VectorStore.ensure`.
        """
        side = self._side
        await side.embedder.start()
        if self._encoders.house is not side.embedder:
            await self._encoders.house.start()
        await asyncio.to_thread(load_dictionaries)
        await self._generations.open(side.index, side.made, self._noted(side.embedder))
        numbers = self._parts.settings.index
        self._warming.begin(side.vaults, (await side.index.users())[: numbers.warm_users])
        await self._warming.first(numbers.warm_s)

    async def stop(self) -> None:
        """Write everything to the disk and let go; a reindex goes on at the next start of one."""
        await self._warming.end()
        await self.renewing.stop()
        sides = (self._side.embedder, *(() if self._next is None else (self._next.embedder,)), self._encoders.house)
        async with AsyncExitStack() as ends:  # each whatever becomes of the others; the last first
            for embedder in {id(one): one for one in sides}.values():
                ends.push_async_callback(embedder.stop)
            ends.push_async_callback(self._parts.store.close)
            ends.push_async_callback(self._parts.tokens.close)

    async def begin(self) -> Reindexing:
        """See `Steps.begin`."""
        await self._warming.end()  # what is read there shall not go while it is read
        wanted, present = self._encoders.wanted, self._side
        made = self._parts.made(wanted)
        if self._next is None and wanted not in {present.embedder, self._encoders.house}:
            await wanted.start()
        index = await self._generations.begin(present.index, made, self._noted(wanted))
        self._next = self._built(wanted, index)
        following = self._next
        return Reindexing(present.vaults, present.index, index, following.encoder, self._parts.settings)

    async def prepare(self) -> None:
        """See `Steps.prepare`."""
        for user_id in list(self._side.vaults.loaded()):
            await self._following().vaults.of(user_id)

    async def take_over(self, changed: AbstractSet[str]) -> None:
        """See `Steps.take_over`. What can fail comes first, the pointer next, and nothing waits after it."""
        following = self._following()
        await following.vaults.adopt(self._side.vaults, changed)
        await self._generations.switch(self._side.index)
        self._side.vaults.retire()
        self._next, self._side = self._side, following  # what is `next` now is on its way out
        self._current.faces = following.faces

    async def tidy(self) -> None:
        """See `Steps.tidy`."""
        former = self._following()
        if former.faces.answering:
            with suppress(TimeoutError):
                await asyncio.wait_for(former.faces.idle.wait(), self._parts.settings.index.former_answers_s)
        await self._generations.drop_former()
        if former.embedder not in {self._side.embedder, self._encoders.house}:
            await former.embedder.stop()
        self._next = None

    def _following(self) -> Side:
        if self._next is None:
            raise RuntimeError("begin() comes first")
        return self._next

    def _noted(self, embedder: RunningEmbedder) -> Mapping[str, Any]:
        """Settings to note beside an index: those in force are the wanted encoder's; another's are noted already."""
        return self._parts.settings.embedder.model_dump() if embedder is self._encoders.wanted else {}

    def _built(self, embedder: RunningEmbedder, index: StoredIndex) -> Side:
        return self._parts.side(embedder, index, self._barrier, self._encoders)


async def build(  # noqa: PLR0913 - each is a part that a test or another way to run may replace
    profiles: Mapping[Profile, SearchSettings],
    *,
    profile: Profile,
    peers: Peers,
    bus: Bus,
    store: VectorStore,
    store_name: str,
    embedder: RunningEmbedder,
    former: RunningEmbedder | None = None,
    house: RunningEmbedder | None = None,
    failed: Failed = lambda _: None,
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
        former: The encoder that made the index, when that is another one; it answers until a reindex is done.
        house: The encoder of the other services, when it is not that of the index.
        failed: Is told why a reindex failed.
        clock: None: the machine's.
        reranker: None: the rerank service.
        observer: Sees every step.
    """
    tokens = tokens_beside(store, cached=profiles[profile].index.token_cache)
    now = clock or SystemClock()
    parts = Parts(profiles, profile, peers, bus, store, tokens, store_name, now, reranker, observer)
    serving = former or embedder
    return App(parts, Encoders(serving, embedder, house or serving), bus, failed)
