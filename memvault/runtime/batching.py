"""Batches work of many callers for one worker thread that runs a model: urgent work first, late work dropped (R-22).

Work counts as late when its deadline passed, or would pass while it is computed, by what batches took lately.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Generic, TypeVar

from memvault.faults import Fault, Reason
from memvault.runtime import telemetry

Work = TypeVar("Work")
Done = TypeVar("Done")

FORGETTING = 0.8  # weight of the past in the running mean of what work costs
BATCH_WORKS = "memvault.batch.works"  # histogram: pieces of work in one batch
OUTLIER = 4.0  # times the mean that one batch may count: a model that stalled once is soon taken for quick again


class Urgency(IntEnum):
    """Whose turn it is: what is more urgent goes first, in the order of arrival."""

    NOW = 0  # somebody waits for an answer
    SOON = 1  # a conversation goes on meanwhile
    LATER = 2  # nobody notices when


@dataclass(slots=True, eq=False)
class _Job(Generic[Work, Done]):
    work: Work
    size: int
    expires_at: float  # of time.monotonic(), seconds
    done: asyncio.Future[Done] = field(default_factory=lambda: asyncio.get_running_loop().create_future())


class BatchQueue(Generic[Work, Done]):
    """Runs a blocking function over batches, one batch at a time, in a thread of its own.

    Belongs to the event loop that uses it.
    """

    def __init__(
        self,
        run: Callable[[Sequence[Work]], Sequence[Done | Exception]],
        size_of: Callable[[Work], int],
        *,
        batch_size: int,
        name: str,
    ) -> None:
        """Keep the parts; nothing runs before start().

        Args:
            run: computes a batch; called in the worker thread. An exception in the place of a result is for the
                caller of that work alone; one that is raised is for all of the batch.
            size_of: cost of one piece of work, as it lies padded in a batch.
            batch_size: largest cost of a batch; one larger piece goes alone.
            name: of the thread, and of the queue in metrics.

        """
        self.batches = self.works = 0  # that were handed to `run`
        self._name = name
        self._run, self._size_of, self._batch_size = run, size_of, batch_size
        self._waiting: dict[Urgency, deque[_Job[Work, Done]]] = {urgency: deque() for urgency in Urgency}
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix=name)
        self._arrived = asyncio.Event()
        self._seconds_per_size = 0.0
        self._pump: asyncio.Task[None] | None = None

    @property
    def waiting(self) -> int:
        """Pieces of work that wait for their batch."""
        return sum(map(len, self._waiting.values()))

    async def start(self, prepare: Callable[[], None]) -> None:
        """Prepare inside the worker thread (load, warm up), then accept work."""
        await asyncio.get_running_loop().run_in_executor(self._thread, prepare)
        self._pump = asyncio.create_task(self._serve(), name="batch-queue")

    async def stop(self) -> None:
        """Cancel what waits, let the running batch end."""
        if self._pump is not None:
            self._pump.cancel()
            await asyncio.gather(self._pump, return_exceptions=True)
            self._pump = None
        for waiting in self._waiting.values():
            for job in waiting:
                job.done.cancel()
            waiting.clear()
        await asyncio.to_thread(self._thread.shutdown, wait=True)

    async def submit(self, works: Sequence[Work], *, urgency: Urgency, within_s: float) -> list[Done]:
        """Wait for the results, in order; a caller that gives up takes its work out of the queue.

        The wait itself has no end of its own: while a batch runs for long, callers bound it by their deadline.

        Raises:
            Fault: DEADLINE_EXCEEDED when a piece could not be done within the time, before it reached the model.

        """
        expires_at = time.monotonic() + within_s
        jobs = [_Job[Work, Done](work, self._size_of(work), expires_at) for work in works]
        waiting = self._waiting[urgency]
        # neighbours in a batch should be alike in size: padding is computed too
        waiting.extend(sorted(jobs, key=lambda job: job.size))
        self._arrived.set()
        try:
            return list(await asyncio.gather(*(job.done for job in jobs)))
        except BaseException:
            for job in jobs:
                job.done.cancel()
            _forget_settled(waiting)  # now: while a model stalls, nobody else looks, and readings are large
            raise

    async def _serve(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            batch = self._next_batch()
            if not batch:
                self._arrived.clear()
                await self._arrived.wait()
                continue
            started = time.monotonic()
            self._count(batch)
            try:
                results = await loop.run_in_executor(self._thread, self._run, [job.work for job in batch])
                _settle(batch, results)
            except Exception as error:  # noqa: BLE001 - each caller receives it; the queue serves on
                _settle(batch, [error] * len(batch))
            else:
                self._learn(batch, time.monotonic() - started)

    def _count(self, batch: Sequence[_Job[Work, Done]]) -> None:
        self.batches += 1
        self.works += len(batch)
        telemetry.record(BATCH_WORKS, len(batch), unit="{work}", **{"memvault.batch.queue": self._name})

    def _learn(self, batch: Sequence[_Job[Work, Done]], took_s: float) -> None:
        cost = took_s / max(1, sum(job.size for job in batch))
        if self._seconds_per_size:
            cost = min(cost, OUTLIER * self._seconds_per_size)
        self._seconds_per_size = FORGETTING * self._seconds_per_size + (1 - FORGETTING) * cost

    def _next_batch(self) -> list[_Job[Work, Done]]:
        left = [waiting for waiting in self._waiting.values() if self._drop_late(waiting)]
        waiting = left[0] if left else self._waiting[Urgency.LATER]
        batch: list[_Job[Work, Done]] = []
        largest = 0
        while waiting:
            largest = max(largest, waiting[0].size)
            if batch and largest * (len(batch) + 1) > self._batch_size:
                break
            job = waiting.popleft()
            if job.done.done():
                continue
            batch.append(job)
        return batch

    def _drop_late(self, waiting: deque[_Job[Work, Done]]) -> bool:
        """Refuse what is late and forget what was given up; tell whether anything is left."""
        now = time.monotonic()
        for job in waiting:
            if job.expires_at <= now + job.size * self._seconds_per_size and not job.done.done():
                job.done.set_exception(_late())
                self._seconds_per_size *= FORGETTING  # or one slow batch would have all later work refused
        _forget_settled(waiting)
        return bool(waiting)


def _forget_settled(waiting: deque[_Job[Work, Done]]) -> None:
    alive = [job for job in waiting if not job.done.done()]
    waiting.clear()
    waiting.extend(alive)


def _late() -> Fault:
    return Fault(Reason.DEADLINE_EXCEEDED, "too little time was left to compute it: allow more time, or ask for less")


def _settle(batch: Sequence[_Job[Work, Done]], results: Sequence[Done | Exception]) -> None:
    for job, result in zip(batch, results, strict=True):
        if job.done.done():
            continue
        if isinstance(result, Exception):
            job.done.set_exception(result)
        else:
            job.done.set_result(result)
