"""The machine's clock."""

from __future__ import annotations

from datetime import UTC, datetime


class SystemClock:
    """A `Clock` that tells the time."""

    def now(self) -> datetime:
        """The current instant."""
        return datetime.now(UTC)
