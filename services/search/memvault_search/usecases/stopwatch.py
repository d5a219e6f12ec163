"""Times of the steps of one call, and the spans that go with them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from memvault.ops import Observer


class Stopwatch:
    """Measures each step in milliseconds and shows it to an observer."""

    def __init__(self, observer: Observer) -> None:
        self._observer = observer
        self.times: dict[str, float] = {}

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Time the code within; a step entered twice adds up."""
        began = time.perf_counter()
        try:
            with self._observer.step(name):
                yield
        finally:
            took = (time.perf_counter() - began) * 1000.0
            self.times[name] = self.times.get(name, 0.0) + took
