"""Times as people write them in options, and the present time."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, tzinfo

from memvault.cli.failure import CommandError
from memvault.runtime.exits import Exit


def now() -> datetime:
    """The present time, in UTC."""
    return datetime.now(UTC)


def stamp(moment: datetime) -> str:
    """A time with a zone as RFC 3339 in UTC."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def zone(name: str | None) -> tzinfo | None:
    """The zone of `--time-zone`; None, where nothing is named: this machine's. Raises CommandError."""
    if not name:
        return None
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError  # noqa: PLC0415 - few commands need it

    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        message = f"--time-zone {name!r} is not known: use a name such as Asia/Taipei"
        raise CommandError(Exit.USAGE, message) from error


def moment(option: str, text: str | None, of: tzinfo | None = None, *, end: bool = False) -> str | None:
    """The time that an option names, as RFC 3339 in UTC; None where it is not given.

    Args:
        option: such as `--since`, for the message.
        text: a time, or a day alone, which is its begin.
        of: the zone of what names none; None: this machine's.
        end: a day alone is its end, which is the begin of the next.

    Raises:
        CommandError: It is no time.
    """
    if text is None:
        return None
    try:
        found = datetime.fromisoformat(text.strip())
        if end and _is_day(text.strip()):
            found += timedelta(days=1)
        if found.tzinfo is None:
            found = found.replace(tzinfo=of) if of is not None else found.astimezone()
        return stamp(found)
    except (ValueError, OverflowError, OSError) as error:
        message = f"{option} is {text!r}: write a day such as 2026-03-01, or a time such as 2026-03-01T09:30:00+08:00"
        raise CommandError(Exit.USAGE, message) from error


def _is_day(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True
