"""What matches of the English rules mean at a local, naive now."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from memvault_router.domain.time import amounts
from memvault_router.domain.time import en_words as w
from memvault_router.domain.time import span as s
from memvault_router.domain.time.holidays import Holidays
from memvault_router.domain.time.span import Span

_SUNDAY = 6


def read_date(match: re.Match[str], now: datetime) -> Span | None:
    """Read the match of a rule of this name."""
    spelt_out = not match["day"].isdigit()
    if spelt_out and match["month"].islower() and match.start("month") < match.start("day"):
        return None  # "may second the motion"
    number, day, year = w.month_number(match["month"]), w.day_number(match["day"]), w.year(match, now)
    found = s.latest_day(now, number, day) if year is None else s.real_date(year, number, day)
    length = int(w.group(match, "last") or day) - day
    if found is None or length < 0:
        return None
    return s.days(found, length + 1) if year else s.yearly(s.days(found, length + 1))


def read_month(match: re.Match[str], now: datetime) -> Span | None:
    """Read the match of a rule of this name."""
    written, cue, third, year = match["month"], match.groupdict().get("cue"), w.third(match), w.year(match, now)
    sure = year and (w.group(match, "year") or written not in w.VERBS)  # "they may this year"
    if cue is None and not sure and not third and not written[0].isupper():
        return None
    number, named = w.month_number(written), (cue or "").lower().strip()
    chosen = year or s.latest_month(now, number)
    if named == "last" and number == now.month and not year:
        chosen -= 1
    if named == "next":
        chosen = now.year if number > now.month else now.year + 1
    found = s.month_part(chosen, number, third) if third else s.month(chosen, number)
    return found if year or named in {"last", "next", "this"} else s.yearly(found)


def read_months(match: re.Match[str], now: datetime) -> Span | None:
    """Read the match of a rule of this name."""
    first, last = w.month_number(match["month"]), w.month_number(match["last"])
    chosen = w.year(match, now) or s.latest_month(now, first)
    return s.month(chosen, first, last - first + 1) if last >= first else None


def _shifted(now: datetime, unit: str, shift: int) -> Span:
    today = now.date()
    if unit == "night":
        return s.day_part(today + timedelta(days=shift), "night")
    if unit in {"week", "weekend"}:
        return s.week(today, shift) if unit == "week" else s.weekend(today, shift)
    if unit == "year":
        return s.year(now.year + shift)
    return s.near_month(now, shift) if unit == "month" else s.near_quarter(now, shift)


def _weekday_back(now: datetime, name: str, count: int) -> Span:
    place = w.WEEKDAYS.index(name.lower())
    return s.latest_weekday(now.date() - timedelta(weeks=count - 1), place, before_today=True)


def read_shifted(match: re.Match[str], now: datetime) -> Span:
    """Read the match of a rule of this name."""
    return _shifted(now, w.unit(match), w.shift(match))


def read_before_last(match: re.Match[str], now: datetime) -> Span:
    """Read the match of a rule of this name."""
    if match["weekday"]:
        return _weekday_back(now, match["weekday"], 2)
    if match["season"]:
        return s.near_season(now, w.SEASON[match["season"].lower()], -2)
    return _shifted(now, w.unit(match), -2)


def read_counted_back(match: re.Match[str], now: datetime) -> Span | None:
    """Read the match of a rule of this name."""
    count = w.amount(match).whole
    if not count:
        return None
    if match["weekday"]:
        return _weekday_back(now, match["weekday"], count)
    return s.near_season(now, w.SEASON[match["season"].lower()], -count)


def read_nth(match: re.Match[str], now: datetime) -> Span | None:
    """Read the match of a rule of this name."""
    if match["month"]:
        number = w.month_number(match["month"])
        year = w.year(match, now) or s.latest_month(now, number)
    else:
        year, number = s.month_of(now.year, now.month, w.shift(match))
    part = match["part"].lower() if match["part"] else w.WEEKDAYS.index(match["weekday"].lower())
    return s.nth_of_month(year, number, part, w.NTH[match["nth"].lower()])


def read_weekday_of_week(match: re.Match[str], now: datetime) -> Span:
    """Read the match of a rule of this name."""
    return s.weekday_in(now.date(), w.shift(match), w.WEEKDAYS.index(match["weekday"].lower()))


def read_weekdays_of_week(match: re.Match[str], now: datetime) -> Span | None:
    """Read the match of a rule of this name. A week that begins with its Sunday lies a day before ours."""
    first, last = (w.WEEKDAYS.index(match[name].lower()) for name in ("weekday", "until"))
    begin = first - s.DAYS_A_WEEK if first > last and first == _SUNDAY else first
    if begin > last:
        return None
    monday = s.monday(now.date(), w.shift(match))
    return s.days(monday + timedelta(days=begin), last - begin + 1)


def read_shifted_third(match: re.Match[str], now: datetime) -> Span:
    """Read the match of a rule of this name."""
    shift, part = w.shift(match), w.third(match)
    unit = w.unit(match)
    if unit == "week":
        return s.week_part(now.date(), shift, part)
    if unit == "month":
        return s.month_part(*s.month_of(now.year, now.month, shift), part)
    return s.year_part(now.year + shift, part)


def read_same_day(match: re.Match[str], now: datetime) -> Span | None:
    """Read the match of a rule of this name."""
    return amounts.to_the_day(now, amounts.exactly(-w.shift(match)), w.unit(match))


def read_this_time(match: re.Match[str], now: datetime) -> Span:
    """Read the match of a rule of this name."""
    return amounts.about_this_time(now, -w.shift(match) * (s.MONTHS if w.unit(match) == "year" else 1))


def read_weekday(match: re.Match[str], now: datetime) -> Span:
    """Read the match of a rule of this name."""
    place = w.WEEKDAYS.index(match["weekday"].lower())
    which = w.group(match, "which").lower().strip()
    if which in {"this", "next"}:
        return s.weekday_in(now.date(), w.SHIFT[which], place)
    found = s.latest_weekday(now.date(), place, before_today=which == "last")
    return found if which else s.weekly(found.softened())


def read_day(match: re.Match[str], now: datetime) -> Span:
    """Read the match of a rule of this name."""
    written = match.group(0).lower()
    day = now.date()
    if "before yesterday" in written:
        return s.days(day - timedelta(days=2))
    if "after tomorrow" in written:
        return s.days(day + timedelta(days=2))
    if written.startswith("yesterday"):
        day -= timedelta(days=1)
    elif written.startswith("tomorrow"):
        day += timedelta(days=1)
    part = next((name for name in ("morning", "afternoon", "evening", "night") if name in written), "")
    return s.day_part(day, part) if part else s.days(day)


def read_last_night(_: re.Match[str], now: datetime) -> Span:
    """Read the match of a rule of this name."""
    return s.day_part(now.date() - timedelta(days=1), "night")


def read_tonight(_: re.Match[str], now: datetime) -> Span:
    """Read the match of a rule of this name."""
    return s.day_part(now.date(), "evening")


def read_ago(match: re.Match[str], now: datetime) -> Span | None:
    """Read the match of a rule of this name."""
    amount, unit = w.amount(match), w.unit(match)
    if unit not in {"night", "weekend"}:
        return amounts.ago(now, amount, unit)
    if amount.whole is None:
        return None
    found = _shifted(now, unit, -amount.whole)
    return found.softened() if amount.loose else found


def read_to_the_day(match: re.Match[str], now: datetime) -> Span | None:
    """Read the match of a rule of this name."""
    return amounts.to_the_day(now, w.amount(match), w.unit(match))


def read_within(match: re.Match[str], now: datetime) -> Span | None:
    """Read the match of a rule of this name."""
    amount = w.amount(match) if w.group(match, "count") else amounts.exactly(1)
    unit = w.unit(match)
    return amounts.within(now, amount, {"night": "day", "weekend": "week"}.get(unit, unit))


def read_recent(match: re.Match[str], now: datetime) -> Span | None:
    """Read the match of a rule of this name."""
    return amounts.within(now, amounts.A_FEW, w.unit(match))


def read_year(match: re.Match[str], _: datetime) -> Span:
    """Read the match of a rule of this name."""
    number, third = int(match["year"]), w.third(match)
    return s.year_part(number, third) if third else s.year(number)


def _chosen_year(match: re.Match[str], now: datetime) -> int:
    return int(match["year"]) if w.group(match, "year") else now.year + w.shift(match)


def read_quarter(match: re.Match[str], now: datetime) -> Span:
    """Read the match of a rule of this name."""
    nth = w.group(match, "nth").lower()
    which = w.NTH[nth] % 5 if nth else int(match["quarter"])
    groups = match.groupdict()
    if groups.get("year") or "which" in groups:
        return s.quarter(_chosen_year(match, now), which)
    return s.yearly(s.quarter(now.year - (0 if 3 * which - 2 <= now.month else 1), which))


def read_half(match: re.Match[str], now: datetime) -> Span:
    """Read the match of a rule of this name."""
    return s.month(_chosen_year(match, now), 1 if match["half"].lower() == "first" else 7, 6)


def read_season(match: re.Match[str], now: datetime) -> Span | None:
    """Read the match of a rule of this name."""
    season = w.SEASON[match["season"].lower()]
    year = w.year(match, now)
    if year is not None:
        return s.season(year, season)
    return s.near_season(now, season, w.shift(match))


def read_past_weekend(_: re.Match[str], now: datetime) -> Span:
    """Read the match of a rule of this name."""
    return s.past_weekend(now)


def read_the_weekend(_: re.Match[str], now: datetime) -> Span:
    """Read the match of a rule of this name."""
    return s.past_weekend(now).softened()


class HolidayNames:
    """Builders for festivals; groups: `holiday`, `year`, `which`."""

    def __init__(self, holidays: Holidays) -> None:
        self._holidays = holidays
        self.pattern = holidays.pattern_en()

    def read_before_last(self, match: re.Match[str], now: datetime) -> Span | None:
        """Read the match of a rule of this name."""
        return self._holidays.named(match["holiday"]).counted(now, -2)

    def read_counted_back(self, match: re.Match[str], now: datetime) -> Span | None:
        """Read the match of a rule of this name."""
        count = w.amount(match).whole
        return self._holidays.named(match["holiday"]).counted(now, -count) if count else None

    def read_of_year(self, match: re.Match[str], now: datetime) -> Span | None:
        """Read the match of a rule of this name."""
        year = w.year(match, now)
        return None if year is None else self._holidays.named(match["holiday"]).in_year(year)

    def read(self, match: re.Match[str], now: datetime) -> Span | None:
        """Read the match of a rule of this name."""
        holiday, which = self._holidays.named(match["holiday"]), w.group(match, "which").lower()
        if which == "this":
            return holiday.in_year(now.year)
        if which:
            return holiday.counted(now, w.SHIFT[which])
        return holiday.latest(now)
