"""Collects what waits for one user, so that it is done together and in order; pure, for any use case."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True, slots=True, eq=False)
class _Waiting(Generic[T, R]):
    item: T
    alone: bool
    result: asyncio.Future[R]


class Batches(Generic[T, R]):
    """Hands items to `work` in batches of one user, one batch of a user at a time.

    What comes while a batch is worked on is the next batch: where little comes, nothing waits for company.
    """

    def __init__(self, work: Callable[[str, Sequence[T]], Awaitable[Sequence[R]]], size: int) -> None:
        """`work` answers with one result per item; what it raises, every item of the batch raises."""
        self._work = work
        self._size = size
        self._waiting: dict[str, deque[_Waiting[T, R]]] = {}
        self._running: dict[str, asyncio.Task[None]] = {}

    async def submit(self, user_id: str, item: T, *, alone: bool = False) -> R:
        """Wait for the item's result. `alone` gives it a batch of its own, so that a bad one spoils no others."""
        one: _Waiting[T, R] = _Waiting(item, alone, asyncio.get_running_loop().create_future())
        self._waiting.setdefault(user_id, deque()).append(one)
        if user_id not in self._running:
            self._running[user_id] = asyncio.create_task(self._drain(user_id), name="batches")
        return await one.result

    async def stop(self) -> None:
        """Give up what is being worked on; whoever waits for it is told by the cancellation."""
        running = list(self._running.values())
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    async def _drain(self, user_id: str) -> None:
        waiting = self._waiting[user_id]
        try:
            while waiting:
                await self._answer(user_id, self._next(waiting))
        finally:
            for one in waiting:
                one.result.cancel()
            del self._running[user_id], self._waiting[user_id]

    def _next(self, waiting: deque[_Waiting[T, R]]) -> list[_Waiting[T, R]]:
        batch = [waiting.popleft()]
        while waiting and len(batch) < self._size and not (batch[0].alone or waiting[0].alone):
            batch.append(waiting.popleft())
        return batch

    async def _answer(self, user_id: str, batch: list[_Waiting[T, R]]) -> None:
        try:
            results = await self._work(user_id, [one.item for one in batch])
        except asyncio.CancelledError:
            for one in batch:
                one.result.cancel()
            raise
        except Exception as error:  # noqa: BLE001 - it is raised again in every waiter
            for one in batch:
                if not one.result.done():
                    one.result.set_exception(error)
            return
        for one, result in zip(batch, results, strict=True):
            if not one.result.done():
                one.result.set_result(result)
