"""Spans of local calendar time and their conversion to UTC.

Everything is half open: the start is inside, the end is not. Local times are naive until `TimeExpression`, because
"yesterday" is a matter of the calendar and only its edges are instants.
"""

from __future__ import annotations

import calendar
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta, tzinfo

JANUARY, DECEMBER, MONTHS, DAYS_A_WEEK = 1, 12, 12, 7


@dataclass(frozen=True)
class Span:
    """Local start and end, naive; None is open.

    `explicit` says that the words draw a clear line and may filter; vague or merely descriptive ones may not.
    """

    start: datetime | None
    end: datetime | None
    explicit: bool = True

    def softened(self) -> Span:
        """Return the span as one that only moves scores."""
        return replace(self, explicit=False)

    def after_now(self, now: datetime) -> bool:
        """Say whether nothing of the span has happened yet at the local instant `now`."""
        return self.start is not None and self.start > now


@dataclass(frozen=True)
class TimeExpression:
    """A time expression as written, with its meaning in UTC; `start` or `end` None is open.

    `explicit` says that it filters. `definite` says that the words draw a clear line, even where they only tell which
    thing is meant ("last week's OCR thing") and so do not filter.
    """

    text: str
    start: datetime | None
    end: datetime | None
    explicit: bool
    definite: bool


@dataclass(frozen=True)
class VagueNumbers:
    """How far vague words reach: "recently", "these days", "the other day", "a while ago", "just now"."""

    recent_days: int
    few_days: int
    other_day_days: int
    while_days: int
    just_now_hours: int


def to_utc(local: datetime | None, zone: tzinfo) -> datetime | None:
    """Return the instant of a naive local time; one that a clock change skipped is the instant of the change."""
    return None if local is None else local.replace(tzinfo=zone, fold=0).astimezone(UTC)


def midnight(day: date) -> datetime:
    """Return the local beginning of a day."""
    return datetime.combine(day, time())


def days(first: date, count: int = 1) -> Span:
    """Return the span of `count` whole days from `first`."""
    return Span(midnight(first), midnight(first + timedelta(days=count)))


def week(any_day: date, shift: int = 0) -> Span:
    """Return the week, Monday to Sunday, `shift` weeks from the one that holds `any_day`."""
    return days(any_day - timedelta(days=any_day.weekday()) + timedelta(weeks=shift), DAYS_A_WEEK)


def weekend(any_day: date, shift: int = 0) -> Span:
    """Return Saturday and Sunday of the week `shift` weeks from the one that holds `any_day`."""
    monday = any_day - timedelta(days=any_day.weekday()) + timedelta(weeks=shift)
    return days(monday + timedelta(days=5), 2)


def month_of(year: int, month: int, shift: int = 0) -> tuple[int, int]:
    """Return year and month `shift` months away."""
    index = year * MONTHS + month - 1 + shift
    return index // MONTHS, index % MONTHS + 1


def month(year: int, number: int, count: int = 1) -> Span:
    """Return the span of `count` whole months."""
    end_year, end_number = month_of(year, number, count)
    return Span(midnight(date(year, number, 1)), midnight(date(end_year, end_number, 1)))


def month_part(year: int, number: int, part: str) -> Span:
    """Return the `early`, `mid` or `late` part of a month; the parts overlap, because the words are loose."""
    first = {"early": 1, "mid": 8, "late": 18}[part]
    last = {"early": 13, "mid": 23, "late": calendar.monthrange(year, number)[1]}[part]
    return days(date(year, number, first), last - first + 1)


def year(number: int) -> Span:
    """Return a calendar year."""
    return month(number, JANUARY, MONTHS)


def quarter(number: int, which: int) -> Span:
    """Return quarter `which`, 1 to 4, of a year."""
    return month(number, 3 * which - 2, 3)


def season(number: int, name: str) -> Span:
    """Return a northern season of a year, as one that does not filter; winter begins in December of that year."""
    return month(number, {"spring": 3, "summer": 6, "autumn": 9, "winter": 12}[name], 3).softened()


def last_days(now: datetime, count: int) -> Span:
    """Return the last `count` days up to now, the days counted whole."""
    return Span(midnight(now.date() - timedelta(days=count)), now)


def day_part(day: date, name: str) -> Span:
    """Return a part of a day; `night` reaches into the next morning."""
    begin, hours = {"morning": (5, 7), "noon": (11, 3), "afternoon": (12, 6), "evening": (17, 7), "night": (18, 12)}[
        name
    ]
    start = midnight(day) + timedelta(hours=begin)
    return Span(start, start + timedelta(hours=hours))


def latest_month(now: datetime, number: int) -> int:
    """Return the year of the latest month `number` that has begun."""
    return now.year if number <= now.month else now.year - 1


def latest_day(now: datetime, number: int, day: int) -> date | None:
    """Return the latest date with this month and day that is not after today; None when there is no such date."""
    for back in range(9):
        try:
            found = date(now.year - back, number, day)
        except ValueError:
            continue
        if found <= now.date():
            return found
    return None


def real_date(number: int, month_number: int, day: int) -> date | None:
    """Return the date, or None when the calendar has no such day."""
    try:
        return date(number, month_number, day)
    except ValueError:
        return None


def weekday_in(any_day: date, shift: int, weekday: int) -> Span:
    """Return weekday 0 (Monday) to 6 of the week `shift` weeks from the one that holds `any_day`."""
    return days(any_day - timedelta(days=any_day.weekday()) + timedelta(weeks=shift, days=weekday))


def latest_weekday(today: date, weekday: int, *, before_today: bool) -> Span:
    """Return the latest such weekday up to today, or up to yesterday with `before_today`."""
    back = (today.weekday() - weekday) % DAYS_A_WEEK
    if before_today and back == 0:
        back = DAYS_A_WEEK
    return days(today - timedelta(days=back))


def ago(now: datetime, count: int, unit: str) -> Span:
    """Return about when "`count` `unit` ago" was; only days are meant exactly."""
    if unit == "hour":
        middle = now - timedelta(hours=count)
        return Span(middle - timedelta(hours=1), middle + timedelta(hours=1), explicit=False)
    if unit == "day":
        return days(now.date() - timedelta(days=count))
    if unit == "week":
        middle_day = now.date() - timedelta(weeks=count)
        return days(middle_day - timedelta(days=3), DAYS_A_WEEK).softened()
    if unit == "month":
        return month(*month_of(now.year, now.month, -count)).softened()
    return year(now.year - count).softened()


def within(now: datetime, count: int, unit: str) -> Span:
    """Return the last `count` units up to now."""
    if unit == "hour":
        return Span(now - timedelta(hours=count), now)
    if unit in {"month", "year"}:
        back_year, back_month = month_of(now.year, now.month, -count * (MONTHS if unit == "year" else 1))
        last = calendar.monthrange(back_year, back_month)[1]
        return Span(midnight(date(back_year, back_month, min(now.day, last))), now)
    return last_days(now, count * (DAYS_A_WEEK if unit == "week" else 1))


def hull(spans: list[Span]) -> Span:
    """Return the least span around all of them; it filters only when every one does."""
    starts, ends = [span.start for span in spans], [span.end for span in spans]
    return Span(
        None if None in starts else min(start for start in starts if start is not None),
        None if None in ends else max(end for end in ends if end is not None),
        explicit=all(span.explicit for span in spans),
    )
