"""Asks every part how it is."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from redis.asyncio import Redis
from redis.exceptions import RedisError

from memvault.bus.port import Bus
from memvault.cascade.v1 import cascade_pb2
from memvault.faults import Fault
from memvault.rerank.v1 import rerank_pb2
from memvault.router.v1 import router_pb2
from memvault.rpc.client import call
from memvault.search.v1 import search_pb2
from memvault.slow_thinker.v1 import slow_thinker_pb2
from memvault_gateway.domain.model import PartState

if TYPE_CHECKING:
    from memvault.cascade.v1.cascade_pb2_grpc import CascadeServiceAsyncStub
    from memvault.rerank.v1.rerank_pb2_grpc import RerankServiceAsyncStub
    from memvault.router.v1.router_pb2_grpc import RouterServiceAsyncStub
    from memvault.search.v1.search_pb2_grpc import SearchServiceAsyncStub
    from memvault.slow_thinker.v1.slow_thinker_pb2_grpc import SlowThinkerServiceAsyncStub

_NOBODY = "health"  # a user who has nothing: asking about it costs the parts as little as can be


@dataclass(frozen=True)
class Peers:
    """Stubs of all services."""

    router: RouterServiceAsyncStub
    search: SearchServiceAsyncStub
    rerank: RerankServiceAsyncStub
    cascade: CascadeServiceAsyncStub
    slow_thinker: SlowThinkerServiceAsyncStub


class PartsHealth:
    """See `ports.Health`."""

    def __init__(self, peers: Peers, bus: Bus | None, redis: Redis | None) -> None:
        self._peers = peers
        self._bus = bus
        self._redis = redis

    async def parts(self, timeout_s: float) -> tuple[PartState, ...]:
        """See `ports.Health`."""
        return (
            PartState("gateway", "ready"),
            *await asyncio.gather(
                self._router(timeout_s),
                self._search(timeout_s),
                self._rerank(timeout_s),
                self._cascade(timeout_s),
                self._slow_thinker(timeout_s),
                self._nats(),
                self._redis_state(timeout_s),
            ),
        )

    async def _router(self, timeout_s: float) -> PartState:
        request = router_pb2.ReadProfileRequest(user_id=_NOBODY)
        return await _state("router", call(self._peers.router.ReadProfile, request, timeout_s=timeout_s), ())

    async def _search(self, timeout_s: float) -> PartState:
        asked = call(self._peers.search.GetIndex, search_pb2.GetIndexRequest(), timeout_s=timeout_s)
        counts = ("blocks", "frozen", "passages", "users", "largest_user_blocks", "advised_blocks")
        return await _state("search", asked, (*counts, "encoder_id", "store", "reindex"))

    async def _rerank(self, timeout_s: float) -> PartState:
        asked = call(self._peers.rerank.GetBreaker, rerank_pb2.GetBreakerRequest(), timeout_s=timeout_s)
        figures = ("consecutive_failures", "opened", "bypassed", "readings", "batches")
        return await _state("rerank", asked, ("state", "model", *figures))

    async def _cascade(self, timeout_s: float) -> PartState:
        asked = call(self._peers.cascade.GetGraph, cascade_pb2.GetGraphRequest(), timeout_s=timeout_s)
        return await _state("cascade", asked, ("entities", "triples", "communities"))

    async def _slow_thinker(self, timeout_s: float) -> PartState:
        asked = call(self._peers.slow_thinker.GetFigures, slow_thinker_pb2.GetFiguresRequest(), timeout_s=timeout_s)
        return await _state("slow_thinker", asked, ("saved_ms",))

    async def _nats(self) -> PartState:
        connected = self._bus is not None and self._bus.connected
        return PartState("nats", "ready" if connected else "down")

    async def _redis_state(self, timeout_s: float) -> PartState:
        if self._redis is None:
            return PartState("redis", "down", {"why": "not configured"})
        try:
            async with asyncio.timeout(timeout_s):
                await self._redis.ping()
        except (RedisError, OSError, TimeoutError) as error:
            return PartState("redis", "down", {"why": type(error).__name__})
        return PartState("redis", "ready")


async def _state(part: str, asked: Awaitable[Any], fields: tuple[str, ...]) -> PartState:
    try:
        answer = await asked
    except Fault as fault:
        return PartState(part, "down", {"why": fault.message})
    details: Mapping[str, str] = {name: str(getattr(answer, name)) for name in fields}
    return PartState(part, "ready", details)
