"""Collects what waits for one user, so that it is done together and in order."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

T = TypeVar("T")
R = TypeVar("R")


class Batches(Generic[T, R]):
    """Hands items to `work` in batches of one user, one batch of a user at a time."""

    def __init__(self, work: Callable[[str, Sequence[T]], Awaitable[Sequence[R]]], size: int) -> None:
        """`work` answers with one result per item; what it raises, every item of the batch raises."""
        self._work = work
        self._size = size
        self._waiting: dict[str, deque[tuple[T, asyncio.Future[R]]]] = {}
        self._running: dict[str, asyncio.Task[None]] = {}

    async def submit(self, user_id: str, item: T) -> R:
        """Wait for the item's result."""
        future: asyncio.Future[R] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(user_id, deque()).append((item, future))
        if user_id not in self._running:
            self._running[user_id] = asyncio.ensure_future(self._drain(user_id))
        return await future

    async def _drain(self, user_id: str) -> None:
        waiting = self._waiting[user_id]
        try:
            while waiting:
                batch = [waiting.popleft() for _ in range(min(self._size, len(waiting)))]
                await self._answer(user_id, batch)
        finally:
            del self._running[user_id], self._waiting[user_id]

    async def _answer(self, user_id: str, batch: list[tuple[T, asyncio.Future[R]]]) -> None:
        try:
            results = await self._work(user_id, [item for item, _ in batch])
        except Exception as error:  # noqa: BLE001 - it is raised again in every waiter
            for _, future in batch:
                if not future.done():
                    future.set_exception(error)
            return
        for (_, future), result in zip(batch, results, strict=True):
            if not future.done():
                future.set_result(result)
