"""Spans of local calendar time and their conversion to UTC.

Everything is half open: the start is inside, the end is not. Local times are naive until `TimeExpression`, because
"yesterday" is a matter of the calendar and only its edges are instants.
"""

from __future__ import annotations

import calendar
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta, tzinfo

JANUARY, DECEMBER, MONTHS, DAYS_A_WEEK, SATURDAY = 1, 12, 12, 7, 5
_SEASON_BEGINS = {"spring": 3, "summer": 6, "autumn": 9, "winter": DECEMBER}


@dataclass(frozen=True)
class Span:
    """Local start and end, naive; None is open.

    `explicit` says that the words draw a clear line and may filter; vague or merely descriptive ones may not.
    `elapsed` says that the edges are so far from now on a clock that runs ("two hours ago"), not on the wall's.
    `coming` is when it begins the next time, of what comes again and was said without a year: "March", "Friday".
    `either` says that its first or its last day is meant, and nothing between.
    """

    start: datetime | None
    end: datetime | None
    explicit: bool = True
    elapsed: bool = False
    coming: datetime | None = None
    either: bool = False

    def softened(self) -> Span:
        """Return the span as one that only moves scores."""
        return replace(self, explicit=False)

    def after_now(self, now: datetime) -> bool:
        """Say whether nothing of the span has happened yet at the local instant `now`.

        "Before tomorrow" sets a term for what is to come, too.
        """
        if self.start is None:
            return self.end is not None and self.end > now
        return self.start > now

    def before_now(self, now: datetime) -> bool:
        """Say whether all of the span is over at the local instant `now`."""
        return self.end is not None and self.end <= now


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


def to_utc(local: datetime, zone: tzinfo) -> datetime:
    """Return the instant of a naive local time; a midnight that a clock change skipped is the instant of the change."""
    return local.replace(tzinfo=zone).astimezone(UTC)


def instants(span: Span, now: datetime, zone: tzinfo) -> Span:
    """Return the span with its edges in UTC; `now` is local and naive."""

    def instant(edge: datetime | None) -> datetime | None:
        if edge is None:
            return None
        return to_utc(now, zone) + (edge - now) if span.elapsed else to_utc(edge, zone)

    return replace(span, start=instant(span.start), end=instant(span.end))


def midnight(day: date) -> datetime:
    """Return the local beginning of a day."""
    return datetime.combine(day, time())


def days(first: date, count: int = 1) -> Span:
    """Return the span of `count` whole days from `first`."""
    return Span(midnight(first), midnight(first + timedelta(days=count)))


def either_day(one: date, other: date) -> Span:
    """Return the span around two days of which one is meant, as one that does not filter."""
    first, last = sorted((one, other))
    return replace(days(first, (last - first).days + 1), explicit=False, either=True)


def monday(any_day: date, shift: int = 0) -> date:
    """Return the Monday of the week `shift` weeks from the one that holds `any_day`."""
    return any_day - timedelta(days=any_day.weekday()) + timedelta(weeks=shift)


def week(any_day: date, shift: int = 0) -> Span:
    """Return the week, Monday to Sunday, `shift` weeks from the one that holds `any_day`."""
    return days(monday(any_day, shift), DAYS_A_WEEK)


def yearly(span: Span) -> Span:
    """Return the span as one that comes every year, because no year was said."""
    start = span.start
    if start is None:
        return span
    number, which = month_of(start.year, start.month, MONTHS)
    day = min(start.day, calendar.monthrange(number, which)[1])
    return replace(span, coming=midnight(date(number, which, day)))


def weekly(span: Span) -> Span:
    """Return the span as one that comes every week."""
    return span if span.start is None else replace(span, coming=span.start + timedelta(days=DAYS_A_WEEK))


def weekend(any_day: date, shift: int = 0) -> Span:
    """Return Saturday and Sunday of the week `shift` weeks from the one that holds `any_day`."""
    return days(monday(any_day, shift) + timedelta(days=SATURDAY), 2)


def past_weekend(now: datetime) -> Span:
    """Return the weekend that is on or was last; it filters only from Monday on, when it is clear which is meant."""
    if now.weekday() >= SATURDAY:
        return weekend(now.date()).softened()
    return weekend(now.date(), -1)


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


def near_quarter(now: datetime, shift: int) -> Span:
    """Return the quarter `shift` quarters from this one."""
    index = now.year * 4 + (now.month - 1) // 3 + shift
    return quarter(index // 4, index % 4 + 1)


def near_month(now: datetime, shift: int) -> Span:
    """Return the month `shift` months from this one."""
    return month(*month_of(now.year, now.month, shift))


def week_part(any_day: date, shift: int, part: str) -> Span:
    """Return the `early`, `mid` or `late` days of a week, as a span that does not filter."""
    first, count = {"early": (0, 3), "mid": (1, 3), "late": (3, 4)}[part]
    return days(monday(any_day, shift) + timedelta(days=first), count).softened()


def year_part(number: int, part: str) -> Span:
    """Return two months at the beginning, the middle or the end of a year, as a span that does not filter."""
    return month(number, {"early": 1, "mid": 6, "late": 11}[part], 2).softened()


def month_week(number: int, which: int, nth: int) -> Span | None:
    """Return week `nth` of a month, -1 for the last, in whole calendar weeks.

    Some count from the first of the month in sevens, some by the rows of a calendar, some from the first Monday. The
    span holds the week of all three, so that a filter cuts off nothing that was meant.
    """
    length = calendar.monthrange(number, which)[1]
    first = length - 6 if nth < 0 else DAYS_A_WEEK * nth - 6
    if first > length:
        return None
    begin = date(number, which, first)
    end = date(number, which, min(first + 6, length))
    begin = max(begin - timedelta(days=begin.weekday()), date(number, which, 1))
    end = min(end + timedelta(days=6 - end.weekday()), date(number, which, length))
    return days(begin, (end - begin).days + 1)


def nth_weekday(number: int, which: int, weekday: int, nth: int) -> date | None:
    """Return the nth weekday 0 (Monday) to 6 of a month, -1 for the last; None when the month has no such day."""
    length = calendar.monthrange(number, which)[1]
    first = 1 + (weekday - date(number, which, 1).weekday()) % DAYS_A_WEEK
    day = first + DAYS_A_WEEK * ((length - first) // DAYS_A_WEEK if nth < 0 else nth - 1)
    return date(number, which, day) if day <= length else None


def nth_of_month(number: int, which: int, part: str | int, nth: int) -> Span | None:
    """Return the nth `week`, `weekend`, `day` or weekday 0 to 6 of a month, -1 for the last."""
    if part == "week":
        return month_week(number, which, nth)
    if part == "day":
        day = calendar.monthrange(number, which)[1] if nth < 0 else nth
        found = real_date(number, which, day)
    else:
        found = nth_weekday(number, which, SATURDAY if part == "weekend" else int(part), nth)
    return None if found is None else days(found, 2 if part == "weekend" else 1)


def season(number: int, name: str) -> Span:
    """Return a northern season of a year, as one that does not filter; winter begins in December of that year."""
    return month(number, _SEASON_BEGINS[name], 3).softened()


def near_season(now: datetime, name: str, shift: int) -> Span:
    """Return the season of this name counted from now.

    0 is the one that is on or belongs to this year, -1 the latest that has ended, -2 the one before it, 1 the next.
    """
    begins = _SEASON_BEGINS[name]
    number = now.year - (1 if begins == DECEMBER and now.month < _SEASON_BEGINS["spring"] else 0)
    begun = midnight(date(number, begins, 1)) <= now
    ended = midnight(date(*month_of(number, begins, 3), 1)) <= now
    return season(number + shift + (1 if shift < 0 and ended else 0) - (1 if shift > 0 and not begun else 0), name)


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
    return days(monday(any_day, shift) + timedelta(days=weekday))


def latest_weekday(today: date, weekday: int, *, before_today: bool) -> Span:
    """Return the latest such weekday up to today, or up to yesterday with `before_today`."""
    back = (today.weekday() - weekday) % DAYS_A_WEEK
    if before_today and back == 0:
        back = DAYS_A_WEEK
    return days(today - timedelta(days=back))


def hull(spans: list[Span]) -> Span:
    """Return the least span around all of them; it filters only when every one does.

    Of two that are open to different sides and overlap it is what they share: "after March and before June".
    """
    starts = [span.start for span in spans if span.start is not None]
    ends = [span.end for span in spans if span.end is not None]
    explicit = all(span.explicit for span in spans)
    if len(starts) == len(ends) == 1 and len(spans) == len(starts) + len(ends) and starts < ends:
        return Span(starts[0], ends[0], explicit)
    return Span(
        min(starts) if len(starts) == len(spans) else None,
        max(ends) if len(ends) == len(spans) else None,
        explicit,
    )
