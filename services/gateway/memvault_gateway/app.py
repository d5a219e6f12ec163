"""The only place where the gateway is wired together."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import uuid4

import grpc
from redis.asyncio import Redis

from memvault.bus.port import Bus
from memvault.cascade.v1.cascade_pb2_grpc import CascadeServiceStub
from memvault.recall.v1.admin_pb2_grpc import add_AdminServiceServicer_to_server
from memvault.recall.v1.memory_pb2_grpc import add_MemoryServiceServicer_to_server
from memvault.recall.v1.recall_pb2_grpc import add_RecallServiceServicer_to_server
from memvault.rerank.v1.rerank_pb2_grpc import RerankServiceStub
from memvault.router.v1.router_pb2_grpc import RouterServiceStub
from memvault.rpc.methods import Registration
from memvault.rpc.peers import Connect
from memvault.runtime import telemetry
from memvault.screening import scan
from memvault.search.v1.search_pb2_grpc import SearchServiceStub
from memvault.slow_thinker.v1.slow_thinker_pb2_grpc import SlowThinkerServiceStub
from memvault.text import count_tokens
from memvault_gateway.adapters.bus_facts import BusConfirmations, BusFacts
from memvault_gateway.adapters.cascade_client import CascadeClient
from memvault_gateway.adapters.forgetters import PeerForgetters
from memvault_gateway.adapters.health import PartsHealth, Peers
from memvault_gateway.adapters.operations import PeerOperations
from memvault_gateway.adapters.redis_prepared_use import RedisPreparedUse
from memvault_gateway.adapters.router_client import RouterClient
from memvault_gateway.adapters.search_client import SearchClient
from memvault_gateway.adapters.system import SystemClock
from memvault_gateway.handlers.admin import AdminHandlers
from memvault_gateway.handlers.memory import MemoryHandlers
from memvault_gateway.handlers.recall import RecallHandlers
from memvault_gateway.ports import Clock
from memvault_gateway.settings import Settings
from memvault_gateway.usecases.memory import Memory
from memvault_gateway.usecases.recall import Parts, Recall
from memvault_gateway.usecases.write import Write


@dataclass(frozen=True)
class App:
    """A gateway that is wired but not running. Whoever gave it a bus and a Redis starts and stops those."""

    recall: RecallHandlers
    memory: MemoryHandlers
    admin: AdminHandlers
    recalling: Recall

    @property
    def registrations(self) -> Sequence[Registration]:
        """What it serves over gRPC."""
        return (
            (add_RecallServiceServicer_to_server, self.recall),
            (add_MemoryServiceServicer_to_server, self.memory),
            (add_AdminServiceServicer_to_server, self.admin),
        )

    async def start(self) -> None:
        """Load vocabulary and rules before the first question has to wait for them."""
        await asyncio.to_thread(_warm_up)

    async def stop(self) -> None:
        """Let what was delivered be told."""
        await self.recalling.settle()


def peers_of(connect: Connect) -> Peers:
    """Return stubs of all services on the channels that `connect` gives by name."""
    channels: dict[str, grpc.aio.Channel] = {
        name: connect(name) for name in ("router", "search", "rerank", "cascade", "slow_thinker")
    }
    return Peers(
        router=RouterServiceStub(channels["router"]),
        search=SearchServiceStub(channels["search"]),
        rerank=RerankServiceStub(channels["rerank"]),
        cascade=CascadeServiceStub(channels["cascade"]),
        slow_thinker=SlowThinkerServiceStub(channels["slow_thinker"]),
    )


async def build(settings: Settings, *, peers: Peers, bus: Bus, redis: Redis, clock: Clock | None = None) -> App:
    """Wire the service together; `bus` must not be started yet.

    Args:
        settings: Section `gateway`.
        peers: Stubs of the services it asks.
        bus: Where facts go, and where confirmations of writes come from.
        redis: Where the use of prepared answers is counted.
        clock: None: the machine's.
    """
    known_clock = clock or SystemClock()
    facts, confirmations, search = BusFacts(bus), BusConfirmations(), SearchClient(peers.search)
    confirmations.watch(bus)
    parts = Parts(
        router=RouterClient(peers.router, settings.time_zone),
        search=search,
        cascade=CascadeClient(peers.cascade),
        facts=facts,
        prepared_use=RedisPreparedUse(redis),
        clock=known_clock,
        observer=telemetry.OBSERVER,
    )
    recalling = Recall(parts, settings)
    write = Write(facts, confirmations, new_id, concurrency=settings.write_concurrency)
    forgetters = PeerForgetters(peers.router, peers.cascade, peers.slow_thinker)
    memory = Memory(search, facts, forgetters, known_clock, new_id, settings.deadline)
    operations = PeerOperations(peers.router, peers.search, peers.slow_thinker, bus)
    health = PartsHealth(peers, bus, redis)
    return App(
        recall=RecallHandlers(recalling, settings, new_id),
        memory=MemoryHandlers(write, memory, settings),
        admin=AdminHandlers(operations, health, facts, known_clock, new_id, settings.deadline),
        recalling=recalling,
    )


def _warm_up() -> None:
    count_tokens("暖身 warm up")
    scan("暖身 warm up")


def new_id() -> str:
    """Return an id that nobody else has."""
    return uuid4().hex
