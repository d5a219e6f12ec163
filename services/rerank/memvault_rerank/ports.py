"""What rerank needs from the outside."""

from datetime import datetime
from typing import Protocol

from memvault_rerank.domain.reading import Reading, Score


class RerankModel(Protocol):
    """Reads query and candidates together."""

    @property
    def name(self) -> str:
        """The model as answers name it."""
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


class Clock(Protocol):
    """The time."""

    def now(self) -> datetime:
        """Return the current instant, aware UTC."""
        ...
