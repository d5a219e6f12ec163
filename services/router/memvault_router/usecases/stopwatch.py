"""Measures the steps of one classification."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager


class Stopwatch:
    """Collects names and milliseconds in the order in which the steps ended."""

    def __init__(self) -> None:
        self._times: list[tuple[str, float]] = []

    @contextmanager
    def measure(self, name: str) -> Iterator[None]:
        """Measure the code within, also when it fails."""
        started = time.perf_counter()
        try:
            yield
        finally:
            self._times.append((name, (time.perf_counter() - started) * 1000.0))

    def step(self, name: str) -> AbstractContextManager[None]:
        """Measure a step of the pipeline: a stop watch is its observer."""
        return self.measure(f"router.{name}")

    @property
    def times(self) -> tuple[tuple[str, float], ...]:
        """Return what was measured."""
        return tuple(self._times)
