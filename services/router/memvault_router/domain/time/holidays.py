"""Festivals: names in both languages and the days they fall on, from `data/time/holidays.toml`."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Any

from memvault.text import fold
from memvault_router.domain.time import span as s
from memvault_router.domain.time.span import Span

FirstDay = Callable[[int], date | None]


@dataclass(frozen=True, eq=False)
class Holiday:
    """A festival of `length` days.

    `first_day` gives the first of them in a year, None when it is not known. `numbered_shift` is added to a year that
    is written as a number: 「2024跨年」 is the night that leads into 2024.
    """

    first_day: FirstDay
    length: int
    numbered_shift: int

    def in_year(self, year: int) -> Span | None:
        """Return its days, as a span that does not filter: people mean the days around it too."""
        first = self.first_day(year)
        return None if first is None else s.days(first, self.length).softened()

    def counted(self, now: datetime, shift: int) -> Span | None:
        """Return the `shift`th that has ended (negative) or is to begin (positive), counted from now.

        None when the days of a year between are not known.
        """
        left = abs(shift)
        for year in itertools.count(now.year, 1 if shift > 0 else -1):
            span = self.in_year(year)
            if span is None:
                break
            if span.after_now(now) if shift > 0 else span.before_now(now):
                left -= 1
            if left == 0:
                return span
        return None

    def latest(self, now: datetime) -> Span | None:
        """Return the latest that has begun; None when the days of this year are not known."""
        found, coming = self.in_year(now.year), self.in_year(now.year + 1)
        if found is not None and found.after_now(now):
            found, coming = self.in_year(now.year - 1), found
        return None if found is None or coming is None else replace(found, coming=coming.start)


@dataclass(frozen=True, eq=False)
class Holidays:
    """All festivals by name; Chinese names are folded, English ones lower case with straight apostrophes."""

    zh: Mapping[str, Holiday]
    en: Mapping[str, Holiday]

    def pattern_zh(self) -> str:
        """Return a pattern of the Chinese names."""
        return "|".join(sorted(self.zh, key=len, reverse=True))

    def pattern_en(self) -> str:
        """Return a pattern of the English names."""
        return "|".join(sorted(self.en, key=len, reverse=True)).replace("'", "['’]?")

    def named(self, written: str) -> Holiday:
        """Return the festival of a name that one of the patterns matched."""
        if written in self.zh:
            return self.zh[written]
        plain = _plain(written)
        return next(holiday for name, holiday in self.en.items() if _plain(name) == plain)


def _plain(name: str) -> str:
    return name.lower().replace("'", "").replace("’", "")


def parse_holidays(document: Mapping[str, Any]) -> Holidays:
    """Read the tables `dates`, lists of days that no rule gives, and `holiday`; see the file."""
    zh: dict[str, Holiday] = {}
    en: dict[str, Holiday] = {}
    for entry in document["holiday"]:
        holiday = Holiday(_first_day(entry, document["dates"]), entry["days"], entry.get("numbered_shift", 0))
        zh |= {fold(name): holiday for name in entry.get("zh", [])}
        en |= dict.fromkeys(entry.get("en", []), holiday)
    return Holidays(zh, en)


def _first_day(entry: Mapping[str, Any], dates: Mapping[str, Iterable[date]]) -> FirstDay:
    if "dates" in entry:
        known = {day.year: day + timedelta(days=entry.get("shift", 0)) for day in dates[entry["dates"]]}
        return known.get
    month: int = entry["month"]
    if "day" in entry:
        day: int = entry["day"]
        return lambda year: s.real_date(year, month, day)
    weekday: int = entry["weekday"]
    nth: int = entry["nth"]
    return lambda year: s.nth_weekday(year, month, weekday, nth)
