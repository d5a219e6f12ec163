"""Counts in Redis what prepared answers were good for (R-56)."""

from __future__ import annotations

import structlog
from redis.asyncio import Redis
from redis.exceptions import RedisError

from memvault.prefetch_key import figures_key, used_key
from memvault_gateway.domain.model import Prepared

_log = structlog.get_logger("memvault.gateway")
_USED_TTL_S = 300


class RedisPreparedUse:
    """See `ports.PreparedUse`. A Redis that is away loses figures, never an answer."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    async def used(self, user_id: str, prepared: Prepared, saved_ms: float) -> None:
        """See `ports.PreparedUse`."""
        try:
            first = await self._redis.set(used_key(user_id, prepared.query_hash), b"1", nx=True, ex=_USED_TTL_S)
            pipeline = self._redis.pipeline(transaction=False)
            for key in (figures_key(user_id), figures_key("")):
                pipeline.hincrby(key, f"hits.{prepared.match}", 1)
                pipeline.hincrbyfloat(key, "saved_ms", saved_ms)
                if first:
                    pipeline.hincrby(key, "used", 1)
            await pipeline.execute()
        except (RedisError, OSError) as error:
            _log.warning("gateway.uncounted", error=type(error).__name__)
