"""Wires cascade together: the only place that knows which adapter serves which port."""

from __future__ import annotations

import asyncio
import logging
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Protocol

from memvault.cascade.v1 import cascade_pb2_grpc
from memvault.faults import Fault
from memvault.text.segmentation import parts_of_speech
from memvault_cascade.adapters.announcer import BusAnnouncer
from memvault_cascade.adapters.clock import SystemClock
from memvault_cascade.adapters.extractive import ExtractiveWriter
from memvault_cascade.adapters.graph_store import VectorGraphStore
from memvault_cascade.adapters.leiden_child import InChildAbove
from memvault_cascade.adapters.leiden_igraph import IgraphLeiden
from memvault_cascade.adapters.leiden_native import NativeLeiden
from memvault_cascade.adapters.llm_graph import Chat, LlmFactReader, LlmWriter
from memvault_cascade.adapters.no_bus import NoBusAnnouncer
from memvault_cascade.adapters.text_vectors import EmbedServiceVectors
from memvault_cascade.domain.graph.roles import compile_roles
from memvault_cascade.domain.graph.rules import ExtractionRules, compile_language, compile_predicates
from memvault_cascade.handlers.events import EventHandlers
from memvault_cascade.handlers.rpc import CascadeHandlers
from memvault_cascade.usecases.dream import Dream, DreamLimits
from memvault_cascade.usecases.garden import Garden, GardenLimits, GardenParts
from memvault_cascade.usecases.graphs import CacheLimits, Graphs
from memvault_cascade.usecases.ingest import Ingest, IngestLimits, Parts
from memvault_cascade.usecases.read import Read
from memvault_cascade.usecases.walk import Walk, WalkNumbers

if TYPE_CHECKING:
    from memvault.bus.port import Bus
    from memvault.rpc.methods import Registration
    from memvault.vectors import VectorStore
    from memvault_cascade.ports import Announcer, Clock, Partitioner, SummaryWriter
    from memvault_cascade.settings import LeidenSettings, Settings, WalkSettings

_LOG = logging.getLogger(__name__)
_LANGUAGES = ("zh", "en")
_RETRY_S = 0.25


class Vectors(Protocol):
    """Builds the store once the encoder's dimension is known."""

    def __call__(self) -> VectorStore:
        """A store that nothing has opened yet."""
        ...


@dataclass(frozen=True, slots=True)
class Peers:
    """Stubs of the services that cascade asks: `embed` has the methods of the EmbedService."""

    embed: Any


@dataclass(slots=True)
class App:
    """The service: start it before its servicers are called and before the bus starts; stop it after both."""

    registrations: Sequence[Registration]
    ingest: Ingest
    garden: Garden
    dream: Dream
    graphs: Graphs
    _store: _LateStore
    _zone: tzinfo
    _alarm: bool
    _tasks: list[asyncio.Task[None]] = field(default_factory=list)

    async def start(self) -> None:
        """Open the store; it needs the encoder's dimension, so the embed service must answer within the time set.

        Raises:
            Fault: The embed service did not answer in time.
        """
        self._tasks.append(asyncio.create_task(asyncio.to_thread(_warm_up), name="cascade-warm-up"))
        await self._store.start()
        self._tasks.append(asyncio.create_task(self.garden.run(), name="cascade-garden"))
        if self._alarm:
            self._tasks.append(asyncio.create_task(self.dream.alarm(self._zone), name="cascade-alarm"))

    async def stop(self) -> None:
        """End the background work and close the store."""
        await self.ingest.stop()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks.clear()
        await self._store.stop()


def _warm_up() -> None:
    """Load the dictionary, so that the first question shall not wait for it."""
    parts_of_speech("熱身")


class _LateStore:
    """Opens the graph store as soon as the encoder has told its dimension."""

    def __init__(self, store: VectorGraphStore, vectors: EmbedServiceVectors, timeout_s: float) -> None:
        self._store = store
        self._vectors = vectors
        self._timeout_s = timeout_s

    async def start(self) -> None:
        loop = asyncio.get_running_loop()
        give_up = loop.time() + self._timeout_s
        while True:
            try:
                dimension = await self._vectors.dimension()
                break
            except Fault:
                if loop.time() > give_up:
                    raise
                await asyncio.sleep(_RETRY_S)
        await self._store.start(dimension)

    async def stop(self) -> None:
        await self._store.stop()


async def build(  # noqa: PLR0913 - each is a part that a test or another way to run may replace
    settings: Settings,
    *,
    peers: Peers,
    bus: Bus | None,
    vectors: VectorStore,
    walks: Mapping[str, WalkSettings] | None = None,
    profile: str = "tuned",
    clock: Clock | None = None,
    chat: Chat | None = None,
    zone: tzinfo | None = None,
    alarm: bool = True,
) -> App:
    """Build the service.

    Args:
        settings: Section `cascade`.
        peers: The services it asks.
        bus: Not started yet, the handlers are registered here; None: nothing comes in and nobody is told.
        vectors: The store, not opened yet.
        walks: Numbers of the walk by profile; None: those of `settings` under the name `profile`.
        profile: Which of them counts when a question names none.
        clock: None: the machine's.
        chat: A language model for facts and summaries; None: the deterministic extractor and extractive summaries.
        zone: Whose 04:00 the nightly loop means; None: the machine's.
        alarm: Whether to start the nightly loop.
    """
    ticking = clock or SystemClock()
    store = VectorGraphStore(vectors, names_in_memory=settings.cache.names, at_once=settings.nearest_at_once)
    text = EmbedServiceVectors(
        peers.embed,
        timeout_s=settings.embed_timeout_s,
        batch_timeout_s=settings.embed_batch_timeout_s,
        batch=settings.embed_batch,
        remembered=settings.embed_remembered,
    )
    announcer: Announcer = NoBusAnnouncer() if bus is None else BusAnnouncer(bus)
    cache = CacheLimits(settings.cache.users, settings.cache.fresh_view_s)
    graphs = Graphs(store, ticking, settings.walk.edges, settings.linking, cache)
    writing = _writer(chat, settings)
    reader = None if chat is None else LlmFactReader(chat, timeout_s=settings.llm_timeout_s)
    garden = Garden(
        GardenParts(
            graphs,
            text,
            announcer,
            partitioner(settings.leiden),
            writing,
            GardenLimits(**settings.garden.model_dump()),
            settings.communities,
            settings.summaries,
            settings.walk.walk,
        ),
        _report,
    )
    limits = IngestLimits(**settings.ingest.model_dump())
    ingest = Ingest(Parts(graphs, store, text, announcer, load_rules(), limits, garden.changed, reader))
    dream = Dream(
        graphs, garden, ingest, announcer, ticking, writing.generator, DreamLimits(**settings.dream.model_dump())
    )
    numbers = {name: _numbers(walk, settings) for name, walk in (walks or {profile: settings.walk}).items()}
    handlers = CascadeHandlers(Walk(graphs, store, text, ticking, numbers, profile), Read(graphs), ingest)
    if bus is not None:
        EventHandlers(ingest, dream, settings.ingest.batch).subscribe(bus)
    registration: Registration = (cascade_pb2_grpc.add_CascadeServiceServicer_to_server, handlers)
    late = _LateStore(store, text, settings.start_timeout_s)
    return App((registration,), ingest, garden, dream, graphs, late, zone or _local_zone(), alarm)


def _writer(chat: Chat | None, settings: Settings) -> SummaryWriter:
    if chat is None:
        return ExtractiveWriter(settings.summaries)
    return LlmWriter(chat, settings.summaries, timeout_s=settings.llm_timeout_s)


def partitioner(settings: LeidenSettings) -> Partitioner:
    """The engine that cuts communities."""
    if settings.engine == "native":
        return NativeLeiden(resolution=settings.resolution, seed=settings.seed)
    inner = IgraphLeiden(resolution=settings.resolution, seed=settings.seed)
    return InChildAbove(inner, nodes=settings.inline_nodes)


def load_rules() -> ExtractionRules:
    """The extractor's rules from the packaged data."""
    folder = files("memvault_cascade") / "data"

    def read(name: str) -> dict[str, Any]:
        return tomllib.loads((folder / name).read_text(encoding="utf-8"))

    languages = tuple(compile_language(read(f"extraction_{code}.toml")) for code in _LANGUAGES)
    single_valued = read("single_valued.toml")
    predicates = compile_predicates(read("predicates.toml"), [*single_valued["english"], *single_valued["chinese"]])
    return ExtractionRules(languages, predicates, compile_roles(read("roles.toml")))


def _numbers(walk: WalkSettings, settings: Settings) -> WalkNumbers:
    return WalkNumbers(
        walk.walk,
        walk.seeds,
        walk.paths,
        walk.fit,
        walk.edges,
        settings.summaries,
        walk.facts,
        walk.least_fact,
        walk.synonyms,
        walk.least_synonym,
        walk.seed_blocks,
        walk.limit,
        walk.least_triple,
        walk.least_block,
    )


def _local_zone() -> tzinfo:
    return datetime.now().astimezone().tzinfo or UTC


def _report(user_id: str, error: Exception) -> None:
    # The user's id stays out of the log line's text, logs are read by more people than graphs.
    _LOG.error(
        "communities of a graph could not be renewed, it is tried again", exc_info=error, extra={"user": user_id}
    )
