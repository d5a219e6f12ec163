"""The machine's clock."""

from datetime import UTC, datetime


class SystemClock:
    """A `Clock` that tells the real time."""

    def now(self) -> datetime:
        """The present instant, aware, UTC."""
        return datetime.now(UTC)
