"""What a source yields, and what sources share: ids, times, parts of long texts."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, tzinfo
from typing import Any

PART_BYTES = 60_000
"""A block takes 64 KiB; what is longer becomes several."""
LABEL_CHARS = 300
_ID_CHARS = 195  # of 200: the rest is for the number of a part
_SURROGATES = re.compile("[\ud800-\udfff]")
_CUTS = (re.compile(r"\n(?=#{1,6} )"), re.compile(r"\n\s*\n"), re.compile(r"\n"), re.compile(r"(?<=[。！？.!?])"))
_MILLISECONDS = 1e11  # an epoch in seconds reaches this in the year 5138
_FORMATS = ("%Y/%m/%d", "%Y.%m.%d", "%Y/%m/%d %H:%M", "%Y/%m/%d %H:%M:%S", "%Y年%m月%d日")


@dataclass(frozen=True)
class Row:
    """A block to store. `place`: where it stands, for people; `line`: the same as a number, where there is one."""

    block: dict[str, Any]
    place: str
    size: int = 0
    line: int | None = None


@dataclass(frozen=True)
class Bad:
    """A part of the source that cannot be stored, and why."""

    place: str
    reason: str
    line: int | None = None
    block_id: str = ""
    size: int = 0


@dataclass(frozen=True)
class Left:
    """A part that is no memory, left out on purpose: `kind` such as `tool` or `empty`."""

    kind: str


@dataclass(frozen=True)
class Same:
    """A block that stands in the vault just so: nothing to send."""

    size: int = 0


@dataclass(frozen=True)
class Remark:
    """Something that was stored otherwise than one might expect."""

    place: str
    text: str


Item = Row | Bad | Left | Same | Remark


def stable_id(prefix: str, name: str) -> str:
    """`prefix:name`, or a hash in place of a name that no block's id can hold."""
    whole = f"{prefix}:{name}"
    if len(whole) <= _ID_CHARS and whole.isprintable():
        return whole
    return f"{prefix}:{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}"


def part_id(block_id: str, number: int) -> str:
    """The id of one part of a text, numbered from 1; the first has the id of the whole."""
    return block_id if number == 1 else f"{block_id}#{number:04d}"


def clean(text: str) -> str:
    """A text as a block can hold it: without NUL, half characters replaced, no blank ends."""
    return _SURROGATES.sub("\ufffd", text.replace("\x00", "")).replace("\r\n", "\n").strip()


def label(text: object) -> str:
    """A title, name or tag on one line, cut to a sensible length."""
    return " ".join(clean(str(text)).split())[:LABEL_CHARS]


def parts(text: str) -> list[str]:
    """A text in parts of at most `PART_BYTES` of UTF-8, cut at headings, paragraphs, lines or sentences."""
    done: list[str] = []
    left = text
    while len(left.encode()) > PART_BYTES:
        head = left.encode()[:PART_BYTES].decode("utf-8", "ignore")
        place = len(head)
        for cut in _CUTS:
            places = [found.end() for found in cut.finditer(head) if found.end() > len(head) // 2]
            if places:
                place = places[-1]
                break
        done.append(left[:place].strip())
        left = left[place:].strip()
    return [one for one in (*done, left) if one]


def in_parts(
    block_id: str, text: str, shared: Mapping[str, Any], position: int, place: str, line: int | None = None
) -> list[Row]:
    """What somebody said as blocks: its parts with the fields they share, numbered from `position` on."""
    fields = {name: value for name, value in shared.items() if value not in (None, "")}
    return [
        Row({**fields, "id": part_id(block_id, n), "text": part, "position": position + n - 1}, place, len(part), line)
        for n, part in enumerate(parts(text), 1)
    ]


def instant(value: object, zone: tzinfo | None) -> str | None:
    """A time as RFC 3339 in UTC; None when it is none.

    Args:
        value: seconds or milliseconds since 1970, a text, a date or a datetime.
        zone: of times that name none; None: this machine's.
    """
    found = _moment(value)
    if found is None:
        return None
    try:
        if found.tzinfo is None:
            found = found.replace(tzinfo=zone) if zone is not None else found.astimezone()
        return found.astimezone(UTC).isoformat().replace("+00:00", "Z")
    except (ValueError, OverflowError, OSError):
        return None


def _moment(value: object) -> datetime | None:
    if isinstance(value, datetime):
        return value
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day)  # noqa: DTZ001 - the zone comes later
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        try:
            return datetime.fromtimestamp(value / 1000 if abs(value) >= _MILLISECONDS else value, UTC)
        except (ValueError, OverflowError, OSError):
            return None
    return _written(str(value).strip())


def _written(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        pass
    for form in _FORMATS:
        try:
            return datetime.strptime(text, form)  # noqa: DTZ007 - the zone comes later
        except ValueError:
            continue
    return None
