"""English time expressions. They read text in compatibility form with its case kept: "May" and "may" differ."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from functools import lru_cache

from memvault_router.domain.time import span as s
from memvault_router.domain.time.loose import Vague, opened
from memvault_router.domain.time.rules import Build, TimeRule
from memvault_router.domain.time.span import Span, VagueNumbers

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
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_NUMBERS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12, "couple": 2, "few": 3, "several": 4,
}  # fmt: skip
_COUNT = r"(?P<count>[0-9]{1,3}|a couple(?: of)?|a few|couple(?: of)?|few|several|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
_UNIT = r"(?P<unit>hour|day|week|month|year)s?"
_SURE = "January|February|July|September|October|November|December|Feb|Jul|Sept|Sep|Oct|Nov|Dec"
_NAME_TOO = "March|April|May|June|August|Jan|Mar|Apr|Jun|Aug"
_ANY = f"{_SURE}|{_NAME_TOO}"
_DAY = r"(?P<day>3[01]|[12][0-9]|0?[1-9])(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>(?:19|20)[0-9]{2})"
_CUE = r"\b(?:in|since|during|until|till|by|of|last|this|next|through|throughout|back in|from|before|after)\s+"
_THIRD = r"(?P<third>early|mid|late|the (?:beginning|start|middle|end) of)[\s-]+"
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


def _date(match: re.Match[str], now: datetime) -> Span | None:
    number, day = _month_number(match["month"]), int(match["day"])
    found = s.real_date(int(match["year"]), number, day) if _group(match, "year") else s.latest_day(now, number, day)
    if found is None:
        return None
    length = int(_group(match, "last") or day) - day
    return s.days(found, length + 1) if length >= 0 else None


def _month(match: re.Match[str], now: datetime) -> Span | None:
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


def _months(match: re.Match[str], now: datetime) -> Span | None:
    first, last = _month_number(match["month"]), _month_number(match["last"])
    chosen = int(match["year"]) if _group(match, "year") else s.latest_month(now, first)
    return s.month(chosen, first, last - first + 1) if last >= first else None


def _shifted(match: re.Match[str], now: datetime) -> Span:
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


def _shifted_third(match: re.Match[str], now: datetime) -> Span:
    shift = {"last": -1, "this": 0}[match["which"].lower()]
    part = _third(match["third"].lower())
    if match["unit"].lower() == "month":
        return s.month_part(*s.month_of(now.year, now.month, shift), part)
    return s.month(now.year + shift, {"early": 1, "mid": 6, "late": 11}[part], 2).softened()


def _weekday(match: re.Match[str], now: datetime) -> Span:
    place = _WEEKDAYS.index(match["weekday"].lower())
    which = _group(match, "which").lower().strip()
    if which == "this":
        return s.weekday_in(now.date(), 0, place)
    if which == "next":
        return s.weekday_in(now.date(), 1, place)
    found = s.latest_weekday(now.date(), place, before_today=which == "last")
    return found if which in {"last", "past"} else found.softened()


def _day(match: re.Match[str], now: datetime) -> Span:
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


def _last_night(_: re.Match[str], now: datetime) -> Span:
    return s.day_part(now.date() - timedelta(days=1), "night")


def _tonight(_: re.Match[str], now: datetime) -> Span:
    return s.day_part(now.date(), "evening")


def _ago(match: re.Match[str], now: datetime) -> Span:
    count = _number(match["count"])
    loose = any(word in match["count"] for word in ("few", "several", "couple"))
    found = s.ago(now, count, match["unit"].lower())
    return found.softened() if loose else found


def _within(match: re.Match[str], now: datetime) -> Span:
    count = _number(match["count"]) if _group(match, "count") else 1
    return s.within(now, count, match["unit"].lower())


def _year(match: re.Match[str], _: datetime) -> Span:
    third = _group(match, "third").lower()
    if third:
        return s.month(int(match["year"]), {"early": 1, "mid": 6, "late": 11}[_third(third)], 2).softened()
    return s.year(int(match["year"]))


def _quarter(match: re.Match[str], now: datetime) -> Span:
    which = int(match["quarter"])
    begun = 3 * which - 2 <= now.month
    return s.quarter(int(match["year"]) if _group(match, "year") else now.year - (0 if begun else 1), which)


def _half(match: re.Match[str], now: datetime) -> Span:
    year = int(match["year"]) if _group(match, "year") else now.year
    return s.month(year - (1 if _group(match, "last") else 0), 1 if match["half"].lower() == "first" else 7, 6)


def _season(match: re.Match[str], now: datetime) -> Span:
    season, which = _SEASON[match["season"].lower()], _group(match, "which").lower()
    if _group(match, "year"):
        return s.season(int(match["year"]), season)
    this_year = s.season(now.year, season)
    if which == "last":
        ended = this_year.end is not None and this_year.end <= now
        return this_year if ended else s.season(now.year - 1, season)
    return this_year


def _holiday(match: re.Match[str], now: datetime) -> Span | None:
    number, day, count = {"c": (12, 24, 3), "h": (10, 31, 1), "n": (12, 31, 2), "v": (2, 14, 1)}[
        match["holiday"].lower()[0]
    ]
    found = s.latest_day(now, number, day)
    return s.days(found, count).softened() if found else None


def _sided(pattern: str, inner: Build) -> list[tuple[str, Build]]:
    return [
        (rf"\b(?:ever )?since\s+(?:{pattern})", opened(inner, "since")),
        (rf"\bafter\s+(?:{pattern})", opened(inner, "after")),
        (rf"\b(?:before|until|till|up to|prior to)\s+(?:{pattern})", opened(inner, "before")),
    ]


@lru_cache(maxsize=4)
def rules(numbers: VagueNumbers) -> tuple[TimeRule, ...]:
    """Return the rules, specific before general."""
    pairs = [
        *_date_rules(),
        *_near_rules(),
        *_month_rules(),
        *_year_rules(),
        *_relative_rules(),
        *_vague_rules(Vague(numbers)),
    ]
    return tuple(TimeRule(re.compile(pattern, re.IGNORECASE), build) for pattern, build in pairs)


def _date_rules() -> list[tuple[str, Build]]:
    month = rf"(?P<month>{_ANY})\b\.?"
    end = r"\b(?!\s*(?:%|people|of us|times))"
    us = rf"\b{month}\s+(?:the\s+)?{_DAY}(?![0-9])(?:,?\s+{_YEAR})?{end}"
    eu = rf"\b{_DAY}\s+(?:of\s+)?{month}(?:,?\s+{_YEAR})?\b"
    span = rf"\b{month}\s+{_DAY}\s*(?:-|–|to|through|and)\s*(?P<last>3[01]|[12][0-9]|0?[1-9])(?:st|nd|rd|th)?(?:,?\s+{_YEAR})?\b"
    between = rf"\b(?:between|from)\s+{_DAY}\s+(?:and|to)\s+(?P<last>3[01]|[12][0-9]|0?[1-9])(?:st|nd|rd|th)?\s+{month}(?:,?\s+{_YEAR})?\b"
    return [(span, _date), (between, _date), *_sided(us, _date), *_sided(eu, _date), (us, _date), (eu, _date)]


def _near_rules() -> list[tuple[str, Build]]:
    near = r"\b(?P<which>last|previous|this|next)\s+(?P<unit>weekend|week|month|quarter|year)\b(?!\s+(?:number|one)\b)"
    weekday = rf"\b(?P<which>last\s+|this\s+|next\s+|past\s+)?(?P<weekday>{'|'.join(_WEEKDAYS)})s?\b"
    day = (
        r"\b(?:the day before yesterday|the day after tomorrow|(?:yesterday|tomorrow)(?:\s+(?:morning|afternoon|evening|night))?"
        r"|this\s+(?:morning|afternoon|evening)|today)\b"
    )
    thirds = r"\b(?:the )?(?P<third>early|mid|late|beginning of|start of|middle of|end of)[\s-]+(?P<which>last|this)\s+(?P<unit>month|year)\b"
    return [
        (r"\bthe\s+(?:last|past)\s+(?P<unit>hour|day|week|month|year)\b", _within),
        (thirds, _shifted_third),
        (r"\blast night\b", _last_night),
        (r"\btonight\b", _tonight),
        (day, _day),
        *_sided(near, _shifted),
        (near, _shifted),
        *_sided(weekday, _weekday),
        (weekday, _weekday),
        (r"\b(?:over|at|on|during) the (?P<unit>weekend)(?P<which>)\b", _past_weekend),
    ]


def _past_weekend(_: re.Match[str], now: datetime) -> Span:
    return s.weekend(now.date(), 0 if now.weekday() >= s.DAYS_A_WEEK - 2 else -1).softened()


def _month_rules() -> list[tuple[str, Build]]:
    year = rf"(?:,?\s+(?:of\s+)?{_YEAR})?\b"
    not_verb = r"(?!\s+(?:on|for|to|against|be|have|not|i|we|you|they|it)\b)"
    cued = rf"(?P<cue>{_CUE})(?:{_THIRD})?(?P<month>{_ANY})\b{year}{not_verb}"
    cued_third = rf"\b{_THIRD}(?P<month>{_ANY})\b{year}"
    dated = rf"\b(?P<month>{_ANY})\b,?\s+(?:of\s+)?{_YEAR}\b"
    bare = rf"\b(?P<month>{_SURE})\b(?!\s*[0-9])"
    named = rf"(?P<month>{_ANY})\b{year}{not_verb}"
    several = rf"\b(?:from\s+|between\s+)?(?P<month>{_ANY})\s*(?:-|–|to|through|until|and)\s*(?P<last>{_ANY})\b(?:,?\s+{_YEAR})?"
    return [
        (several, _months),
        *_sided(named, _named_month),
        (cued, _month),
        (cued_third, _month),
        (dated, _month),
        (bare, _month),
    ]


def _named_month(match: re.Match[str], now: datetime) -> Span | None:
    number = _month_number(match["month"])
    return s.month(int(match["year"]) if _group(match, "year") else s.latest_month(now, number), number)


def _year_rules() -> list[tuple[str, Build]]:
    third = r"(?:(?P<third>early|mid|late|the (?:beginning|start|middle|end) of)[\s-]+)?"
    cued = rf"\b(?:back in|in|during|of|throughout|year)\s+{third}{_YEAR}\b(?!\s*(?:%|people|users|lines|[a-z]+s\b(?<!was)(?<!is)))"
    season = "(?P<season>spring|summer|autumn|fall|winter)"
    return [
        (rf"\bq(?P<quarter>[1-4])\s+(?:of\s+)?{_YEAR}\b", _quarter),
        (rf"\b{_YEAR}\s+q(?P<quarter>[1-4])\b", _quarter),
        (r"\bin q(?P<quarter>[1-4])\b(?!-)", _quarter),
        (rf"\bthe (?P<half>first|second) half of (?:{_YEAR}|this year|(?P<last>last year))", _half),
        (rf"\b(?:in\s+)?(?:the\s+)?{season}\s+(?:of\s+)?{_YEAR}\b", _season),
        (rf"\b(?P<which>last|this|next)\s+{season}\b", _season),
        (
            r"\b(?:at|over|around|during|last|since|on)\s+(?P<holiday>christmas|halloween|new year'?s(?: eve)?|valentine'?s(?: day)?)\b",
            _holiday,
        ),
        *_sided(_YEAR + r"\b(?!\s*[-/])", _year),
        (cued, _year),
        (rf"\b(?P<third>early|mid|late)[\s-]+{_YEAR}\b", _year),
    ]


def _relative_rules() -> list[tuple[str, Build]]:
    return [
        (rf"\b{_COUNT}\s+{_UNIT}\s+(?:ago|back|earlier)\b", _ago),
        (rf"\b(?:in|over|within|for|during)?\s*(?:the|these)?\s*(?:last|past)\s+{_COUNT}\s+{_UNIT}\b", _within),
        (r"\b(?:in|over|during)\s+past\s+(?P<unit>week|month|year)\b", _within),
    ]


def _vague_rules(vague: Vague) -> list[tuple[str, Build]]:
    return [
        (r"\b(?:recently|lately|of late)\b", vague.recently),
        (r"\b(?:these days|these last few days)\b", vague.few_days),
        (r"\bthe other (?:day|week)\b", vague.other_day),
        (r"\b(?:a|some) (?:while|time) (?:ago|back)\b", vague.while_ago),
        (r"\b(?:just now|a (?:moment|minute|second) ago)\b", vague.just_now),
    ]
