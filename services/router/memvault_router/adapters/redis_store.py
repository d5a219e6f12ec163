"""Threshold, archetype vectors and prepared answers in Redis (or Valkey).

Keys, all under `memvault:`
- `router:threshold`: the rate of overrulings
- `router:archetypes:{encoder}`: hash, content hash to vector
"""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from datetime import datetime
from typing import Any, cast

import numpy as np

from memvault.prefetch_key import entry_key, index_key, unpack_index_value
from memvault_router.adapters.prefetch_entry import parse_entry
from memvault_router.adapters.redis_guard import RedisGuard
from memvault_router.domain.prefetch import Prepared
from memvault_router.domain.state import Vector

_THRESHOLD = "memvault:router:threshold"

_MOVE = """
local known = tonumber(redis.call('GET', KEYS[1]) or ARGV[1])
local moved = known + tonumber(ARGV[3]) * (tonumber(ARGV[2]) - known)
redis.call('SET', KEYS[1], tostring(moved))
return tostring(moved)
"""


class RedisThreshold:
    """`ThresholdMemory` in Redis: one number for the deployment."""

    def __init__(self, guard: RedisGuard) -> None:
        self._guard = guard

    async def overruled_rate(self, start: float) -> float:
        """Return the kept rate."""

        async def work() -> bytes | None:
            return cast("bytes | None", await self._guard.client.get(_THRESHOLD))

        found = await self._guard(work)
        return float(found) if found is not None else start

    async def verdict(self, *, overruled: bool, start: float, rate: float) -> float:
        """Move the rate in one atomic step."""

        async def work() -> bytes:
            moved = self._guard.client.eval(_MOVE, 1, _THRESHOLD, repr(start), "1" if overruled else "0", repr(rate))
            return cast("bytes", await moved)

        return float(await self._guard(work))


class RedisArchetypes:
    """`ArchetypeCache` in Redis."""

    def __init__(self, guard: RedisGuard) -> None:
        self._guard = guard

    async def load(self, vectors_id: str, content_hashes: Sequence[str]) -> Mapping[str, Vector]:
        """Return the vectors that are kept."""

        async def work() -> list[bytes | None]:
            return cast(
                "list[bytes | None]",
                await cast("Awaitable[Any]", self._guard.client.hmget(_archetypes(vectors_id), list(content_hashes))),
            )

        found = await self._guard(work)
        return {
            key: np.frombuffer(value, dtype="<f4")
            for key, value in zip(content_hashes, found, strict=True)
            if value is not None
        }

    async def keep(self, vectors_id: str, vectors: Mapping[str, Vector]) -> None:
        """Keep vectors."""
        mapping: dict[Any, Any] = {key: np.asarray(vector, "<f4").tobytes() for key, vector in vectors.items()}

        async def work() -> None:
            await self._guard.client.hset(_archetypes(vectors_id), mapping=mapping)

        await self._guard(work)


class RedisPrepared:
    """`PreparedAnswers` as the slow thinker writes them."""

    def __init__(self, guard: RedisGuard) -> None:
        self._guard = guard

    async def exact(self, user_id: str, query_hash: str) -> Prepared | None:
        """Return one entry."""

        async def work() -> bytes | None:
            return cast("bytes | None", await self._guard.client.get(entry_key(user_id, query_hash)))

        found = await self._guard(work)
        return parse_entry(found, user_id) if found is not None else None

    async def index(self, user_id: str, now: datetime) -> Mapping[str, Vector]:
        """Return the live entries' hashes and vectors."""

        async def work() -> dict[bytes, bytes]:
            return cast(
                "dict[bytes, bytes]", await cast("Awaitable[Any]", self._guard.client.hgetall(index_key(user_id)))
            )

        live = {}
        for key, value in (await self._guard(work)).items():
            expires_at, vector = unpack_index_value(value)
            if expires_at > now.timestamp():
                live[key.decode()] = np.asarray(vector, np.float32)
        return live


def _archetypes(vectors_id: str) -> str:
    return f"memvault:router:archetypes:{vectors_id}"
