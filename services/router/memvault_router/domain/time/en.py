"""English time expressions. They read text in compatibility form with its case kept: "May" and "may" differ."""

from __future__ import annotations

import re
from functools import lru_cache

from memvault_router.domain.time import en_meaning as m
from memvault_router.domain.time.loose import Vague, opened
from memvault_router.domain.time.rules import Build, TimeRule
from memvault_router.domain.time.span import VagueNumbers

_COUNT = (
    r"(?P<count>[0-9]{1,3}|a couple(?: of)?|a few|couple(?: of)?|few|several|an?"
    r"|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
)
_UNIT = r"(?P<unit>hour|day|week|month|year)s?"
_SURE = "January|February|July|September|October|November|December|Feb|Jul|Sept|Sep|Oct|Nov|Dec"
_NAME_TOO = "March|April|May|June|August|Jan|Mar|Apr|Jun|Aug"
_ANY = f"{_SURE}|{_NAME_TOO}"
_DAY = r"(?P<day>3[01]|[12][0-9]|0?[1-9])(?:st|nd|rd|th)?"
_LAST_DAY = r"(?P<last>3[01]|[12][0-9]|0?[1-9])(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>(?:19|20)[0-9]{2})"
_OR_YEAR = rf"(?:,?\s+{_YEAR})?"
_CUE = r"\b(?:in|since|during|until|till|by|of|last|this|next|through|throughout|back in|from|before|after)\s+"
_THIRD = r"(?P<third>early|mid|late|the (?:beginning|start|middle|end) of)[\s-]+"


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
    span = rf"\b{month}\s+{_DAY}\s*(?:-|–|to|through|and)\s*{_LAST_DAY}{_OR_YEAR}\b"
    between = rf"\b(?:between|from)\s+{_DAY}\s+(?:and|to)\s+{_LAST_DAY}\s+{month}{_OR_YEAR}\b"
    return [
        (span, m.read_date),
        (between, m.read_date),
        *_sided(us, m.read_date),
        *_sided(eu, m.read_date),
        (us, m.read_date),
        (eu, m.read_date),
    ]


def _near_rules() -> list[tuple[str, Build]]:
    near = r"\b(?P<which>last|previous|this|next)\s+(?P<unit>weekend|week|month|quarter|year)\b(?!\s+(?:number|one)\b)"
    weekday = rf"\b(?P<which>last\s+|this\s+|next\s+|past\s+)?(?P<weekday>{'|'.join(m.WEEKDAYS)})s?\b"
    day = (
        r"\b(?:the day before yesterday|the day after tomorrow"
        r"|(?:yesterday|tomorrow)(?:\s+(?:morning|afternoon|evening|night))?|this\s+(?:morning|afternoon|evening)|today)\b"
    )
    thirds = (
        r"\b(?:the )?(?P<third>early|mid|late|beginning of|start of|middle of|end of)[\s-]+"
        r"(?P<which>last|this)\s+(?P<unit>month|year)\b"
    )
    return [
        (r"\bthe\s+(?:last|past)\s+(?P<unit>hour|day|week|month|year)\b", m.read_within),
        (thirds, m.read_shifted_third),
        (r"\blast night\b", m.read_last_night),
        (r"\btonight\b", m.read_tonight),
        (day, m.read_day),
        *_sided(near, m.read_shifted),
        (near, m.read_shifted),
        *_sided(weekday, m.read_weekday),
        (weekday, m.read_weekday),
        (r"\b(?:over|at|on|during) the (?P<unit>weekend)(?P<which>)\b", m.read_past_weekend),
    ]


def _month_rules() -> list[tuple[str, Build]]:
    year = rf"(?:,?\s+(?:of\s+)?{_YEAR})?\b"
    not_verb = r"(?!\s+(?:on|for|to|against|be|have|not|i|we|you|they|it)\b)"
    cued = rf"(?P<cue>{_CUE})(?:{_THIRD})?(?P<month>{_ANY})\b{year}{not_verb}"
    cued_third = rf"\b{_THIRD}(?P<month>{_ANY})\b{year}"
    dated = rf"\b(?P<month>{_ANY})\b,?\s+(?:of\s+)?{_YEAR}\b"
    bare = rf"\b(?P<month>{_SURE})\b(?!\s*[0-9])"
    named = rf"(?P<month>{_ANY})\b{year}{not_verb}"
    to = r"\s*(?:-|–|to|through|until|and)\s*"
    several = rf"\b(?:from\s+|between\s+)?(?P<month>{_ANY}){to}(?P<last>{_ANY})\b{_OR_YEAR}"
    return [
        (several, m.read_months),
        *_sided(named, m.read_named_month),
        (cued, m.read_month),
        (cued_third, m.read_month),
        (dated, m.read_month),
        (bare, m.read_month),
    ]


def _year_rules() -> list[tuple[str, Build]]:
    third = r"(?:(?P<third>early|mid|late|the (?:beginning|start|middle|end) of)[\s-]+)?"
    counted = r"\b(?!\s*(?:%|people|users|lines|[a-z]+s\b(?<!was)(?<!is)))"
    cued = rf"\b(?:back in|in|during|of|throughout|year)\s+{third}{_YEAR}{counted}"
    season = "(?P<season>spring|summer|autumn|fall|winter)"
    return [
        (rf"\bq(?P<quarter>[1-4])\s+(?:of\s+)?{_YEAR}\b", m.read_quarter),
        (rf"\b{_YEAR}\s+q(?P<quarter>[1-4])\b", m.read_quarter),
        (r"\bin q(?P<quarter>[1-4])\b(?!-)", m.read_quarter),
        (rf"\bthe (?P<half>first|second) half of (?:{_YEAR}|this year|(?P<last>last year))", m.read_half),
        (rf"\b(?:in\s+)?(?:the\s+)?{season}\s+(?:of\s+)?{_YEAR}\b", m.read_season),
        (rf"\b(?P<which>last|this|next)\s+{season}\b", m.read_season),
        (
            (
                r"\b(?:at|over|around|during|last|since|on)\s+"
                r"(?P<holiday>christmas|halloween|new year'?s(?: eve)?|valentine'?s(?: day)?)\b"
            ),
            m.read_holiday,
        ),
        *_sided(_YEAR + r"\b(?!\s*[-/])", m.read_year),
        (cued, m.read_year),
        (rf"\b(?P<third>early|mid|late)[\s-]+{_YEAR}\b", m.read_year),
    ]


def _relative_rules() -> list[tuple[str, Build]]:
    return [
        (rf"\b{_COUNT}\s+{_UNIT}\s+(?:ago|back|earlier)\b", m.read_ago),
        (rf"\b(?:in|over|within|for|during)?\s*(?:the|these)?\s*(?:last|past)\s+{_COUNT}\s+{_UNIT}\b", m.read_within),
        (r"\b(?:in|over|during)\s+past\s+(?P<unit>week|month|year)\b", m.read_within),
    ]


def _vague_rules(vague: Vague) -> list[tuple[str, Build]]:
    return [
        (r"\b(?:recently|lately|of late)\b", vague.recently),
        (r"\b(?:these days|these last few days)\b", vague.few_days),
        (r"\bthe other (?:day|week)\b", vague.other_day),
        (r"\b(?:a|some) (?:while|time) (?:ago|back)\b", vague.while_ago),
        (r"\b(?:just now|a (?:moment|minute|second) ago)\b", vague.just_now),
    ]
