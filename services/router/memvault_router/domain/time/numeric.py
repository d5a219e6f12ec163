"""Dates in digits: 2024-02-29, 11/3/2024, 11/3, 2024/11. They are the same in both languages."""

from __future__ import annotations

import re
from datetime import datetime

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


def patterns() -> list[tuple[str, Build]]:
    """Return the rules, specific before general, for folded text."""
    weekday = r"(?:\s*[(]?(?:週|星期|禮拜)?[一二三四五六日][)])?"
    start = r"(?:(?<![0-9a-z/.-])|(?<=/[0-9]-)|(?<=/[0-9]{2}-))"
    end = r"(?![0-9a-z/%])(?!\.[0-9])(?!-(?![0-9]{1,2}/[0-9]))"
    day = r"(?P<first>[0-3]?[0-9])/(?P<second>[0-3]?[0-9])"
    ordered = rf"(?<![0-9a-z.-]){_YEAR}(?P<mark>[-/.])(?P<first>[0-9]{{1,2}})(?P=mark)(?P<second>[0-9]{{1,2}})"
    return [
        (rf"{ordered}(?![0-9a-z-]){weekday}", _read_ordered),
        (rf"{start}{day}/{_YEAR}{end}", _read_day),
        (rf"{start}{_YEAR}/(?P<month>1[0-2]|0?[1-9]){end}", _read_month),
        (rf"{start}{day}{end}{weekday}", _read_day),
    ]


def _read_ordered(match: re.Match[str], _: datetime) -> Span | None:
    found = s.real_date(int(match["year"]), int(match["first"]), int(match["second"]))
    return s.days(found) if found else None


def _read_month(match: re.Match[str], _: datetime) -> Span | None:
    return s.month(int(match["year"]), int(match["month"])) if _in_place(match, fraction=False) else None


def _read_day(match: re.Match[str], now: datetime) -> Span | None:
    """Read month/day, or day/month where the first number is no month."""
    first, second = int(match["first"]), int(match["second"])
    month, day = (first, second) if first <= s.MONTHS else (second, first)
    year = match.groupdict().get("year")
    if not year and not _in_place(match, fraction=first < second and second in _PARTS):
        return None
    found = s.real_date(int(year), month, day) if year else s.latest_day(now, month, day)
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
