"""What a classification waits for while it reads the words: all of it asked for at once, none of it twice."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from memvault.faults import Fault
from memvault_router.domain.prefetch import Match
from memvault_router.domain.state import Frequencies, Vector
from memvault_router.ports import Encoded
from memvault_router.usecases.stopwatch import Stopwatch

T = TypeVar("T")


@dataclass(frozen=True)
class First:
    """Begun at once: an answer prepared for exactly this question, and the question's vectors."""

    exact: asyncio.Task[Match | Fault | None]
    encoding: asyncio.Task[Encoded | Fault]


@dataclass(frozen=True)
class Beside:
    """Begun when no answer lies ready, while the encoder works: the profile and predicted questions."""

    past: asyncio.Task[Frequencies | Fault | None]
    predicted: asyncio.Task[Mapping[str, Vector] | Fault | None]


def give_up(*tasks: asyncio.Task[Any]) -> None:
    """Stop what is still running, because nobody waits for it any more."""
    for task in tasks:
        task.cancel()


def begun(watch: Stopwatch, name: str, work: Coroutine[Any, Any, T]) -> asyncio.Task[T | Fault]:
    """Begin some work and measure it as `name`.

    Its fault is its result, so that work that nobody waits for any more leaves no unhandled error.
    """

    async def outcome() -> T | Fault:
        try:
            with watch.measure(name):
                return await work
        except Fault as fault:
            return fault

    return asyncio.create_task(outcome())


def absent() -> asyncio.Task[None]:
    """Stand for work that is not wanted this time."""
    return asyncio.create_task(_nothing())


async def _nothing() -> None:
    return None
