"""The only place where the slow thinker is wired together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from redis.asyncio import Redis

from memvault.bus.port import Bus
from memvault.bus.subjects import SLOW_THINKER_BLOCKS, SLOW_THINKER_FORGET, SLOW_THINKER_UTTERANCES
from memvault.events.v1.events_pb2 import BlockForgotten, BlockIndexed, UtteranceAppended
from memvault.rpc.methods import Registration
from memvault.runtime import telemetry
from memvault.slow_thinker.v1.slow_thinker_pb2_grpc import add_SlowThinkerServiceServicer_to_server
from memvault_slow_thinker.adapters.bus_facts import BusAnnouncements, BusUtteranceLog, Silent
from memvault_slow_thinker.adapters.cascade_graph import CascadeGraph
from memvault_slow_thinker.adapters.embed_encoder import EmbedEncoder
from memvault_slow_thinker.adapters.figures_measured import MeasuredFigures
from memvault_slow_thinker.adapters.gateway_recalls import GatewayRecalls
from memvault_slow_thinker.adapters.lexicon_file import load_lexicon
from memvault_slow_thinker.adapters.llm_writer import JsonChat, LlmQuestionWriter
from memvault_slow_thinker.adapters.memory import MemoryConversations, MemoryFigures, MemoryPreparedAnswers
from memvault_slow_thinker.adapters.redis_conversations import RedisConversations
from memvault_slow_thinker.adapters.redis_figures import RedisFigures
from memvault_slow_thinker.adapters.redis_prepared import RedisPreparedAnswers
from memvault_slow_thinker.adapters.system import LoggedNotes, SystemClock
from memvault_slow_thinker.domain.pipeline import build_pipeline
from memvault_slow_thinker.handlers import BusHandlers, SlowThinkerHandlers
from memvault_slow_thinker.ports import Clock, Conversations, Figures, PreparedAnswers, Reporting
from memvault_slow_thinker.settings import Settings
from memvault_slow_thinker.usecases.fetch import SpeculativeFetcher
from memvault_slow_thinker.usecases.keep import Keep
from memvault_slow_thinker.usecases.listen import Listen, Sources

if TYPE_CHECKING:
    from memvault.cascade.v1.cascade_pb2_grpc import CascadeServiceAsyncStub
    from memvault.embed.v1.embed_pb2_grpc import EmbedServiceAsyncStub
    from memvault.recall.v1.recall_pb2_grpc import RecallServiceAsyncStub

_ANNOUNCE_S = 5.0


@dataclass(frozen=True)
class Peers:
    """Stubs of the services it asks, made on channels to other processes or on local ones."""

    gateway: RecallServiceAsyncStub
    embed: EmbedServiceAsyncStub
    cascade: CascadeServiceAsyncStub


@dataclass(frozen=True)
class App:
    """A slow thinker that is wired but not running. Whoever gave it a bus and a Redis starts and stops those."""

    registrations: Sequence[Registration]
    listen: Listen
    keep: Keep
    fetcher: SpeculativeFetcher

    async def start(self) -> None:
        """Nothing to load: events begin to come when the bus is started."""

    async def stop(self) -> None:
        """Give up fetches under way."""
        await self.fetcher.stop()


async def build(
    settings: Settings,
    *,
    peers: Peers,
    bus: Bus | None,
    redis: Redis | None,
    llm: JsonChat | None = None,
    clock: Clock | None = None,
) -> App:
    """Wire the service together and subscribe it to `bus`, which must not be started yet.

    Args:
        settings: Section `slow_thinker`.
        peers: Whom to ask.
        bus: None: nothing comes in and nothing is announced.
        redis: None: everything is kept in memory, and nobody else finds the prepared answers.
        llm: A language model; None is the normal case.
        clock: None: the machine's.
    """
    conversations, prepared, figures = _stores(settings, redis)
    announcements = BusAnnouncements(bus, _ANNOUNCE_S) if bus is not None else Silent()
    log = BusUtteranceLog(bus) if bus is not None else Silent()
    writer = LlmQuestionWriter(llm) if llm is not None else None
    known_clock = clock or SystemClock()
    reporting = Reporting(figures, announcements, LoggedNotes())
    fetcher = SpeculativeFetcher(
        GatewayRecalls(peers.gateway),
        prepared,
        reporting,
        clock=known_clock,
        settings=settings.fetch,
    )
    listen = Listen(
        conversations,
        Sources(EmbedEncoder(peers.embed), CascadeGraph(peers.cascade), writer),
        fetcher,
        build_pipeline(load_lexicon()),
        reporting=reporting,
        clock=known_clock,
        settings=settings,
        observer=telemetry.OBSERVER,
    )
    keep = Keep(conversations, prepared, figures, log, clock=known_clock)
    if bus is not None:
        _subscribe(bus, BusHandlers(listen, keep))
    registration: Registration = (add_SlowThinkerServiceServicer_to_server, SlowThinkerHandlers(keep))
    return App((registration,), listen, keep, fetcher)


def _stores(settings: Settings, redis: Redis | None) -> tuple[Conversations, PreparedAnswers, Figures]:
    if redis is None:
        return MemoryConversations(settings.window), MemoryPreparedAnswers(), MeasuredFigures(MemoryFigures())
    return (
        RedisConversations(redis, settings.window),
        RedisPreparedAnswers(redis),
        MeasuredFigures(RedisFigures(redis)),
    )


def _subscribe(bus: Bus, handlers: BusHandlers) -> None:
    bus.subscribe(SLOW_THINKER_UTTERANCES, UtteranceAppended, handlers.utterance)
    bus.subscribe(SLOW_THINKER_BLOCKS, BlockIndexed, handlers.indexed)
    bus.subscribe(SLOW_THINKER_FORGET, BlockForgotten, handlers.forgotten)
