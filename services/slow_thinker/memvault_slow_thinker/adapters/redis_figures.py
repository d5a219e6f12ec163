"""Figures in Redis: one hash of counters per user and one for all; the gateway adds hits to the same hashes."""

from __future__ import annotations

from collections.abc import Mapping

from redis.asyncio import Redis

from memvault.prefetch_key import figures_key
from memvault_slow_thinker.adapters.redis_access import reachable, text


class RedisFigures:
    """See `ports.Figures`."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    async def add(self, user_id: str, amounts: Mapping[str, int]) -> None:
        """See `ports.Figures`."""
        async with reachable(), self._redis.pipeline(transaction=True) as steps:
            for key in (figures_key(user_id), figures_key("")):
                for name, amount in amounts.items():
                    steps.hincrby(key, name, amount)
            await steps.execute()

    async def read(self, user_id: str) -> dict[str, float]:
        """See `ports.Figures`."""
        async with reachable():
            found = await self._redis.hgetall(figures_key(user_id))
        return {text(name): float(value) for name, value in found.items()}

    async def forget(self, user_id: str) -> None:
        """See `ports.Figures`."""
        async with reachable():
            await self._redis.delete(figures_key(user_id))
