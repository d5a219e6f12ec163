"""Bounds every call to Redis."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from redis.asyncio import Redis
from redis.exceptions import RedisError

from memvault.faults import Fault, Reason

T = TypeVar("T")


class RedisGuard:
    """Bounds every call and leaves a store that failed alone for a while, so that a hanging one costs a recall once."""

    def __init__(self, client: Redis, *, timeout_s: float, rest_s: float) -> None:
        self.client = client
        self._timeout_s = timeout_s
        self._rest_s = rest_s
        self._rests_until = 0.0

    async def __call__(self, work: Callable[[], Awaitable[T]]) -> T:
        """Run one store call.

        Raises:
            Fault: STORE_UNAVAILABLE when Redis fails, is too slow, or failed a moment ago.
        """
        if time.monotonic() < self._rests_until:
            raise Fault(Reason.STORE_UNAVAILABLE, "Redis failed a moment ago: it is tried again shortly")
        try:
            return await _bounded(work, self._timeout_s)
        except (RedisError, OSError, TimeoutError) as error:
            self._rests_until = time.monotonic() + self._rest_s
            raise Fault(
                Reason.STORE_UNAVAILABLE, f"Redis cannot be used ({type(error).__name__}): check its address and state"
            ) from error


async def _bounded(work: Callable[[], Awaitable[T]], timeout_s: float) -> T:
    async with asyncio.timeout(timeout_s):
        return await work()
