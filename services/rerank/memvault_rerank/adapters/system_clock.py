"""The machine's clock."""

from datetime import UTC, datetime


class SystemClock:
    """Tells the time of this machine."""

    def now(self) -> datetime:
        """Return the current instant, aware UTC."""
        return datetime.now(UTC)
