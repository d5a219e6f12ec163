"""The clock of this machine, and notes in the log and the metrics."""

from __future__ import annotations

from datetime import UTC, datetime

import structlog

from memvault.runtime import telemetry

_log = structlog.get_logger("memvault.slow_thinker")


class SystemClock:
    """See `ports.Clock`."""

    def now(self) -> datetime:
        """See `ports.Clock`."""
        return datetime.now(UTC)


class LoggedNotes:
    """See `ports.Notes`."""

    def left_out(self, part: str, reason: str) -> None:
        """See `ports.Notes`."""
        telemetry.counter("memvault.slow_thinker.left_out", **{"memvault.part": part, "error.type": reason})
        _log.warning("slow_thinker.left_out", part=part, reason=reason)
