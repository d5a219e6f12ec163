"""The deadline of the request at hand: relative on the wire, absolute inside a process, shrinking at each hop."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar

from memvault.faults import Fault, Reason

_ends_at: ContextVar[float | None] = ContextVar("memvault_deadline", default=None)  # of time.monotonic(), seconds


def remaining_s(default: float) -> float:
    """Return the seconds left of the current deadline, never negative; `default` where there is none."""
    ends_at = _ends_at.get()
    return default if ends_at is None else max(0.0, ends_at - time.monotonic())


@asynccontextmanager
async def limit(seconds: float, *, inherit: bool = True) -> AsyncIterator[None]:
    """Bound the code within.

    Args:
        seconds: From now.
        inherit: Whether an outer deadline that ends earlier stays in force; False for a request that just arrived.

    Raises:
        Fault: DEADLINE_EXCEEDED when the time is over before the code is done.
    """
    ends_at = time.monotonic() + seconds
    outer = _ends_at.get() if inherit else None
    if outer is not None:
        ends_at = min(ends_at, outer)
    token = _ends_at.set(ends_at)
    try:
        async with asyncio.timeout(ends_at - time.monotonic()) as bound:
            yield
    except TimeoutError as error:
        if not bound.expired():
            raise
        raise exceeded() from error
    finally:
        _ends_at.reset(token)


def for_next_hop(timeout_s: float, margin_s: float) -> float:
    """Return how long a call may take: its own limit, or what is left here less a margin to still answer ourselves.

    Raises:
        Fault: DEADLINE_EXCEEDED when nothing is left: the call is not worth making.
    """
    ends_at = _ends_at.get()
    if ends_at is None:
        return timeout_s
    left = ends_at - time.monotonic() - margin_s
    if left <= 0:
        raise exceeded()
    return min(timeout_s, left)


def exceeded() -> Fault:
    """Return the fault of a deadline that passed."""
    return Fault(
        Reason.DEADLINE_EXCEEDED, "the deadline passed before the answer was ready: allow more time, or ask for less"
    )
