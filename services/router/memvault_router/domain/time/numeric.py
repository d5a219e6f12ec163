"""Dates in digits: 2024-02-29, 11/3/2024, 11/3, 2024/11. They are the same in both languages.

Where both numbers may be the month, Chinese text and the user's zone tell which is (`DayOrder`); otherwise either may
be meant, and the range around both only moves scores.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, tzinfo
from functools import partial

from memvault_router.domain.time import span as s
from memvault_router.domain.time.rules import Build
from memvault_router.domain.time.span import Span

_YEAR = "(?P<year>(?:19|20)[0-9]{2})"
_HAN = re.compile("[\u3400-\u9fff]")
_SURE_CUE = re.compile(r"\b(?:on|since|until|till|dated)\s+$", re.IGNORECASE)
_CUE = re.compile(r"\b(?:from|before|after|around|between|and|to)\s+$", re.IGNORECASE)
# Halves, thirds, fifths: without a year they are dates only where nothing else can stand.
_PARTS = frozenset({2, 3, 4, 5, 6, 8, 10})
_IN_WORD = re.compile(r"[a-z]\s*$", re.IGNORECASE)


MONTH_FIRST, DAY_FIRST, OPEN = "month first", "day first", ""


@dataclass(frozen=True)
class DayOrder:
    """Beginnings of the names of zones where the month, or the day, is written first, or neither for certain."""

    month_first: tuple[str, ...]
    day_first: tuple[str, ...]
    left_open: tuple[str, ...]

    def of(self, zone: tzinfo) -> str:
        """Return how a zone writes dates: `MONTH_FIRST`, `DAY_FIRST`, or `OPEN` where it does not tell."""
        name = str(getattr(zone, "key", ""))
        if name.startswith(self.left_open):
            return OPEN
        if name.startswith(self.month_first):
            return MONTH_FIRST
        return DAY_FIRST if name.startswith(self.day_first) else OPEN


def parse_day_order(document: Mapping[str, Iterable[str]]) -> DayOrder:
    """Read the lists `month_first`, `day_first` and `left_open`."""
    return DayOrder(*(tuple(document[name]) for name in ("month_first", "day_first", "left_open")))


def patterns(order: str) -> list[tuple[str, Build]]:
    """Return the rules, specific before general, for folded text.

    Args:
        order: How the user's zone writes dates; see `DayOrder.of`.
    """
    read_day: Build = partial(_read_day, order=order)
    weekday = r"(?:\s*[(]?(?:週|星期|禮拜)?[一二三四五六日][)])?"
    start = r"(?:(?<![0-9a-z/.-])|(?<=/[0-9]-)|(?<=/[0-9]{2}-))"
    end = r"(?![0-9a-z/%])(?!\.[0-9])(?!-(?![0-9]{1,2}/[0-9]))"
    day = r"(?P<first>[0-3]?[0-9])/(?P<second>[0-3]?[0-9])"
    ordered = rf"(?<![0-9a-z.-]){_YEAR}(?P<mark>[-/.])(?P<first>[0-9]{{1,2}})(?P=mark)(?P<second>[0-9]{{1,2}})"
    return [
        (rf"{ordered}(?![0-9a-z-]){weekday}", _read_ordered),
        (rf"{start}{day}/{_YEAR}{end}", read_day),
        (rf"{start}{_YEAR}/(?P<month>1[0-2]|0?[1-9]){end}", _read_month),
        (rf"{start}{day}{end}{weekday}", read_day),
    ]


def _read_ordered(match: re.Match[str], _: datetime) -> Span | None:
    found = s.real_date(int(match["year"]), int(match["first"]), int(match["second"]))
    return s.days(found) if found else None


def _read_month(match: re.Match[str], _: datetime) -> Span | None:
    return s.month(int(match["year"]), int(match["month"])) if _in_place(match, fraction=False) else None


def _read_day(match: re.Match[str], now: datetime, order: str) -> Span | None:
    """Read month/day, day/month where the first number is no month, or either where nothing tells which it is."""
    first, second = int(match["first"]), int(match["second"])
    year = match.groupdict().get("year")
    if not year and not _in_place(match, fraction=first < second and second in _PARTS):
        return None

    def day(month: int, day: int) -> date | None:
        return s.real_date(int(year), month, day) if year else s.latest_day(now, month, day)

    one, other = day(first, second), day(second, first)
    if one and other and one != other:
        known = MONTH_FIRST if _HAN.search(match.string) else order
        if known == OPEN:
            return s.either_day(one, other)
        found: date | None = one if known == MONTH_FIRST else other
    else:
        found = one or other
    if found is None:
        return None
    return s.days(found) if year else s.yearly(s.days(found))


def _in_place(match: re.Match[str], *, fraction: bool) -> bool:
    """Say whether two numbers and a slash stand where a date does.

    That is alone, after a word of time, or in Chinese text; but not right after an English word ("iOS 17/18").
    """
    text = match.string
    head, tail = text[: match.start()], text[match.end() :]
    if not any(letter.isalnum() for letter in head + tail):
        return not fraction
    if _SURE_CUE.search(head) or (_CUE.search(head) and not fraction):
        return True
    return _HAN.search(text) is not None and not _IN_WORD.search(head)
