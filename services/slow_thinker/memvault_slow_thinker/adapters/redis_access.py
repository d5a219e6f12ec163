"""What the answers of Redis are, and what a Redis that cannot be reached means to a use case."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from redis.exceptions import RedisError

from memvault.faults import Fault, Reason


@asynccontextmanager
async def reachable() -> AsyncIterator[None]:
    """Turn Redis's own errors into Fault(STORE_UNAVAILABLE)."""
    try:
        yield
    except (RedisError, OSError, TimeoutError) as error:
        message = f"Redis did not answer ({type(error).__name__}): check stores.redis and try again"
        raise Fault(Reason.STORE_UNAVAILABLE, message, store="redis") from error


def raw(value: object) -> bytes:
    """Return a value as bytes, whether the client decodes answers or not."""
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return value.encode()
    raise TypeError(f"Redis answered with {type(value).__name__} where a value was expected")


def text(value: object) -> str:
    """Return a value as text."""
    return raw(value).decode()
