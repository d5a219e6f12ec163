"""The clock of this machine."""

from __future__ import annotations

import time
from datetime import UTC, datetime


class SystemClock:
    """See `ports.Clock`."""

    def now(self) -> datetime:
        """See `ports.Clock`."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """See `ports.Clock`."""
        return time.monotonic()
