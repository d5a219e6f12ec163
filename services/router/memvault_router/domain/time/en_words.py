"""English words of number, order and part, and how the groups of a match name them."""

from __future__ import annotations

import re
from datetime import datetime

from memvault_router.domain.time import amounts
from memvault_router.domain.time.amounts import Amount

_MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
VERBS = frozenset({"march", "may"})
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_NUMBERS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12, "fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50,
    "ninety": 90,
}  # fmt: skip
_LOOSE = {"few": amounts.A_FEW, "several": amounts.SEVERAL, "couple": Amount(2.0, 2.0, loose=True)}
# Longer ones end with shorter ones, so patterns take them from the last.
DAY_WORDS = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
    "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth",
    "twentieth", "twenty-first", "twenty-second", "twenty-third", "twenty-fourth", "twenty-fifth", "twenty-sixth",
    "twenty-seventh", "twenty-eighth", "twenty-ninth", "thirtieth", "thirty-first",
)  # fmt: skip
NTH = {
    "first": 1, "1st": 1, "second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4, "4th": 4, "fifth": 5, "5th": 5,
    "last": -1, "final": -1,
}  # fmt: skip
SHIFT = {"last": -1, "previous": -1, "past": -1, "this past": -1, "this": 0, "next": 1, "": 0}
_THIRDS = {"early": "early", "begin": "early", "start": "early", "mid": "mid", "late": "late", "end": "late"}
SEASON = {"spring": "spring", "summer": "summer", "autumn": "autumn", "fall": "autumn", "winter": "winter"}


def amount(match: re.Match[str]) -> Amount:
    """Return how many the groups `count` and `more` say."""
    written = match["count"].lower()
    half = 0.5 if "half" in written or match.groupdict().get("more") else 0.0
    words = written.removesuffix(" and a half").removesuffix(" of").split()
    if words[0] == "half":
        return amounts.exactly(0.5)
    word = words[-1]
    if word in _LOOSE:
        return _LOOSE[word]
    return amounts.exactly((_NUMBERS[word] if word in _NUMBERS else float(word)) + half)


def unit(match: re.Match[str]) -> str:
    """Return the unit that is counted."""
    written = match["unit"].lower()
    return "minute" if written == "min" else written


def day_number(text: str) -> int:
    """Return the day of a month: "3", "third"."""
    return int(text) if text.isdigit() else DAY_WORDS.index(text.lower().replace(" ", "-")) + 1


def shift(match: re.Match[str]) -> int:
    """Return -1 for "last", 0 for "this" or no word, 1 for "next"."""
    return SHIFT[group(match, "which").lower().strip()]


def year(match: re.Match[str], now: datetime) -> int | None:
    """Return the year that the groups `year` and `year_shift` say; None: none was said."""
    if group(match, "year"):
        return int(match["year"])
    shifted = group(match, "year_shift").lower()
    return now.year + SHIFT[shifted] if shifted else None


def month_number(text: str) -> int:
    """Return 1 to 12 for the name of a month or its beginning."""
    return next(place for place, name in enumerate(_MONTHS, 1) if name.startswith(text.lower()[:3]))


def group(match: re.Match[str], name: str) -> str:
    """Return a group; empty when the pattern has none of this name or it is not there."""
    return match.groupdict().get(name) or ""


def third(match: re.Match[str]) -> str:
    """Return the part of a whole that the group `third` names; empty: all of it."""
    words = group(match, "third").lower().split()
    named = (part for word in words for start, part in _THIRDS.items() if word.startswith(start))
    return next(named, "")
