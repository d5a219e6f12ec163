"""What matches of the Chinese rules mean at a local, naive now. Matches are folded: their characters are Simplified."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from memvault_router.domain.time import amounts
from memvault_router.domain.time import span as s
from memvault_router.domain.time.amounts import Amount
from memvault_router.domain.time.holidays import Holidays
from memvault_router.domain.time.span import Span

_DIGITS = {"〇": 0, "零": 0, "一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9}
_SEASON = {"春": "spring", "夏": "summer", "秋": "autumn", "冬": "winter"}
_PART = {
    "早": "morning",
    "上": "morning",
    "中": "noon",
    "下": "afternoon",
    "傍": "evening",
    "晚": "evening",
    "夜": "night",
}
_THIRD = {"初": "early", "上": "early", "中": "mid", "底": "late", "末": "late", "下": "late"}
_YEAR_WORD = {"今": 0, "本": 0, "去": -1, "前": -2, "大前": -3, "明": 1, "后": 2, "大后": 3}
_DAY_WORD = {"今": 0, "昨": -1, "前": -2, "大前": -3, "明": 1, "后": 2, "大后": 3}
_NEAR_WORD = {"上": -1, "这": 0, "本": 0, "当": 0, "下": 1}
_UNIT = {
    "秒": "second",
    "分": "minute",
    "小": "hour",
    "钟": "hour",
    "天": "day",
    "日": "day",
    "周": "week",
    "星": "week",
    "礼": "week",
    "月": "month",
    "季": "quarter",
    "年": "year",
}
_ROC_OFFSET = 1911
_TWO_DIGITS = re.compile("[一二两三四五六七八九]{2}")
_NUMBER = re.compile("(?:[一二三四五六七八九两]百零?)?(?:[一二三四五六七八九]?十)?[一二三四五六七八九两]?")


def number(text: str) -> int:
    """Read a number up to 999; `十二`, `二十`, `一百零五`, `12`."""
    if text.isdigit():
        return int(text)
    hundreds, hundred, rest = text.rpartition("百")
    tens, ten, ones = rest.rpartition("十")
    return (
        (100 * _DIGITS[hundreds] if hundred else 0)
        + (10 * _DIGITS.get(tens.lstrip("零"), 1) if ten else 0)
        + (_DIGITS[ones.lstrip("零") or "零"] if ones else 0)
    )


def _amount(match: re.Match[str]) -> Amount | None:
    written, more = match["count"], match.groupdict().get("more") or ""
    bare = written.removesuffix("个半").removesuffix("个多").removesuffix("多")
    over, half = "多" in (written[-1], more), more == "半" or (written != bare and written.endswith("半"))
    if bare.endswith("十几"):
        bare, over = bare.removesuffix("几"), True
    if bare[-1] in "几数":
        return amounts.A_FEW
    if _TWO_DIGITS.fullmatch(bare):  # 兩三天: two or three
        low, high = (float(_DIGITS[digit]) for digit in bare)
        return Amount(low, high, loose=True) if low < high else None
    if bare != "半" and not bare[0].isdigit() and not _NUMBER.fullmatch(bare):
        return None
    count = 0.5 if bare == "半" else float(bare) if bare[0].isdigit() else float(number(bare))
    if over:  # 三個多月: three to four; 十多天: ten to nineteen
        return Amount(count, count + (0.25 if count < 1 else 1.0 if count % 10 else 9.0), loose=True)
    return amounts.exactly(count + (0.5 if half else 0.0))


def _unit(text: str) -> str:
    return _UNIT[text.lstrip("个")[0]]


def _near(which: str) -> int:
    """Read 上, 上上, 上一, 這, 下 and the like as a shift."""
    return _NEAR_WORD[which[0]] * len(which.rstrip("一"))


def _weekday(text: str) -> int:
    return "一二三四五六日".index("日" if text == "天" else text)


def _year(match: re.Match[str], now: datetime) -> int | None:
    groups = match.groupdict()
    if groups.get("roc"):
        return int(groups["roc"]) + _ROC_OFFSET
    written = groups.get("year") or groups.get("bare_year")
    if written:
        return int(written)
    return now.year + _YEAR_WORD[groups["word"]] if groups.get("word") else None


def read_date(match: re.Match[str], now: datetime) -> Span | None:
    """Read the match of a rule of this name."""
    month_number, day = number(match["month"]), number(match["day"])
    year_number = _year(match, now)
    found = s.latest_day(now, month_number, day) if year_number is None else s.real_date(year_number, month_number, day)
    last = match.groupdict().get("last")
    length = number(last) - day if last else 0
    if found is None or length < 0:
        return None
    return s.days(found, length + 1) if year_number else s.yearly(s.days(found, length + 1))


def read_month(match: re.Match[str], now: datetime) -> Span:
    """Read the match of a rule of this name."""
    month_number, year_number = number(match["month"]), _year(match, now)
    chosen, third = year_number or s.latest_month(now, month_number), match["third"]
    found = s.month_part(chosen, month_number, _THIRD[third[0]]) if third else s.month(chosen, month_number)
    return found if year_number else s.yearly(found)


def read_months(match: re.Match[str], now: datetime) -> Span | None:
    """Read the match of a rule of this name."""
    first, last = number(match["month"]), number(match["last"])
    if last < first:
        return None
    return s.month(_year(match, now) or s.latest_month(now, first), first, last - first + 1)


def read_shifted_month(match: re.Match[str], now: datetime) -> Span | None:
    """Read the match of a rule of this name."""
    year_number, month_number = s.month_of(now.year, now.month, _near(match["which"]))
    if match["day"]:
        found = s.real_date(year_number, month_number, number(match["day"]))
        return s.days(found) if found else None
    third = match["third"]
    if third:
        return s.month_part(year_number, month_number, _THIRD[third[0]])
    return s.month(year_number, month_number)


def read_nth(match: re.Match[str], now: datetime) -> Span | None:
    """Read the match of a rule of this name."""
    groups = match.groupdict()
    if groups.get("month"):
        month_number = number(groups["month"])
        year_number = _year(match, now) or s.latest_month(now, month_number)
    else:
        year_number, month_number = s.month_of(now.year, now.month, _near(match["which"]))
    nth = number(match["nth"]) if match["nth"] else -1
    part: str | int = "day" if match["part"] == "天" else "week"
    if match["weekday"]:
        part = "weekend" if match["weekday"] == "末" else _weekday(match["weekday"])
    return s.nth_of_month(year_number, month_number, part, nth)


def read_week(match: re.Match[str], now: datetime) -> Span:
    """Read the match of a rule of this name."""
    shift, day = _near(match["which"]), match["day"]
    if not day:
        return s.week(now.date(), shift)
    return s.weekend(now.date(), shift) if day == "末" else s.weekday_in(now.date(), shift, _weekday(day))


def read_weekdays(match: re.Match[str], now: datetime) -> Span | None:
    """Read the match of a rule of this name."""
    first, last = _weekday(match["day"]), _weekday(match["until"] or match["bare"])
    if first > last:
        return None
    return s.days(s.monday(now.date(), _near(match["which"])) + timedelta(days=first), last - first + 1)


def read_weekday_alone(match: re.Match[str], now: datetime) -> Span:
    """Read the match of a rule of this name."""
    if match["day"] == "末":
        return s.past_weekend(now).softened()
    return s.weekly(s.latest_weekday(now.date(), _weekday(match["day"]), before_today=False).softened())


def read_day_word(match: re.Match[str], now: datetime) -> Span:
    """Read the match of a rule of this name."""
    day = now.date() + timedelta(days=_DAY_WORD[match["which"]])
    return s.day_part(day, _PART[match["part"][0]]) if match["part"] else s.days(day)


def read_day_so_far(_: re.Match[str], now: datetime) -> Span:
    """Read the match of a rule of this name."""
    return s.days(now.date())


def read_year_part(match: re.Match[str], now: datetime) -> Span | None:
    """Read the match of a rule of this name."""
    chosen, part = _year(match, now), match["part"]
    if chosen is None:
        return None
    return s.year_part(chosen, _THIRD[part]) if part else s.year(chosen)


def read_this_year_part(match: re.Match[str], now: datetime) -> Span:
    """Read the match of a rule of this name."""
    return s.year_part(now.year, _THIRD[match["part"]])


def read_same_day(match: re.Match[str], now: datetime) -> Span | None:
    """Read the match of a rule of this name."""
    chosen = _year(match, now)
    return None if chosen is None else s.days(amounts.same_day(now, (now.year - chosen) * s.MONTHS))


def read_to_the_day(match: re.Match[str], now: datetime) -> Span | None:
    """Read the match of a rule of this name."""
    amount = _amount(match)
    return amounts.to_the_day(now, amount, _unit(match["unit"])) if amount else None


def read_same_day_of_month(match: re.Match[str], now: datetime) -> Span:
    """Read the match of a rule of this name."""
    return s.days(amounts.same_day(now, -_near(match["which"])))


def read_this_time(match: re.Match[str], now: datetime) -> Span | None:
    """Read the match of a rule of this name."""
    chosen = _year(match, now)
    return None if chosen is None else amounts.about_this_time(now, (now.year - chosen) * s.MONTHS)


def read_half(match: re.Match[str], now: datetime) -> Span:
    """Read the match of a rule of this name."""
    return s.month(_year(match, now) or now.year, 1 if match["half"] in "上前" else 7, 6)


def read_quarter(match: re.Match[str], now: datetime) -> Span:
    """Read the match of a rule of this name."""
    which = number(match["which"])
    chosen = _year(match, now)
    if chosen is not None:
        return s.quarter(chosen, which)
    return s.yearly(s.quarter(now.year if 3 * which - 2 <= now.month else now.year - 1, which))


def read_this_month_part(match: re.Match[str], now: datetime) -> Span:
    """Read the match of a rule of this name."""
    return s.month_part(now.year, now.month, _THIRD[match["third"]])


def read_near_quarter(match: re.Match[str], now: datetime) -> Span:
    """Read the match of a rule of this name."""
    return s.near_quarter(now, _near(match["which"]))


def read_season(match: re.Match[str], now: datetime) -> Span | None:
    """Read the match of a rule of this name."""
    chosen, season = _year(match, now), _SEASON[match["season"]]
    if chosen is not None:
        return s.season(chosen, season)
    amount = _amount(match) if match.groupdict().get("count") else amounts.exactly(1)
    return s.near_season(now, season, -amount.whole) if amount and amount.whole else None


def read_ago(match: re.Match[str], now: datetime) -> Span | None:
    """Read the match of a rule of this name."""
    amount = _amount(match)
    return amounts.ago(now, amount, _unit(match["unit"])) if amount else None


def read_within(match: re.Match[str], now: datetime) -> Span | None:
    """Read the match of a rule of this name."""
    amount = _amount(match)
    return amounts.within(now, amount, _unit(match["unit"])) if amount else None


def read_few_ago(match: re.Match[str], now: datetime) -> Span:
    """Read the match of a rule of this name."""
    return amounts.ago(now, amounts.A_FEW, _unit(match["unit"]))


def read_recent(match: re.Match[str], now: datetime) -> Span | None:
    """Read the match of a rule of this name."""
    return amounts.within(now, amounts.A_FEW, _unit(match["unit"]))


class HolidayNames:
    """Builder for festivals; groups: `holiday`, a year, `which` (the last one)."""

    def __init__(self, holidays: Holidays) -> None:
        self._holidays = holidays
        self.pattern = holidays.pattern_zh()

    def read(self, match: re.Match[str], now: datetime) -> Span | None:
        """Read the match of a rule of this name."""
        holiday, chosen = self._holidays.named(match["holiday"]), _year(match, now)
        if chosen is not None:
            return holiday.in_year(chosen + (0 if match["word"] else holiday.numbered_shift))
        if match["which"]:
            return holiday.counted(now, -1)
        return holiday.latest(now)
