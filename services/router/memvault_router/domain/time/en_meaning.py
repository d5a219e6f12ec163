"""What matches of the English rules mean at a local, naive now."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from memvault_router.domain.time import span as s
from memvault_router.domain.time.span import Span

_MONTHS = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_NUMBERS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12, "couple": 2, "few": 3, "several": 4,
}  # fmt: skip
_SEASON = {"spring": "spring", "summer": "summer", "autumn": "autumn", "fall": "autumn", "winter": "winter"}


def _number(text: str) -> int:
    words = text.lower().removesuffix(" of").split()
    return int(words[-1]) if words[-1].isdigit() else _NUMBERS[words[-1]]


def _month_number(text: str) -> int:
    return next(place for place, name in enumerate(_MONTHS, 1) if name.startswith(text.lower()[:3]))


def _group(match: re.Match[str], name: str) -> str:
    return match.groupdict().get(name) or ""


def _third(text: str) -> str:
    if text.startswith(("early", "the b", "the s")):
        return "early"
    return "mid" if "mid" in text else "late"


def read_date(match: re.Match[str], now: datetime) -> Span | None:
    """Read the match of a rule of this name."""
    number, day = _month_number(match["month"]), int(match["day"])
    found = s.real_date(int(match["year"]), number, day) if _group(match, "year") else s.latest_day(now, number, day)
    if found is None:
        return None
    length = int(_group(match, "last") or day) - day
    return s.days(found, length + 1) if length >= 0 else None


def read_month(match: re.Match[str], now: datetime) -> Span | None:
    """Read the match of a rule of this name."""
    written = match["month"]
    if (
        not _group(match, "cue")
        and not _group(match, "year")
        and not _group(match, "third")
        and not written[0].isupper()
    ):
        return None
    number, cue = _month_number(written), _group(match, "cue").lower().strip()
    chosen = int(match["year"]) if _group(match, "year") else s.latest_month(now, number)
    if cue == "last" and number == now.month and not _group(match, "year"):
        chosen -= 1
    if cue == "next":
        chosen = now.year if number > now.month else now.year + 1
    third = _group(match, "third").lower()
    return s.month_part(chosen, number, _third(third)) if third else s.month(chosen, number)


def read_months(match: re.Match[str], now: datetime) -> Span | None:
    """Read the match of a rule of this name."""
    first, last = _month_number(match["month"]), _month_number(match["last"])
    chosen = int(match["year"]) if _group(match, "year") else s.latest_month(now, first)
    return s.month(chosen, first, last - first + 1) if last >= first else None


def read_shifted(match: re.Match[str], now: datetime) -> Span:
    """Read the match of a rule of this name."""
    shift = {"last": -1, "previous": -1, "this": 0, "next": 1}[match["which"].lower()]
    unit = match["unit"].lower()
    if unit == "week":
        return s.week(now.date(), shift)
    if unit == "weekend":
        return s.weekend(now.date(), shift)
    if unit == "month":
        return s.month(*s.month_of(now.year, now.month, shift))
    if unit == "year":
        return s.year(now.year + shift)
    index = now.year * 4 + (now.month - 1) // 3 + shift
    return s.quarter(index // 4, index % 4 + 1)


def read_shifted_third(match: re.Match[str], now: datetime) -> Span:
    """Read the match of a rule of this name."""
    shift = {"last": -1, "this": 0}[match["which"].lower()]
    part = _third(match["third"].lower())
    if match["unit"].lower() == "month":
        return s.month_part(*s.month_of(now.year, now.month, shift), part)
    return s.month(now.year + shift, {"early": 1, "mid": 6, "late": 11}[part], 2).softened()


def read_weekday(match: re.Match[str], now: datetime) -> Span:
    """Read the match of a rule of this name."""
    place = WEEKDAYS.index(match["weekday"].lower())
    which = _group(match, "which").lower().strip()
    if which == "this":
        return s.weekday_in(now.date(), 0, place)
    if which == "next":
        return s.weekday_in(now.date(), 1, place)
    found = s.latest_weekday(now.date(), place, before_today=which == "last")
    return found if which in {"last", "past"} else found.softened()


def read_day(match: re.Match[str], now: datetime) -> Span:
    """Read the match of a rule of this name."""
    written = match.group(0).lower()
    day = now.date()
    if "before yesterday" in written:
        return s.days(day - timedelta(days=2))
    if "after tomorrow" in written:
        return s.days(day + timedelta(days=2))
    if written.startswith(("yesterday", "last night")):
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


def read_ago(match: re.Match[str], now: datetime) -> Span:
    """Read the match of a rule of this name."""
    count = _number(match["count"])
    loose = any(word in match["count"] for word in ("few", "several", "couple"))
    found = s.ago(now, count, match["unit"].lower())
    return found.softened() if loose else found


def read_within(match: re.Match[str], now: datetime) -> Span:
    """Read the match of a rule of this name."""
    count = _number(match["count"]) if _group(match, "count") else 1
    return s.within(now, count, match["unit"].lower())


def read_year(match: re.Match[str], _: datetime) -> Span:
    """Read the match of a rule of this name."""
    third = _group(match, "third").lower()
    if third:
        return s.month(int(match["year"]), {"early": 1, "mid": 6, "late": 11}[_third(third)], 2).softened()
    return s.year(int(match["year"]))


def read_quarter(match: re.Match[str], now: datetime) -> Span:
    """Read the match of a rule of this name."""
    which = int(match["quarter"])
    begun = 3 * which - 2 <= now.month
    return s.quarter(int(match["year"]) if _group(match, "year") else now.year - (0 if begun else 1), which)


def read_half(match: re.Match[str], now: datetime) -> Span:
    """Read the match of a rule of this name."""
    year = int(match["year"]) if _group(match, "year") else now.year
    return s.month(year - (1 if _group(match, "last") else 0), 1 if match["half"].lower() == "first" else 7, 6)


def read_season(match: re.Match[str], now: datetime) -> Span:
    """Read the match of a rule of this name."""
    season, which = _SEASON[match["season"].lower()], _group(match, "which").lower()
    if _group(match, "year"):
        return s.season(int(match["year"]), season)
    this_year = s.season(now.year, season)
    if which == "last":
        ended = this_year.end is not None and this_year.end <= now
        return this_year if ended else s.season(now.year - 1, season)
    return this_year


def read_holiday(match: re.Match[str], now: datetime) -> Span | None:
    """Read the match of a rule of this name."""
    number, day, count = {"c": (12, 24, 3), "h": (10, 31, 1), "n": (12, 31, 2), "v": (2, 14, 1)}[
        match["holiday"].lower()[0]
    ]
    found = s.latest_day(now, number, day)
    return s.days(found, count).softened() if found else None


def read_past_weekend(_: re.Match[str], now: datetime) -> Span:
    """Read the match of a rule of this name."""
    return s.weekend(now.date(), 0 if now.weekday() >= s.DAYS_A_WEEK - 2 else -1).softened()


def read_named_month(match: re.Match[str], now: datetime) -> Span | None:
    """Read the match of a rule of this name."""
    number = _month_number(match["month"])
    return s.month(int(match["year"]) if _group(match, "year") else s.latest_month(now, number), number)
