"""What rerank needs from the outside."""

from datetime import datetime
from typing import Protocol

from memvault_rerank.domain.breaker import Breaker
from memvault_rerank.domain.reading import Batched, Reading, Score


class RerankModel(Protocol):
    """Reads query and candidates together."""

    @property
    def name(self) -> str:
        """The model as answers name it."""
        ...

    @property
    def batched(self) -> Batched:
        """What reached the model since the start."""
        ...

    def lacks(self, reading: Reading) -> str:
        """Say in a sentence what the model misses in this reading; empty: it can read it."""
        ...

    async def score(self, reading: Reading, *, within_s: float) -> list[Score]:
        """Score the documents that can be scored.

        Raises:
            Fault: DEADLINE_EXCEEDED when the work was dropped before it reached the model.

        """
        ...


class BreakerObserver(Protocol):
    """Hears of the breaker."""

    def changed(self, breaker: Breaker) -> None:
        """Take note that the breaker closed, opened or began to probe; told once for each change."""
        ...


class Clock(Protocol):
    """The time."""

    def now(self) -> datetime:
        """Return the current instant, aware UTC."""
        ...
