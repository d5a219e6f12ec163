"""The machine's clock and time zone."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

_LOCALTIME = Path("/etc/localtime")


class SystemClock:
    """`Clock` of the machine."""

    def now(self) -> datetime:
        """Return the present instant in UTC."""
        return datetime.now(UTC)


def machine_zone() -> ZoneInfo:
    """Return the machine's IANA zone: `TZ`, else what /etc/localtime points to, else UTC.

    A named zone and not the present offset, because "last March" may lie on the other side of a clock change.
    """
    for name in (os.environ.get("TZ", "").lstrip(":"), _linked_zone()):
        if name:
            try:
                return ZoneInfo(name)
            except (ZoneInfoNotFoundError, ValueError):
                continue
    return ZoneInfo("UTC")


def _linked_zone() -> str:
    _, found, name = str(_LOCALTIME.resolve()).partition("zoneinfo/")
    return name if found else ""
