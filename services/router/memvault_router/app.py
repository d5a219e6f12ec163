"""The only place where the router is wired together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo

import grpc
from redis.asyncio import Redis

from memvault.bus.port import Bus
from memvault.embed.v1.embed_pb2_grpc import EmbedServiceStub
from memvault.router.v1.router_pb2_grpc import add_RouterServiceServicer_to_server
from memvault.rpc.methods import Registration
from memvault.runtime import telemetry
from memvault.screening import RULESET_VERSION
from memvault_router.adapters.archetype_files import FileArchetypes, LayeredArchetypes
from memvault_router.adapters.bus import BusAnnouncer, Listener, SilentAnnouncer
from memvault_router.adapters.data_files import Language, load_language
from memvault_router.adapters.embed import EmbedClient
from memvault_router.adapters.llm import ChatJudge, SchemaChat
from memvault_router.adapters.machine import SystemClock, machine_zone
from memvault_router.adapters.memory import MemoryArchetypes, MemoryPrepared, MemoryProfiles, MemoryThreshold
from memvault_router.adapters.redis_guard import RedisGuard
from memvault_router.adapters.redis_profiles import RedisProfiles
from memvault_router.adapters.redis_store import (
    RedisArchetypes,
    RedisPrepared,
    RedisThreshold,
)
from memvault_router.domain.operators.bare import Bareness
from memvault_router.domain.operators.follow_up import FollowUp
from memvault_router.domain.operators.fusion import Fusion
from memvault_router.domain.operators.keyword import KeywordFunnel
from memvault_router.domain.operators.personalise import Personalise
from memvault_router.domain.operators.plan import Planner
from memvault_router.domain.operators.time_range import TimeRange
from memvault_router.domain.pipeline import Pipeline
from memvault_router.handlers import RouterHandlers
from memvault_router.ports import ArchetypeCache, Clock, PreparedAnswers, Profiles, ThresholdMemory
from memvault_router.settings import RouterSettings
from memvault_router.usecases.archetypes import ArchetypeShelf
from memvault_router.usecases.classify import ClassifyQuestion, Parts
from memvault_router.usecases.prepared import PreparedLookup
from memvault_router.usecases.profile import AttentionProfile

_DAY_S = 86_400


@dataclass(frozen=True)
class Peers:
    """Channels to the services it asks: a grpc one to another process, a local one within this process."""

    embed: grpc.aio.Channel


@dataclass(frozen=True)
class App:
    """A router that is wired but not running. Whoever gave it a bus and a Redis starts and stops those."""

    registrations: Sequence[Registration]
    shelf: ArchetypeShelf
    classify: ClassifyQuestion
    profile: AttentionProfile

    async def start(self) -> None:
        """Encode the archetypes, or go on trying in the background; until then keywords classify alone."""
        self.classify.warm_up()
        await self.shelf.start()

    async def stop(self) -> None:
        """Publish what is under way, then stop trying."""
        await self.classify.settle()
        await self.shelf.stop()


@dataclass(frozen=True)
class _Stores:
    profiles: Profiles
    threshold: ThresholdMemory
    archetypes: ArchetypeCache
    prepared: PreparedAnswers


class _Metrics:
    def count(self, name: str, **attributes: str) -> None:
        telemetry.counter(name, **attributes)


async def build(
    settings: Mapping[str, RouterSettings],
    *,
    peers: Peers,
    bus: Bus | None,
    redis: Redis | None,
    default_profile: str = "tuned",
    chat: SchemaChat | None = None,
    clock: Clock | None = None,
    archetype_folder: Path | None = None,
) -> App:
    """Wire the service together and subscribe it to `bus`, which must not be started yet.

    Args:
        settings: Section `router` of every profile, by the profile's name.
        peers: Whom to ask.
        bus: None: nothing is announced, and no profile is learned.
        redis: None: everything is kept in memory, and no prepared answer is found.
        default_profile: The profile of a request that names none.
        chat: A language model; None is the normal case.
        clock: None: the machine's.
        archetype_folder: Where vectors of archetypes are kept beside Redis; None: nowhere.
    """
    language, chosen, known_clock = load_language(), settings[default_profile], clock or SystemClock()
    stores = _stores(chosen, redis, archetype_folder)
    encoder = EmbedClient(EmbedServiceStub(peers.embed), chosen.waits.embed_s, chosen.waits.embed_batch_s)
    shelf = ArchetypeShelf(language.archetypes, language.passages, encoder, stores.archetypes, chosen.waits)
    profile = AttentionProfile(stores.profiles, chosen)
    parts = Parts(
        clock=known_clock,
        encoder=encoder,
        shelf=shelf,
        lookup=PreparedLookup(stores.prepared, language.time_words, RULESET_VERSION),
        profile=profile,
        memory=stores.threshold,
        announcer=BusAnnouncer(bus, chosen.waits.bus_s) if bus is not None else SilentAnnouncer(),
        judge=ChatJudge(chat) if chat is not None else None,
        observer=_Metrics(),
    )
    pipelines = {name: build_pipeline(language, numbers) for name, numbers in settings.items()}
    classify = ClassifyQuestion(parts, pipelines, settings)
    if bus is not None:
        Listener(bus, profile, known_clock).subscribe()
    handlers = RouterHandlers(
        classify,
        profile,
        known_clock,
        zone=_zone(chosen.time_zone),
        profiles=settings,
        default_profile=default_profile,
    )
    registration: Registration = (add_RouterServiceServicer_to_server, handlers)
    return App((registration,), shelf, classify, profile)


def build_pipeline(language: Language, numbers: RouterSettings) -> Pipeline:
    """Return the operators of one profile."""
    return Pipeline(
        follow_up=FollowUp(language.shapes, numbers.follow_up),
        time_range=TimeRange(language.time_words, numbers.vague, numbers.read_chars),
        bareness=Bareness(language.asking_words, numbers.read_chars),
        keyword=KeywordFunnel(language.lexicons, numbers.read_chars),
        fusion=Fusion(numbers.intent_fusion, numbers.facet_fusion, numbers.open_rest),
        personalise=Personalise(numbers.personal),
        planner=Planner(numbers.routes),
        nearest_share=numbers.nearest_share,
    )


def _stores(settings: RouterSettings, redis: Redis | None, folder: Path | None) -> _Stores:
    files = FileArchetypes(folder) if folder is not None else None
    if redis is None:
        return _Stores(MemoryProfiles(), MemoryThreshold(), files or MemoryArchetypes(), MemoryPrepared())
    guard = RedisGuard(redis, timeout_s=settings.waits.store_s, rest_s=settings.waits.store_rest_s)
    days = max(window.days for window in settings.windows)
    return _Stores(
        RedisProfiles(guard, keep_days=days, seen_s=round(settings.seen_event_days * _DAY_S)),
        RedisThreshold(guard),
        LayeredArchetypes(files, RedisArchetypes(guard)) if files is not None else RedisArchetypes(guard),
        RedisPrepared(guard),
    )


def _zone(name: str) -> tzinfo:
    return machine_zone() if name == "local" else ZoneInfo(name)
