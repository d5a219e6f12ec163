"""English time expressions. They read text in compatibility form with its case kept: "May" and "may" differ."""

from __future__ import annotations

import re
from functools import lru_cache

from memvault_router.domain.time import en_meaning as m
from memvault_router.domain.time import en_words as w
from memvault_router.domain.time.holidays import Holidays
from memvault_router.domain.time.loose import Vague
from memvault_router.domain.time.rules import Build, Family, TimeRule
from memvault_router.domain.time.span import VagueNumbers

_NUMBER = (
    r"[0-9]{1,3}|a couple(?: of)?|a few|couple(?: of)?|few|several|an?"
    r"|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty|ninety"
)
# How many of what: three days, half an hour, two and a half years, a year and a half.
_COUNT = rf"(?P<count>half an?|half|(?:[0-9]{{1,2}}\.5|{_NUMBER})(?: and a half)?)"
_UNIT = r"(?P<unit>second|minute|min|hour|day|night|weekend|week|month|quarter|year)s?(?P<more> and a half)?"
_AMOUNT = rf"{_COUNT}\s+{_UNIT}"
_SURE = "January|February|July|September|October|November|December|Feb|Jul|Sept|Sep|Oct|Nov|Dec"
_NAME_TOO = "March|April|May|June|August|Jan|Mar|Apr|Jun|Aug"
_ANY = f"{_SURE}|{_NAME_TOO}"
_WEEKDAY = f"(?P<weekday>{'|'.join(w.WEEKDAYS)})"
_SEASON = "(?P<season>spring|summer|autumn|fall|winter)"
_DAY = r"(?P<day>3[01]|[12][0-9]|0?[1-9])(?:st|nd|rd|th)?"
_DAY_WORD = rf"(?P<day>{'|'.join(word.replace('-', '[- ]') for word in reversed(w.DAY_WORDS))})"
_LAST_DAY = r"(?P<last>3[01]|[12][0-9]|0?[1-9])(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>(?:19|20)[0-9]{2})"
_SAID_YEAR = rf",?\s+(?:of\s+)?(?:{_YEAR}|(?P<year_shift>last|this|next)\s+year)"
_OR_YEAR = rf"(?:{_SAID_YEAR})?"
# Words that open a range are read beside the expression (`sides`), so they are only looked back at.
_SIDE = r"(?:(?<=\bsince )|(?<=\bbefore )|(?<=\bafter )|(?<=\buntil )|(?<=\btill )|(?<=\bprior to ))"
_CUE = rf"(?P<cue>{_SIDE}|\b(?:in|during|by|of|last|this|next|through|throughout|back in|from)\s+)"
_THIRD = r"(?P<third>(?:the\s+)?(?:early|mid|late|(?:beginning|start|middle|end)\s+of)(?:\s+in)?)[\s-]+"
_NEAR = ("last", "past", "previous", "this", "next")
_WHICH = r"(?P<which>last|previous|this|next)"


@lru_cache(maxsize=4)
def families(numbers: VagueNumbers, holidays: Holidays) -> tuple[Family, ...]:
    """Return the rules, specific before general."""
    months = tuple(name[:3].lower() for name in _ANY.split("|"))
    return (
        _family(months, _date_rules()),
        _family(("ago", "week", *w.NTH), _counted_back_rules()),
        _family(tuple(name.split("'")[0] for name in holidays.en), _holiday_rules(m.HolidayNames(holidays))),
        _family(months, _month_rules()),
        _family(("spring", "summer", "autumn", "fall", "winter"), _season_rules()),
        _family(("19", "20", "q1", "q2", "q3", "q4", "quarter", "half"), _year_rules()),
        _family(
            ("last", "past", "previous", "this", "next", "week", "month", "year", "day", "tomorrow", "tonight"),
            _near_rules(),
        ),
        _family(("ago", "back", "earlier", "last", "past", "recent"), _relative_rules()),
        _family(("late", "recent", "days", "other", "ago", "back", "now", "earlier"), _vague_rules(Vague(numbers))),
    )


def _family(words: tuple[str, ...], pairs: list[tuple[str, Build]]) -> Family:
    return Family(
        tuple(dict.fromkeys(words)),
        tuple(TimeRule(re.compile(pattern, re.IGNORECASE), build) for pattern, build in pairs),
    )


def _date_rules() -> list[tuple[str, Build]]:
    month = rf"(?P<month>{_ANY})\b\.?"
    end = r"\b(?!\s*(?:%|people|of us|times))(?!,?\s+1[0-8][0-9]{2}\b)"
    weekday = rf"(?:\b(?:{'|'.join(w.WEEKDAYS)}),?\s+)?"
    to = r"\s*(?:-|–|to|through|and)\s*"
    return [
        (rf"\b{month}\s+{_DAY}{to}{_LAST_DAY}{_OR_YEAR}\b", m.read_date),
        (rf"\b(?:between|from)\s+{_DAY}\s+(?:and|to)\s+{_LAST_DAY}\s+{month}{_OR_YEAR}\b", m.read_date),
        (rf"{weekday}\b{month}\s+(?:the\s+)?{_DAY}(?![0-9]){_OR_YEAR}{end}", m.read_date),
        (rf"{weekday}(?:\bthe\s+)?\b{_DAY}\s+(?:of\s+)?{month}{_OR_YEAR}{end}", m.read_date),
        (rf"{weekday}\b{month}\s+(?:the\s+)?{_DAY_WORD}{_OR_YEAR}{end}(?!\s+(?:week|half|quarter))", m.read_date),
        (rf"{weekday}(?:\bthe\s+)?\b{_DAY_WORD}\s+of\s+{month}{_OR_YEAR}{end}", m.read_date),
    ]


def _counted_back_rules() -> list[tuple[str, Build]]:
    """Return what is counted from the last one: the week before last, two Fridays ago, the first week of March."""
    more = r"(?!\s+(?:night|week|weekend|month|quarter|year|spring|summer|autumn|fall|winter|[a-z]+day)\b)"
    named = rf"(?:{_WEEKDAY}|{_SEASON}|(?P<unit>night|weekend|week|month|quarter|year))"
    nth = rf"(?:the\s+)?(?P<nth>{'|'.join(w.NTH)})\s+(?:(?P<part>week|weekend|day)|{_WEEKDAY})\s+(?:of|in)\s+"
    to = r"\s*(?:-|–|to|through|thru|until|till|and)\s*"
    days = rf"(?:(?:from|between)\s+)?{_WEEKDAY}{to}(?P<until>{'|'.join(w.WEEKDAYS)})"
    near = rf"(?:{_WHICH}\s+month|the\s+(?P<unit>month))"
    return [
        (rf"\b{_AMOUNT}\s+ago\s+(?:today|to the day)\b", m.read_to_the_day),
        (rf"\b(?:the\s+)?{named}\s+before\s+last\b{more}", m.read_before_last),
        (rf"\b(?P<count>{_NUMBER})\s+(?:{_WEEKDAY}|{_SEASON})s?\s+ago\b", m.read_counted_back),
        (rf"\b{nth}(?:(?P<month>{_ANY})\b{_OR_YEAR}|{near})\b", m.read_nth),
        (rf"\b{days},?\s+(?:of\s+)?{_WHICH}\s+week\b", m.read_weekdays_of_week),
        (rf"\b{_WHICH}\s+week,?\s+{days}\b", m.read_weekdays_of_week),
        (rf"\b{_WEEKDAY}\s+(?:of\s+)?{_WHICH}\s+week\b", m.read_weekday_of_week),
        (rf"\b{_WHICH}\s+week\s+(?:on\s+)?{_WEEKDAY}\b", m.read_weekday_of_week),
    ]


def _near_rules() -> list[tuple[str, Build]]:
    day = (
        r"\b(?:(?:the )?day before yesterday|(?:the )?day after tomorrow"
        r"|(?:yesterday|tomorrow)(?:\s+(?:morning|afternoon|evening|night))?|this\s+(?:morning|afternoon|evening)"
        r"|(?:earlier )?today)\b"
    )
    return [
        (rf"\b(?:on\s+)?(?:today|this\s+day)\s+{_WHICH}\s+(?P<unit>week|month|year)\b", m.read_same_day),
        (rf"\b(?:at\s+)?this\s+time\s+{_WHICH}\s+(?P<unit>year|month)\b", m.read_this_time),
        (r"\b(?:this past|over the past) (?P<unit>weekend)\b", m.read_past_weekend),
        (r"\b(?:the\s+(?:last|past)|this past)\s+(?P<unit>hour|day|week|month|quarter|year)\b", m.read_within),
        (rf"\b{_THIRD}(?:{_WHICH}|the)\s+(?P<unit>week|month|year)\b", m.read_shifted_third),
        (r"\blast night\b", m.read_last_night),
        (r"\btonight\b", m.read_tonight),
        (day, m.read_day),
        (rf"\b{_WHICH}\s+(?P<unit>weekend|week|month|quarter|year)\b(?!\s+(?:number|one)\b)", m.read_shifted),
        (rf"\b(?P<which>(?:this )?past\s+|last\s+|this\s+|next\s+)?{_WEEKDAY}s?\b", m.read_weekday),
        (rf"(?:\b(?:over|at|on|during)\s+|{_SIDE})the\s+weekend\b", m.read_the_weekend),
    ]


def _month_rules() -> list[tuple[str, Build]]:
    year = rf"{_OR_YEAR}\b"
    not_verb = r"(?!,?\s+1[0-8][0-9]{2}\b)(?!\s+(?:on|for|to|against|be|have|not|i|we|you|they|it)\b)"
    to = r"\s*(?:-|–|to|through|until|and)\s*"
    return [
        (rf"\b(?:from\s+|between\s+)?(?P<month>{_ANY}){to}(?P<last>{_ANY})\b{_OR_YEAR}", m.read_months),
        (rf"\b{_THIRD}(?P<month>{_ANY})\b{year}", m.read_month),
        (rf"{_CUE}(?P<month>{_ANY})\b{year}{not_verb}", m.read_month),
        (rf"\b(?P<month>{_ANY})\b{_SAID_YEAR}\b", m.read_month),
        (rf"\b(?P<month>{_SURE})\b(?!\s*[0-9])", m.read_month),
    ]


def _year_rules() -> list[tuple[str, Build]]:
    counted = r"\b(?!\s*(?:%|people|users|lines|[a-z]+s\b(?<!was)(?<!is)))"
    year = rf"(?:{_YEAR}|(?P<which>this|last) year|the year)"
    quarter = r"(?:q(?P<quarter>[1-4])|(?:the )?(?P<nth>first|second|third|fourth|last) quarter)"
    return [
        (rf"\b{quarter}\s+(?:of\s+)?{year}\b", m.read_quarter),
        (rf"\b{_YEAR}\s+q(?P<quarter>[1-4])\b", m.read_quarter),
        (rf"(?:\bin |{_SIDE})q(?P<quarter>[1-4])\b(?!-)", m.read_quarter),
        (rf"\bthe (?P<half>first|second) half of {year}\b", m.read_half),
        (rf"{_SIDE}{_YEAR}\b(?!\s*[-/%])", m.read_year),
        (rf"\b{_THIRD}{_YEAR}\b", m.read_year),
        (rf"\b(?:back in|in|during|of|throughout|year)\s+{_YEAR}{counted}", m.read_year),
    ]


def _season_rules() -> list[tuple[str, Build]]:
    return [
        (rf"\b(?:in\s+)?(?:the\s+)?{_SEASON}{_SAID_YEAR}\b", m.read_season),
        (rf"\b(?P<which>last|previous|this past|this|next)\s+{_SEASON}\b", m.read_season),
    ]


def _holiday_rules(names: m.HolidayNames) -> list[tuple[str, Build]]:
    cue = rf"(?:{_SIDE}|\b(?:at|over|around|during|on|for|from|by|(?P<which>last|previous|past|this|next))\s+)"
    holiday = rf"(?P<holiday>{names.pattern})\b"
    return [
        (rf"\b(?:the\s+)?{holiday}\s+before\s+last\b", names.read_before_last),
        (rf"\b{holiday}{_SAID_YEAR}\b", names.read_of_year),
        (rf"\b(?P<count>{_NUMBER})\s+(?P<holiday>{names.pattern})(?:e?s)?\s+ago\b", names.read_counted_back),
        (rf"{cue}(?:the\s+)?{holiday}", names.read),
    ]


def _relative_rules() -> list[tuple[str, Build]]:
    return [
        (rf"\b{_AMOUNT}\s+(?:ago|back|earlier)\b", m.read_ago),
        (rf"\b(?:in|over|within|for|during)?\s*(?:the|these)?\s*(?:last|past)\s+{_AMOUNT}\b", m.read_within),
        (r"\b(?:in|over|during)\s+past\s+(?P<unit>week|month|year)\b", m.read_within),
        (r"\b(?:in\s+|over\s+|during\s+)?(?:the\s+)?recent\s+(?P<unit>day|week|month|year)s\b", m.read_recent),
    ]


def _vague_rules(vague: Vague) -> list[tuple[str, Build]]:
    return [
        (r"\b(?:recently|lately|of late)\b", vague.recently),
        (r"\b(?:these days|these last few days)\b", vague.few_days),
        (r"\bthe other (?:day|week)\b", vague.other_day),
        (r"\b(?:a|some) (?:while|time) (?:ago|back)\b", vague.while_ago),
        (r"\b(?:just now|a (?:moment|minute|second) ago)\b", vague.just_now),
        (r"\ba (?:bit|little|little bit|short while|little while) (?:earlier|ago)\b", vague.earlier),
    ]
