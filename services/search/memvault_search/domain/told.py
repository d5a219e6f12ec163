"""When something happened, by the words of who told it afterwards (R-08): "yesterday", "two weeks ago", 「上個月」.

A turn bears the time at which it was said. "We went camping last weekend" answers a question about that weekend, and
was said on a Monday.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from memvault.text import fold
from memvault_search.domain.block import Block

_DAY = timedelta(days=1)
_ONES = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9}
_TEENS = {
    **dict(zip(("ten", "eleven", "twelve", "thirteen", "fourteen"), range(10, 15), strict=True)),
    **dict(zip(("fifteen", "sixteen", "seventeen", "eighteen", "nineteen"), range(15, 20), strict=True)),
}
_TENS = {"twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90}
_ROUGHLY = {
    **dict.fromkeys(("a", "an"), 1),
    **dict.fromkeys(("couple of", "a couple of"), 2),
    **dict.fromkeys(("few", "a few", "几"), 3),
}
_HAN = {"一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9}
_UNITS = {
    **dict.fromkeys(("day", "天"), "day"),
    **dict.fromkeys(("week", "周", "星期", "礼拜"), "week"),
    **dict.fromkeys(("weekend", "周末"), "weekend"),
    **dict.fromkeys(("month", "月"), "month"),
    **dict.fromkeys(("year", "年"), "year"),
}
_BACK = {
    **dict.fromkeys(("yesterday", "last night", "昨天", "昨日", "昨晚", "昨夜"), ("day", 1)),
    **dict.fromkeys(("day before yesterday", "night before last", "前天", "前晚"), ("day", 2)),
    "大前天": ("day", 3),
    "去年": ("year", 1),
    "前年": ("year", 2),
    "大前年": ("year", 3),
}
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


def _one_of(words: Iterable[str]) -> str:
    return "|".join(sorted(words, key=len, reverse=True))


_LATIN_COUNT = (
    rf"(?:{_one_of(_TENS)})(?:[- ](?:{_one_of(_ONES)}))?"
    rf"|{_one_of([*_ONES, *_TEENS, *(one for one in _ROUGHLY if one.isascii())])}|\d{{1,2}}"
)
_DIGITS = "".join(_HAN)
_HAN_COUNT = rf"[{_DIGITS}]?十[{_DIGITS}]?|[{_DIGITS}几]|\d{{1,2}}"
# A count is no count behind what makes it a part of a greater, an ordinal, a broken or an uncertain one.
_NOT_OF_A_LATIN_COUNT = (
    r"(?<![-\d.])(?<!half )(?<!hundred )(?<!hundred and )(?<!thousand )(?<!thousand and )"
    r"(?<! or )(?<! to )(?<!quite )(?<!quite a )"
)
_NOT_OF_A_HAN_COUNT = (
    rf"(?<![\d{_DIGITS}十百千万亿零〇廿卅几数第初周期拜])"
    rf"(?<![\d{_DIGITS}十几][-~–—到至或、,])(?<!\d[.:/])(?<!民国)(?<!公元)"
)
# 「X前」 and 「X上」 of another word, of which the character that comes next begins a third one.
_NOT_BEFORE = "(?<![目以之从眼面先当日提跟此])"
_NOT_ON = (
    "(?<![上以早晚马网地楼路街桌床身山海天线船车墙头心脸手纸书碗爱加跟赶追算遇碰戴穿贴带关坐登踏走爬搭"
    "换如至向朝北岸水基世史际度面本体则事实理论场台版班桥塔屋顶肩背腿脚鼻嘴口门窗板盘池河江湖田园树枝机椅席课报刊"
    "视幕屏脑页群站坛])"
)
_TOLD = re.compile(
    # what is said of a time before another one names neither
    rf"\b(?:the )?(?:(?P<back>day before yesterday|night before last)"
    rf"|(?P<two_back>week|weekend|month|year) before last(?: (?P=two_back))?"
    rf"|(?:day|night|week|weekend|month|year)s? before (?:yesterday|(?:last|past) \w+))\b"
    rf"|\b(?P<day>yesterday|last night)\b"
    rf"|\b{_NOT_OF_A_LATIN_COUNT}(?P<count>{_LATIN_COUNT}) (?P<unit>day|weekend|week|month|year)s? ago\b"
    rf"|\b(?:last|past) (?:(?P<last>weekend|week|month|year)|(?P<weekday>{_one_of(_WEEKDAYS)}))\b"
    rf"|(?=[\d{_DIGITS}十几]){_NOT_OF_A_HAN_COUNT}(?P<count_zh>{_HAN_COUNT})\s?(?:个?(?P<unit_zh>天|周|星期|礼拜|年)|个(?P<month_zh>月))"
    rf"[以之]?前(?![往后])"
    rf"|(?=[昨大前去])(?P<day_zh>昨天|昨日|昨晚|昨夜"
    rf"|(?<!大)大前天(?![气桥空天])|(?<!大){_NOT_BEFORE}前天(?![气桥空天真色花线然窗台文使才])"
    rf"|(?<!大){_NOT_BEFORE}前晚(?![点餐饭])"
    rf"|(?<![失过离出回进上下])去年(?![轻纪代级货糕])"
    rf"|(?<!大)大前年(?![轻纪代级])|(?<!大){_NOT_BEFORE}前年(?![轻纪代龄级少幼])"
    rf")"
    rf"|(?=上)(?:{_NOT_ON}|(?<![上以])(?=上个))(?P<upper>上上?)(?:个?(?P<last_zh>周末|周(?![年围边遭刊])|星期|礼拜(?!堂)"
    rf"|月(?![亮台球饼光色历薪票嫂娘老])))"
)

_PERHAPS = ("ago", "yesterday", "last", "past", "昨", "前", "去年")
_PERHAPS_LAST = re.compile("上[個个]?[週周星禮礼月]")


class Span(NamedTuple):
    """[start, end) in seconds since the epoch, UTC."""

    start: float
    end: float


def spans_of(text: str, said: datetime) -> list[Span]:
    """The times in the past that a text of the moment `said` speaks of, as it meets them; calendar units in UTC."""
    lowered = text.lower()  # folding all texts would cost more than all else here
    if not any(one in lowered for one in _PERHAPS) and not _PERHAPS_LAST.search(text):
        return []
    try:
        day = said.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        return [Span(start.timestamp(), end.timestamp()) for start, end in _found(fold(text), day)]
    except OverflowError:
        return []  # said in the first years of the calendar, of a time before it


def _found(folded: str, day: datetime) -> Iterator[tuple[datetime, datetime]]:
    for one in _TOLD.finditer(folded):
        group = {name: word for name, word in one.groupdict().items() if word}
        if word := group.get("back") or group.get("day") or group.get("day_zh"):
            yield _back(day, *_BACK[word])
        elif unit := group.get("two_back"):
            yield _back(day, unit, 2)
        elif count := group.get("count") or group.get("count_zh"):
            unit = _UNITS[group.get("unit") or group.get("unit_zh") or group["month_zh"]]
            number = _number(count)
            yield _about(day, number) if unit == "week" else _back(day, unit, number)
        elif last := group.get("last") or group.get("last_zh"):
            yield _back(day, _UNITS[last], len(group.get("upper", "上")))
        elif name := group.get("weekday"):
            yield _back(day, "day", (day.weekday() - _WEEKDAYS.index(name) - 1) % 7 + 1)


def _number(count: str) -> int:
    """A count up to 99 in digits, English or folded Chinese."""
    if count.isdecimal():
        return int(count)
    if "十" in count:
        tens, ones = count.split("十")
        return 10 * _HAN.get(tens, 1) + _HAN.get(ones, 0)
    one = _ROUGHLY.get(count) or _HAN.get(count)
    return one or sum(_TENS.get(word) or _TEENS.get(word) or _ONES[word] for word in re.split("[- ]", count))


def _back(day: datetime, unit: str, count: int) -> tuple[datetime, datetime]:
    """The calendar unit that lies `count` units before that of `day`."""
    if unit == "day":
        return day - count * _DAY, day - (count - 1) * _DAY
    monday = day - day.weekday() * _DAY - 7 * (count - 1) * _DAY
    if unit == "week":
        return monday - 7 * _DAY, monday
    if unit == "weekend":
        return monday - 2 * _DAY, monday
    if unit == "year":
        return _month(day.year - count, 0), _month(day.year - count + 1, 0)
    months = 12 * day.year + day.month - 1 - count
    return _month(0, months), _month(0, months + 1)


def _about(day: datetime, weeks: int) -> tuple[datetime, datetime]:
    """Seven days around the day so many weeks before: nobody counts them by the calendar."""
    middle = day - 7 * weeks * _DAY
    return middle - 3 * _DAY, middle + 4 * _DAY


def _month(years: int, months: int) -> datetime:
    year, month = divmod(12 * years + months, 12)
    if year < 1:
        raise OverflowError("a month before the calendar begins")
    return datetime(year, month + 1, 1, tzinfo=UTC)


class ToldAfterwards:
    """What one user's blocks with a time say of times before it."""

    def __init__(self) -> None:
        self._spans: dict[str, list[Span]] = {}

    def add(self, block: Block) -> None:
        """Read a block, from the moment at which it was said or, where nobody said, recorded."""
        if block.known_at is not None and (spans := spans_of(block.text, block.known_at)):
            self._spans[block.id] = spans

    def remove(self, block: Block) -> None:
        """Forget a block."""
        self._spans.pop(block.id, None)

    def of(self, start: float, end: float) -> list[str]:
        """Ids of the blocks that speak of some time in [start, end), in order of id."""
        found = [one for one, spans in self._spans.items() for since, until in spans if since < end and start < until]
        return sorted(set(found))
