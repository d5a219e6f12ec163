"""What matches of the Chinese rules mean at a local, naive now. Matches are folded: their characters are Simplified."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from memvault_router.domain.time import span as s
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
_YEAR_WORD = {"今": 0, "本": 0, "去": -1, "前": -2, "明": 1, "后": 2}
_ROC_OFFSET = 1911


def number(text: str) -> int:
    """Read a number up to 99, or digits of any length; `十二`, `二十`, `12`."""
    if text.isdigit():
        return int(text)
    if "十" in text:
        tens, _, ones = text.partition("十")
        return _DIGITS.get(tens, 1) * 10 + _DIGITS.get(ones, 0)
    return _DIGITS[text]


def _unit(text: str) -> str:
    if text[0] in "小钟":
        return "hour"
    if text in {"天", "日"}:
        return "day"
    if text == "年":
        return "year"
    return "month" if "月" in text else "week"


def _weekday(text: str) -> int:
    return "一二三四五六日".index("日" if text == "天" else text)


def _year(match: re.Match[str], now: datetime) -> int | None:
    groups = match.groupdict()
    if groups.get("roc"):
        return int(groups["roc"]) + _ROC_OFFSET
    if groups.get("year"):
        return int(groups["year"])
    return now.year + _YEAR_WORD[groups["word"]] if groups.get("word") else None


def read_date(match: re.Match[str], now: datetime) -> Span | None:
    """Read the match of a rule of this name."""
    month_number, day = number(match["month"]), number(match["day"])
    year_number = _year(match, now)
    found = s.latest_day(now, month_number, day) if year_number is None else s.real_date(year_number, month_number, day)
    if found is None:
        return None
    last = match.groupdict().get("last")
    if last is None:
        return s.days(found)
    length = number(last) - day
    return s.days(found, length + 1) if length >= 0 else None


def read_month(match: re.Match[str], now: datetime) -> Span:
    """Read the match of a rule of this name."""
    month_number = number(match["month"])
    year_number = _year(match, now)
    chosen = s.latest_month(now, month_number) if year_number is None else year_number
    third = match["third"]
    return s.month_part(chosen, month_number, _THIRD[third[0]]) if third else s.month(chosen, month_number)


def read_months(match: re.Match[str], now: datetime) -> Span | None:
    """Read the match of a rule of this name."""
    first, last = number(match["month"]), number(match["last"])
    if last < first:
        return None
    return s.month(_year(match, now) or s.latest_month(now, first), first, last - first + 1)


def read_shifted_month(match: re.Match[str], now: datetime) -> Span | None:
    """Read the match of a rule of this name."""
    shift = {"上": -1, "这": 0, "本": 0, "当": 0, "下": 1}[match["which"][0]] * len(match["which"])
    year_number, month_number = s.month_of(now.year, now.month, shift)
    if match["day"]:
        found = s.real_date(year_number, month_number, number(match["day"]))
        return s.days(found) if found else None
    third = match["third"]
    if third:
        return s.month_part(year_number, month_number, _THIRD[third[0]])
    return s.month(year_number, month_number)


def read_week(match: re.Match[str], now: datetime) -> Span:
    """Read the match of a rule of this name."""
    which = match["which"]
    shift = {"上": -1, "这": 0, "本": 0, "下": 1}[which[0]] * len(which.rstrip("一"))
    day = match["day"]
    if not day:
        return s.week(now.date(), shift)
    return s.weekend(now.date(), shift) if day == "末" else s.weekday_in(now.date(), shift, _weekday(day))


def read_weekday_alone(match: re.Match[str], now: datetime) -> Span:
    """Read the match of a rule of this name."""
    if match["day"] == "末":
        shift = 0 if now.weekday() >= s.DAYS_A_WEEK - 2 else -1
        return s.weekend(now.date(), shift).softened()
    return s.latest_weekday(now.date(), _weekday(match["day"]), before_today=False).softened()


def read_day_word(match: re.Match[str], now: datetime) -> Span:
    """Read the match of a rule of this name."""
    shift = {"今": 0, "昨": -1, "前": -2, "大": -3, "明": 1, "后": 2}[match["which"][0]]
    day = now.date() + timedelta(days=shift)
    return s.day_part(day, _PART[match["part"][0]]) if match["part"] else s.days(day)


def read_year_part(match: re.Match[str], now: datetime) -> Span | None:
    """Read the match of a rule of this name."""
    chosen = _year(match, now)
    part = match["part"]
    if chosen is None:
        return None
    if part and part[0] in "初底末中":
        return s.month(chosen, {"初": 1, "中": 6}.get(part[0], 11), 2).softened()
    return s.year(chosen)


def read_this_year_part(match: re.Match[str], now: datetime) -> Span:
    """Read the match of a rule of this name."""
    return s.month(now.year, {"初": 1, "中": 6, "底": 11}[match["part"]], 2).softened()


def read_half(match: re.Match[str], now: datetime) -> Span:
    """Read the match of a rule of this name."""
    return s.month(_year(match, now) or now.year, 1 if match["half"] == "上" else 7, 6)


def read_quarter(match: re.Match[str], now: datetime) -> Span:
    """Read the match of a rule of this name."""
    which = number(match["which"])
    chosen = _year(match, now) or (now.year if 3 * which - 2 <= now.month else now.year - 1)
    return s.quarter(chosen, which)


def read_this_month_part(match: re.Match[str], now: datetime) -> Span:
    """Read the match of a rule of this name."""
    return s.month_part(now.year, now.month, _THIRD[match["third"]])


def read_near_quarter(match: re.Match[str], now: datetime) -> Span:
    """Read the match of a rule of this name."""
    index = now.year * 4 + (now.month - 1) // 3 + {"上": -1, "下": 1}.get(match["which"], 0)
    return s.quarter(index // 4, index % 4 + 1)


def read_season(match: re.Match[str], now: datetime) -> Span | None:
    """Read the match of a rule of this name."""
    chosen = _year(match, now)
    return None if chosen is None else s.season(chosen, _SEASON[match["season"]])


def read_ago(match: re.Match[str], now: datetime) -> Span:
    """Read the match of a rule of this name."""
    if match["half"]:
        return s.ago(now, 6, "month")
    return s.ago(now, number(match["count"]), _unit(match["unit"]))


def read_within(match: re.Match[str], now: datetime) -> Span:
    """Read the match of a rule of this name."""
    if match["half"]:
        return s.within(now, 6, "month")
    return s.within(now, number(match["count"]), _unit(match["unit"]))
