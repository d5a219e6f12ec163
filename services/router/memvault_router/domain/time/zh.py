"""Chinese time expressions. Patterns are written in Traditional and folded, as the scanned text is."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from functools import lru_cache

from memvault.text import fold
from memvault_router.domain.time import span as s
from memvault_router.domain.time.loose import Vague, opened
from memvault_router.domain.time.rules import Build, TimeRule
from memvault_router.domain.time.span import Span, VagueNumbers

_DIGITS = {"〇": 0, "零": 0, "一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9}
_NUMBER = "[0-9]{1,3}|[一二兩三四五六七八九十]{1,3}"
_HAN = re.compile("[\u3400-\u9fff]+")
_YEAR = "(?<![0-9])(?:19|20)[0-9]{2}"
_MONTH = "(?<![0-9第個])(?:1[0-2]|0?[1-9])|(?<![一二三四五六七八九十第個每])(?:十[一二]?|[一二三四五六七八九])"
_DAY = "3[01]|[12][0-9]|0?[1-9]|三十一?|二十[一二三四五六七八九]?|十[一二三四五六七八九]?|[一二三四五六七八九]"
_WEEK = "(?:週|星期|禮拜)"
_NO_WEEK = "(?!邊|圍|到|密|全|遊|旋|折|長|章|刊|年|報|杰)"
_WEEKDAY = "[一二三四五六日天]"
_PAST_UNIT = "(?:小時|鐘頭|天|日|個?(?:星期|禮拜)|週|個月|年)"
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


_ANY_YEAR = rf"(?:民國(?P<roc>[0-9]{{2,3}})年|(?P<year>{_YEAR})\s*年|(?P<word>今|本|去|前|明|後)年(?!輕|紀|級|代))"


def _date(match: re.Match[str], now: datetime) -> Span | None:
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


def _month(match: re.Match[str], now: datetime) -> Span:
    month_number = number(match["month"])
    year_number = _year(match, now)
    chosen = s.latest_month(now, month_number) if year_number is None else year_number
    third = match["third"]
    return s.month_part(chosen, month_number, _THIRD[third[0]]) if third else s.month(chosen, month_number)


def _months(match: re.Match[str], now: datetime) -> Span | None:
    first, last = number(match["month"]), number(match["last"])
    if last < first:
        return None
    return s.month(_year(match, now) or s.latest_month(now, first), first, last - first + 1)


def _shifted_month(match: re.Match[str], now: datetime) -> Span | None:
    shift = {"上": -1, "这": 0, "本": 0, "当": 0, "下": 1}[match["which"][0]] * len(match["which"])
    year_number, month_number = s.month_of(now.year, now.month, shift)
    if match["day"]:
        found = s.real_date(year_number, month_number, number(match["day"]))
        return s.days(found) if found else None
    third = match["third"]
    if third:
        return s.month_part(year_number, month_number, _THIRD[third[0]])
    return s.month(year_number, month_number)


def _week(match: re.Match[str], now: datetime) -> Span:
    which = match["which"]
    shift = {"上": -1, "这": 0, "本": 0, "下": 1}[which[0]] * len(which.rstrip("一"))
    day = match["day"]
    if not day:
        return s.week(now.date(), shift)
    return s.weekend(now.date(), shift) if day == "末" else s.weekday_in(now.date(), shift, _weekday(day))


def _weekday_alone(match: re.Match[str], now: datetime) -> Span:
    if match["day"] == "末":
        shift = 0 if now.weekday() >= s.DAYS_A_WEEK - 2 else -1
        return s.weekend(now.date(), shift).softened()
    return s.latest_weekday(now.date(), _weekday(match["day"]), before_today=False).softened()


def _day_word(match: re.Match[str], now: datetime) -> Span:
    shift = {"今": 0, "昨": -1, "前": -2, "大": -3, "明": 1, "后": 2}[match["which"][0]]
    day = now.date() + timedelta(days=shift)
    return s.day_part(day, _PART[match["part"][0]]) if match["part"] else s.days(day)


def _year_part(match: re.Match[str], now: datetime) -> Span | None:
    chosen = _year(match, now)
    part = match["part"]
    if chosen is None:
        return None
    if part and part[0] in "初底末中":
        return s.month(chosen, {"初": 1, "中": 6}.get(part[0], 11), 2).softened()
    return s.year(chosen)


def _this_year_part(match: re.Match[str], now: datetime) -> Span:
    return s.month(now.year, {"初": 1, "中": 6, "底": 11}[match["part"]], 2).softened()


def _half(match: re.Match[str], now: datetime) -> Span:
    return s.month(_year(match, now) or now.year, 1 if match["half"] == "上" else 7, 6)


def _quarter(match: re.Match[str], now: datetime) -> Span:
    which = number(match["which"])
    chosen = _year(match, now) or (now.year if 3 * which - 2 <= now.month else now.year - 1)
    return s.quarter(chosen, which)


def _this_month_part(match: re.Match[str], now: datetime) -> Span:
    return s.month_part(now.year, now.month, _THIRD[match["third"]])


def _near_quarter(match: re.Match[str], now: datetime) -> Span:
    index = now.year * 4 + (now.month - 1) // 3 + {"上": -1, "下": 1}.get(match["which"], 0)
    return s.quarter(index // 4, index % 4 + 1)


def _season(match: re.Match[str], now: datetime) -> Span | None:
    chosen = _year(match, now)
    return None if chosen is None else s.season(chosen, _SEASON[match["season"]])


def _ago(match: re.Match[str], now: datetime) -> Span:
    if match["half"]:
        return s.ago(now, 6, "month")
    return s.ago(now, number(match["count"]), _unit(match["unit"]))


def _within(match: re.Match[str], now: datetime) -> Span:
    if match["half"]:
        return s.within(now, 6, "month")
    return s.within(now, number(match["count"]), _unit(match["unit"]))


@lru_cache(maxsize=4)
def rules(numbers: VagueNumbers) -> tuple[TimeRule, ...]:
    """Return the rules, specific before general."""
    pairs = [*_date_rules(), *_month_rules(), *_year_rules(), *_week_rules(), *_relative_rules(numbers), *_day_rules()]
    return tuple(TimeRule(re.compile(_HAN.sub(lambda han: fold(han.group(0)), text)), build) for text, build in pairs)


def _date_rules() -> list[tuple[str, Build]]:
    day = rf"(?P<day>{_DAY})(?:日|號|(?![0-9個天年月週位名次元萬塊點分層樓]))"
    iso = r"(?<![0-9a-z.-])(?P<year>(?:19|20)[0-9]{2})(?P<mark>[-/.])(?P<month>[0-9]{1,2})(?P=mark)(?P<day>[0-9]{1,2})(?![0-9a-z-])"
    slash = (
        r"(?<![0-9a-z/.-])(?P<month>1[0-2]|0?[1-9])/(?P<day>3[01]|[12][0-9]|0?[1-9])(?![0-9/%])(?=.*[\u4e00-\u9fff])"
    )
    date = rf"(?:{_ANY_YEAR}\s*的?)?(?P<month>{_MONTH})\s*月\s*{day}"
    return [
        (rf"{date}(?:到|至|~|-|–)(?P<last>{_DAY})(?:日|號)", _date),
        *_sided(date, _date),
        *_sided(iso, _date),
        (date, _date),
        (iso, _date),
        (slash, _date),
    ]


def _month_rules() -> list[tuple[str, Build]]:
    third = "(?P<third>上旬|中旬|下旬|初|中(?!學|心|國|文|部|央)|底(?!薪|部|下)|末)?"
    month = rf"(?:{_ANY_YEAR}\s*的?)?(?P<month>{_MONTH})\s*月(?:份)?{third}"
    near = rf"(?<![網線馬早晚以])(?P<which>上上|上|這|本|當|下下|下)個?月(?!台|球|亮|餅|考)的?(?:(?P<day>{_DAY})(?:號|日)|{third})"
    several = rf"(?:{_ANY_YEAR}\s*的?)?(?P<month>{_MONTH})月?(?:到|至|~|-|–)(?P<last>1[0-2]|[1-9]|十[一二]?|[一二三四五六七八九])月"
    return [
        (several, _months),
        *_sided(near, _shifted_month),
        *_sided(month, _month),
        (month, _month),
        (near, _shifted_month),
        (r"(?<![個年歲])月(?P<third>初|中|底(?!薪))(?!旬)", _this_month_part),
    ]


def _year_rules() -> list[tuple[str, Build]]:
    year = rf"{_ANY_YEAR}(?P<part>初|底(?!薪)|末|中(?!獎))?"
    quarter = "第(?P<which>[一二三四1-4])季"
    return [
        (rf"(?:{_ANY_YEAR}\s*的?)?(?<!前)(?P<half>上|下)半年", _half),
        (rf"(?:{_ANY_YEAR}\s*的?)?{quarter}", _quarter),
        (rf"{_ANY_YEAR}\s*的?q(?P<which>[1-4])(?![0-9a-z-])", _quarter),
        (r"(?P<which>上|這|本|下)一?個?季(?!節|風)度?", _near_quarter),
        (rf"{_ANY_YEAR}的?(?P<season>[春夏秋冬])(?:天|季)", _season),
        *_sided(year, _year_part),
        (year, _year_part),
        (r"(?<![0-9一二三四五六七八九十百半整幾多今去明前後週])年(?P<part>初|中(?!獎)|底(?!薪))", _this_year_part),
    ]


def _week_rules() -> list[tuple[str, Build]]:
    week = rf"(?<![網線馬早晚以])(?P<which>上上|上一|上|這一|這|本|下下|下一|下)個?{_WEEK}{_NO_WEEK}(?P<day>{_WEEKDAY}|末)?"
    return [*_sided(week, _week), (week, _week), (rf"(?<![每逢]){_WEEK}(?P<day>{_WEEKDAY}|末)", _weekday_alone)]


def _relative_rules(numbers: VagueNumbers) -> list[tuple[str, Build]]:
    amount = rf"(?:(?P<half>半年)|(?P<count>{_NUMBER})(?P<unit>{_PAST_UNIT}))"
    vague = Vague(numbers)
    return [
        ("前(?:幾|些)(?:天|日)|前(?:兩|二)(?:天|日)|那幾天", vague.other_day),
        ("(?:這|近)(?:幾|兩|些)(?:天|日)", vague.few_days),
        (rf"(?:過去|最近|近|前|這)的?{amount}(?:以來|來|內|裡|間)?(?!前)", _within),
        (rf"{amount}(?:以|之)?前(?!端|提|後|往|台|言|面|置)", _ago),
        ("前(?:陣子|一陣子|段時間|段日子|一段時間)|先前那陣子", vague.while_ago),
        ("剛剛|剛才|方才", vague.just_now),
        ("最近|近來|近期|這陣子|這段時間|這段日子|近日|日前|這一陣子", vague.recently),
    ]


def _day_rules() -> list[tuple[str, Build]]:
    which = "(?P<which>今|昨|大前|前|明|後)"
    return [
        (rf"{which}(?:天|日)的?(?P<part>早上|早晨|上午|中午|下午|傍晚|晚上|夜裡)", _day_word),
        ("(?P<which>今|昨|前|明)(?P<part>早(?!餐)|晚(?!餐|會|報)|夜)", _day_word),
        (rf"{which}(?:天|日)(?P<part>)", _day_word),
    ]


def _sided(pattern: str, inner: Build) -> list[tuple[str, Build]]:
    """Return the three open forms of a pattern: since it, after it, before it."""
    return [
        (rf"(?:從|自|打從)(?:{pattern})(?:到(?:現在|今|目前)|以來|開始|起)?", opened(inner, "since")),
        (rf"(?:{pattern})(?:以來|起|開始)", opened(inner, "since")),
        (rf"(?:{pattern})(?:之後|以後|過後)", opened(inner, "after")),
        (rf"(?:{pattern})(?:之前|以前)", opened(inner, "before")),
    ]
