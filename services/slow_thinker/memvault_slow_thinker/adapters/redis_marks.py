"""Marks of forgotten users in Redis, which all stores of this service heed.

`memvault:slow_thinker_forgotten:{digest of user}`: hash, `at`: up to when the user was forgotten, `done`: the same once
nothing was left; in seconds since the epoch. It expires after a day, as nothing on its way is older.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable
from typing import Any, cast

from redis.asyncio import Redis
from redis.asyncio.client import Pipeline
from redis.exceptions import WatchError

_TTL_S = 86_400
_SET = """
local known = redis.call('HGET', KEYS[1], ARGV[1])
if not known or tonumber(known) < tonumber(ARGV[2]) then redis.call('HSET', KEYS[1], ARGV[1], ARGV[2]) end
return redis.call('EXPIRE', KEYS[1], ARGV[3])
"""


async def mark_forgotten(redis: Redis, user_id: str, at: float, *, done: bool = False) -> None:
    """Set the mark, or move it on; it never moves back."""
    told = (mark_key(user_id), "done" if done else "at", repr(at), str(_TTL_S))
    await cast("Awaitable[int]", redis.eval(_SET, 1, *told))


async def was_forgotten(redis: Redis, user_id: str, at: float) -> bool:
    """Whether a forgetting as of `at` or later was carried out to its end."""
    done = await cast("Awaitable[bytes | None]", redis.hget(mark_key(user_id), "done"))
    return done is not None and float(done) >= at


async def bars(steps: Pipeline, user_id: str, at: float) -> bool:
    """Whether the user was forgotten at `at` or later; `steps` must be watching the mark, so that this stays true."""
    moment = await cast("Awaitable[bytes | None]", steps.hget(mark_key(user_id), "at"))
    return moment is not None and float(moment) >= at


async def unless_forgotten(
    redis: Redis, user_id: str, at: float, fill: Callable[[Pipeline], object]
) -> list[Any] | None:
    """Run the steps that `fill` adds in one transaction; None, and nothing done, if the user went at `at` or later."""
    async with redis.pipeline(transaction=True) as steps:
        while True:
            await steps.watch(mark_key(user_id))
            if await bars(steps, user_id, at):
                return None
            steps.multi()  # type: ignore[no-untyped-call] # untyped in redis 8
            fill(steps)
            try:
                return list(await steps.execute())
            except WatchError:
                continue


def mark_key(user_id: str) -> str:
    """Return the key of a user's mark."""
    return f"memvault:slow_thinker_forgotten:{hashlib.sha256(user_id.encode()).hexdigest()[:32]}"
