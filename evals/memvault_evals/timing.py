"""Latencies of several operations, measured in turn so that a busy moment hits all of them alike."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random

import numpy as np

Operation = Callable[[], Awaitable[object]]


@dataclass(frozen=True)
class Spread:
    """Of one operation: median, 95th and 99th percentile in milliseconds, and how often it was measured."""

    p50: float
    p95: float
    p99: float
    n: int


def spread(samples_ms: Sequence[float]) -> Spread:
    """Summarise samples in milliseconds.

    Raises:
        ValueError: When there is none.
    """
    if not samples_ms:
        raise ValueError("no sample to summarise: run at least one round")
    p50, p95, p99 = np.percentile(np.asarray(samples_ms), [50, 95, 99])
    return Spread(float(p50), float(p95), float(p99), len(samples_ms))


@dataclass
class Again:
    """Measurements that failed in one way and are taken again: at most `most`, so many were `taken`."""

    kind: type[Exception]
    most: int
    taken: int = 0

    async def timed(self, operation: Operation) -> float:
        """Run an operation until it succeeds; milliseconds of that time alone."""
        while True:
            begin = time.perf_counter()
            try:
                await operation()
            except self.kind:
                self.taken += 1
                if self.taken > self.most:
                    raise
            else:
                return (time.perf_counter() - begin) * 1000


async def interleaved(
    operations: Mapping[str, Operation], *, rounds: int, warm_up: int, seed: int, again: Again
) -> dict[str, list[float]]:
    """Run every operation once per round, in an order shuffled anew; return milliseconds after the warm-up rounds."""
    chance = Random(seed)
    names = list(operations)
    taken: dict[str, list[float]] = {name: [] for name in names}
    for turn in range(warm_up + rounds):
        chance.shuffle(names)
        for name in names:
            took_ms = await again.timed(operations[name])
            if turn >= warm_up:
                taken[name].append(took_ms)
    return taken
