"""Counted stretches of time: "three weeks ago", "in the last half hour", 「一個半月前」, 「近幾年」."""

from __future__ import annotations

import calendar
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta

from memvault_router.domain.time import span as s
from memvault_router.domain.time.span import Span

_LENGTH = {"second": timedelta(seconds=1), "minute": timedelta(minutes=1), "hour": timedelta(hours=1)}
# How far around its middle "about then" reaches.
_ABOUT = {"second": timedelta(minutes=15), "minute": timedelta(minutes=15), "hour": timedelta(hours=1)}
_ABOUT_HALF_DAY, _ABOUT_HALF_MONTH_DAYS, _ABOUT_THIS_TIME_DAYS = timedelta(hours=6), 10, 15
_HALF_MONTH_DAYS = 15
_MONTHS_IN = {"month": 1, "quarter": 3, "year": s.MONTHS}


@dataclass(frozen=True)
class Amount:
    """How many, from `low` to `high`, fractions included. `loose` says that the number is not meant exactly."""

    low: float
    high: float
    loose: bool

    @property
    def whole(self) -> int | None:
        """The number, if it is one and has no fraction."""
        return int(self.low) if self.low == self.high and self.low.is_integer() else None


def exactly(count: float) -> Amount:
    """Return an amount that is meant as said."""
    return Amount(float(count), float(count), loose=False)


A_FEW = Amount(2.0, 4.0, loose=True)
SEVERAL = Amount(3.0, 6.0, loose=True)


def ago(now: datetime, amount: Amount, unit: str) -> Span:
    """Return about when "`amount` `unit` ago" was, nothing of it after now; only days are meant exactly."""
    near, far = _ago(now, amount.low, unit), _ago(now, amount.high, unit)
    return replace(near, start=far.start, explicit=near.explicit and not amount.loose)


def _ago(now: datetime, count: float, unit: str) -> Span:
    if unit == "hour" and count < 1:
        return _ago(now, count * 60, "minute")
    if unit in _LENGTH:
        return _about(now, count * _LENGTH[unit], _ABOUT[unit])
    if unit in {"day", "week"}:
        back = count * (s.DAYS_A_WEEK if unit == "week" else 1)
        if unit == "day" and not back.is_integer():
            return _about(now, timedelta(days=back), _ABOUT_HALF_DAY)
        day = now.date() - timedelta(days=int(back))
        return s.days(day) if unit == "day" else s.days(day - timedelta(days=3), s.DAYS_A_WEEK).softened()
    return _months_ago(now, count, unit)


def _months_ago(now: datetime, count: float, unit: str) -> Span:
    if count.is_integer():
        whole = int(count)
        far = {"month": s.near_month, "quarter": s.near_quarter}.get(unit)
        return (far(now, -whole) if far else s.year(now.year - whole)).softened()
    months = count * _MONTHS_IN[unit]
    if unit == "year":  # half a year ago names one month, what lies further back is less exact
        spread = 0 if count < 1 else 1
        return s.month(*s.month_of(now.year, now.month, -int(months) - spread), 1 + 2 * spread).softened()
    day = same_day(now, int(months)) - timedelta(days=_HALF_MONTH_DAYS if not months.is_integer() else 0)
    return s.days(day - timedelta(days=_ABOUT_HALF_MONTH_DAYS), 1 + 2 * _ABOUT_HALF_MONTH_DAYS).softened()


def _about(now: datetime, back: timedelta, reach: timedelta) -> Span:
    middle = now - back
    return Span(middle - reach, min(middle + reach, now), explicit=False, elapsed=True)


def within(now: datetime, amount: Amount, unit: str) -> Span | None:
    """Return the last `amount` units up to now; None when that is no time at all."""
    count = amount.high
    if count <= 0:
        return None
    if unit in _LENGTH:
        found = Span(now - count * _LENGTH[unit], now, elapsed=True)
    elif unit in _MONTHS_IN:
        months = count * _MONTHS_IN[unit]
        day = same_day(now, int(months)) - timedelta(days=0 if months.is_integer() else _HALF_MONTH_DAYS)
        found = Span(s.midnight(day), now)
    else:
        days = count * (s.DAYS_A_WEEK if unit == "week" else 1)
        found = s.last_days(now, int(days)) if days >= 1 else Span(now - timedelta(days=days), now, elapsed=True)
    return found.softened() if amount.loose else found


def same_day(now: datetime, months: int) -> date:
    """Return today's day of the month `months` months ago, or the last day of a month that is too short for it."""
    number, which = s.month_of(now.year, now.month, -months)
    return date(number, which, min(now.day, calendar.monthrange(number, which)[1]))


def about_this_time(now: datetime, months: int) -> Span:
    """Return the weeks around today's day of the month `months` months ago: "this time last year"."""
    reach = _ABOUT_THIS_TIME_DAYS
    return s.days(same_day(now, months) - timedelta(days=reach), 1 + 2 * reach).softened()


def to_the_day(now: datetime, amount: Amount, unit: str) -> Span | None:
    """Return the day of "a year ago today"; None when no day is counted so."""
    count = amount.whole
    if count is None or unit in _LENGTH:
        return None
    if unit in _MONTHS_IN:
        return s.days(same_day(now, count * _MONTHS_IN[unit]))
    return s.days(now.date() - timedelta(days=count * (s.DAYS_A_WEEK if unit == "week" else 1)))
