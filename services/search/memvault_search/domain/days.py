"""Days that a question names by their date, and how memories write them (R-10).

"12/3 有什麼事？" asks for what was noted of that day, often long before it; the time of such a note is another one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from memvault.text import fold

_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_DIGITS = "〇一二三四五六七八九"
_MONTH_NAME = "|".join(f"{name[:3]}(?:{name[3:]})?" if name[3:] else name for name in _MONTHS)
_NAMED = re.compile(
    r"(?<![a-z\d/.-])(?P<m1>\d{1,2})/(?P<d1>\d{1,2})(?![\d/.-])"
    r"|(?<!\d)\d{4}[/.-](?P<m6>\d{1,2})[/.-](?P<d6>\d{1,2})(?!\d)"
    r"|(?P<m2>\d{1,2}) ?月 ?(?P<d2>\d{1,2}) ?[日号]"
    r"|(?P<m3>[一二三四五六七八九十]{1,2})月(?P<d3>[一二三四五六七八九十]{1,3})[日号]"
    rf"|\b(?P<m4>{_MONTH_NAME})\.? (?P<d4>\d{{1,2}})(?:st|nd|rd|th)?\b"
    rf"|\b(?P<d5>\d{{1,2}})(?:st|nd|rd|th)? (?:of )?(?P<m5>{_MONTH_NAME})\b"
)
_LONGEST_MONTH = 31


@dataclass(frozen=True)
class NamedDay:
    """A day of any year."""

    month: int
    day: int

    @property
    def words(self) -> str:
        """Its forms, joined by blanks: what finds texts that may name it."""
        month, day, name = self.month, self.day, _MONTHS[self.month - 1]
        forms = {f"{month}/{day}", f"{month:02}/{day:02}", f"{month}/{day:02}", f"{name} {name[:3]} {day}"}
        return " ".join(sorted({*forms, f"{month}月{day}日", f"{_chinese(month)}月{_chinese(day)}日"}))


def days_in(text: str) -> tuple[NamedDay, ...]:
    """Return the days that a text names by month and day, each once; "3/14" is read as month and day."""
    found = (_day(match) for match in _NAMED.finditer(fold(text)))
    return tuple(dict.fromkeys(one for one in found if one is not None))


def _day(match: re.Match[str]) -> NamedDay | None:
    month, day = next((match[f"m{form}"], match[f"d{form}"]) for form in range(1, 7) if match[f"m{form}"])
    number, of_month = _number(month), _number(day)
    return NamedDay(number, of_month) if 1 <= number <= len(_MONTHS) and 1 <= of_month <= _LONGEST_MONTH else None


def _number(written: str) -> int:
    """Read figures, Chinese numerals below a hundred, or the name of a month."""
    if written.isdecimal():
        return int(written)
    if written[0].isascii():
        return next(place for place, name in enumerate(_MONTHS, 1) if name.startswith(written[:3]))
    tens, ten, ones = written.rpartition("十")
    if not ten:
        return _DIGITS.index(written) if written in _DIGITS else 0
    return (_DIGITS.index(tens) if tens else 1) * 10 + (_DIGITS.index(ones) if ones else 0)


def _chinese(number: int) -> str:
    tens, ones = divmod(number, 10)
    return ("" if not tens else "十" if tens == 1 else f"{_DIGITS[tens]}十") + (_DIGITS[ones] if ones else "")
