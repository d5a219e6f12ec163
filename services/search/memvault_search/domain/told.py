"""When something happened, by the words of who told it afterwards (R-08): "yesterday", "two weeks ago", 「上個月」.

A turn bears the time at which it was said. "We went camping last weekend" answers a question about that weekend, and
was said on a Monday.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from memvault.text import fold
from memvault_search.domain.block import Block

_DAY = timedelta(days=1)
_NUMBERS = {
    **dict.fromkeys(("a", "an", "one", "一"), 1),
    **dict.fromkeys(("two", "couple of", "a couple of", "二", "两"), 2),
    **dict.fromkeys(("three", "few", "a few", "三", "几"), 3),
    **dict.fromkeys(("four", "四"), 4),
    **dict.fromkeys(("five", "五"), 5),
    **dict.fromkeys(("six", "六"), 6),
    **dict.fromkeys(("seven", "七"), 7),
    **dict.fromkeys(("eight", "八"), 8),
    **dict.fromkeys(("nine", "九"), 9),
    **dict.fromkeys(("ten", "十"), 10),
}
_UNITS = {
    **dict.fromkeys(("day", "天", "日"), "day"),
    **dict.fromkeys(("week", "周", "星期", "礼拜"), "week"),
    **dict.fromkeys(("weekend", "周末"), "weekend"),
    **dict.fromkeys(("month", "月"), "month"),
    **dict.fromkeys(("year", "年"), "year"),
}
_DAYS_BACK = {"yesterday": 1, "last night": 1, "昨天": 1, "昨日": 1, "昨晚": 1, "昨夜": 1, "前天": 2, "前晚": 2}
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


def _one_of(words: object) -> str:
    return "|".join(sorted(map(str, words), key=len, reverse=True))  # type: ignore[call-overload]


_LATIN = [one for one in _NUMBERS if one.isascii()]
_HAN = [one for one in _NUMBERS if not one.isascii()]
_TOLD = re.compile(
    rf"\b(?P<day>yesterday|last night)\b|(?P<day_zh>昨天|昨日|昨晚|昨夜|前天|前晚)"
    rf"|\b(?P<count>{_one_of(_LATIN)}|\d{{1,2}}) (?P<unit>day|weekend|week|month|year)s? ago\b"
    rf"|(?P<count_zh>{_one_of(_HAN)}|\d{{1,2}})\s?个?(?P<unit_zh>天|周|星期|礼拜|月|年)以?前"
    rf"|\b(?:last|past) (?:(?P<last>weekend|week|month|year)|(?P<weekday>{_one_of(_WEEKDAYS)}))\b"
    rf"|上个?(?P<last_zh>周末|周|星期|礼拜|月)|(?P<year_zh>去年|前年)"
)

_PERHAPS = ("ago", "yesterday", "last", "past", "昨", "前", "去年")
_PERHAPS_LAST = re.compile("上[個个]?[週周星禮礼月]")


class Span(NamedTuple):
    """[start, end) in seconds since the epoch, UTC."""

    start: float
    end: float


def spans_of(text: str, said: datetime) -> list[Span]:
    """The times in the past that a text of the moment `said` speaks of, as it meets them; calendar units in UTC."""
    lowered = text.lower()  # folding all texts would cost more than all else here
    if not any(one in lowered for one in _PERHAPS) and not _PERHAPS_LAST.search(text):
        return []
    try:
        day = said.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        return [Span(start.timestamp(), end.timestamp()) for start, end in _found(fold(text), day)]
    except OverflowError:
        return []  # said in the first years of the calendar, of a time before it


def _found(folded: str, day: datetime) -> Iterator[tuple[datetime, datetime]]:
    for one in _TOLD.finditer(folded):
        group = {name: word for name, word in one.groupdict().items() if word}
        if back := group.get("day") or group.get("day_zh"):
            yield _back(day, "day", _DAYS_BACK[back])
        elif count := group.get("count") or group.get("count_zh"):
            unit = _UNITS[group.get("unit") or group["unit_zh"]]
            number = _NUMBERS[count] if count in _NUMBERS else int(count)
            yield _about(day, number) if unit == "week" else _back(day, unit, number)
        elif last := group.get("last") or group.get("last_zh"):
            yield _back(day, _UNITS[last], 1)
        elif name := group.get("weekday"):
            yield _back(day, "day", (day.weekday() - _WEEKDAYS.index(name) - 1) % 7 + 1)
        else:
            yield _back(day, "year", 1 if group["year_zh"] == "去年" else 2)


def _back(day: datetime, unit: str, count: int) -> tuple[datetime, datetime]:
    """The calendar unit that lies `count` units before that of `day`."""
    if unit == "day":
        return day - count * _DAY, day - (count - 1) * _DAY
    monday = day - day.weekday() * _DAY - 7 * (count - 1) * _DAY
    if unit == "week":
        return monday - 7 * _DAY, monday
    if unit == "weekend":
        return monday - 2 * _DAY, monday
    if unit == "year":
        return _month(day.year - count, 0), _month(day.year - count + 1, 0)
    months = 12 * day.year + day.month - 1 - count
    return _month(0, months), _month(0, months + 1)


def _about(day: datetime, weeks: int) -> tuple[datetime, datetime]:
    """Seven days around the day so many weeks before: nobody counts them by the calendar."""
    middle = day - 7 * weeks * _DAY
    return middle - 3 * _DAY, middle + 4 * _DAY


def _month(years: int, months: int) -> datetime:
    year, month = divmod(12 * years + months, 12)
    if year < 1:
        raise OverflowError("a month before the calendar begins")
    return datetime(year, month + 1, 1, tzinfo=UTC)


class ToldAfterwards:
    """What one user's blocks with a time say of times before it."""

    def __init__(self) -> None:
        self._spans: dict[str, list[Span]] = {}

    def add(self, block: Block) -> None:
        """Read a block."""
        if block.event_time is not None and (spans := spans_of(block.text, block.event_time)):
            self._spans[block.id] = spans

    def remove(self, block: Block) -> None:
        """Forget a block."""
        self._spans.pop(block.id, None)

    def of(self, start: float, end: float) -> list[str]:
        """Ids of the blocks that speak of some time in [start, end), in order of id."""
        found = [one for one, spans in self._spans.items() for since, until in spans if since < end and start < until]
        return sorted(set(found))
