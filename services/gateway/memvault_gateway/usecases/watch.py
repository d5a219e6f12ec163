"""Times and degradations of one call."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from memvault.faults import Fault, Reason
from memvault.ops import Observer
from memvault_gateway.domain.model import Degradation, HopTime, Skip
from memvault_gateway.ports import Clock

_WORDS = {
    Reason.DEADLINE_EXCEEDED: "TIMEOUT",
    Reason.SERVICE_UNAVAILABLE: "UNREACHABLE",
    Reason.BUS_UNAVAILABLE: "UNREACHABLE",
    Reason.STORE_UNAVAILABLE: "UNREACHABLE",
    Reason.SEARCH_UNAVAILABLE: "UNREACHABLE",
    Reason.NO_MODEL: "NO_MODEL",
}


def degradation(part: str, fault: Fault) -> Degradation:
    """Return how a part that failed is named in the answer."""
    return Degradation(part, _WORDS.get(fault.reason, "FAILED"), fault.message)


class Watch:
    """Collects, for one recall: time of each hop, parts left out, steps not taken. Deadlines in seconds.

    Of the deadline the share `answer_share`, [0, 0.5], is no hop's: a part that takes all it may must still leave the
    time to deliver the answer without it (R-44).
    """

    def __init__(self, clock: Clock, observer: Observer, deadline_s: float, *, answer_share: float) -> None:
        self._clock = clock
        self._observer = observer
        self._began = clock.monotonic()
        self.deadline_s = deadline_s
        self._answer_share = answer_share
        self.times: list[HopTime] = []
        self.degraded: list[Degradation] = []
        self.skipped: list[Skip] = []

    @contextmanager
    def hop(self, name: str) -> Iterator[None]:
        """Measure one hop."""
        began = self._clock.monotonic()
        step: AbstractContextManager[None] = self._observer.step(name)
        try:
            with step:
                yield
        finally:
            self.times.append(HopTime(name, (self._clock.monotonic() - began) * 1000))

    def spent_s(self) -> float:
        """Seconds since the call came in."""
        return self._clock.monotonic() - self._began

    def left_s(self, most: float | None = None) -> float:
        """Seconds that a hop may take, at least a millisecond: a call without time left fails at once and says so."""
        left = max(0.001, (1.0 - self._answer_share) * self.deadline_s - self.spent_s())
        return left if most is None else min(left, most)

    def degrade(self, part: str, fault: Fault) -> None:
        """Note a part that failed."""
        self.note(degradation(part, fault))

    def note(self, *parts: Degradation) -> None:
        """Note parts that were left out, each once."""
        self.degraded.extend(part for part in parts if part not in self.degraded)

    def skip(self, *skips: Skip) -> None:
        """Note steps not taken, each once."""
        self.skipped.extend(skip for skip in skips if skip not in self.skipped)
