"""The place of an event among others, for telling a late delivery from something new."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Moment:
    """When an event was stored: its sequence in the stream of blocks, and its time, aware UTC."""

    sequence: int
    time: datetime

    def is_before(self, other: Moment) -> bool:
        """Whether this came earlier, by both measures.

        A sequence alone starts again with a new stream, and a time alone is the sender's word.
        """
        return self.sequence < other.sequence and self.time <= other.time
