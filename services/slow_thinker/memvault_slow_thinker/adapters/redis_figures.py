"""Figures in Redis: one hash of counters per user and one for all; the gateway adds hits to the same hashes."""

from __future__ import annotations

from collections.abc import Mapping

from redis.asyncio import Redis
from redis.asyncio.client import Pipeline

from memvault.prefetch_key import figures_key
from memvault_slow_thinker.adapters.redis_access import reachable, text
from memvault_slow_thinker.adapters.redis_marks import mark_forgotten, unless_forgotten


class RedisFigures:
    """See `ports.Figures`."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    async def add(self, user_id: str, amounts: Mapping[str, int], *, told_at: float) -> None:
        """See `ports.Figures`."""

        def fill(steps: Pipeline, *keys: str) -> None:
            for key in keys or (figures_key(user_id), figures_key("")):
                for name, amount in amounts.items():
                    steps.hincrby(key, name, amount)

        async with reachable():
            if await unless_forgotten(self._redis, user_id, told_at, fill) is None:
                async with self._redis.pipeline(transaction=True) as steps:
                    fill(steps, figures_key(""))
                    await steps.execute()

    async def read(self, user_id: str) -> dict[str, float]:
        """See `ports.Figures`."""
        async with reachable():
            found = await self._redis.hgetall(figures_key(user_id))
        return {text(name): float(value) for name, value in found.items()}

    async def forget(self, user_id: str, at: float) -> None:
        """See `ports.Figures`."""
        async with reachable():
            await mark_forgotten(self._redis, user_id, at)
            await self._redis.delete(figures_key(user_id))
