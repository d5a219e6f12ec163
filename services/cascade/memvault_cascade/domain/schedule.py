"""When the nightly loop is due (R-36)."""

from __future__ import annotations

from datetime import datetime, timedelta, tzinfo


def next_run(now: datetime, hour: int, zone: tzinfo) -> datetime:
    """The first instant after `now` at which it is `hour` o'clock (0 to 23) in `zone`; in UTC like `now`.

    A night without that hour (clocks go forward) counts from the hour after.
    """
    local = now.astimezone(zone)
    candidate = local.replace(hour=hour, minute=0, second=0, microsecond=0)
    if candidate <= local:
        candidate += timedelta(days=1)
    return candidate.astimezone(now.tzinfo)


def run_id(due: datetime, zone: tzinfo) -> str:
    """One id per night, the same for all replicas."""
    return f"dream-{due.astimezone(zone):%Y-%m-%d}"
