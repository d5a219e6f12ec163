"""Chinese time expressions. Patterns are written in Traditional and folded, as the scanned text is."""

from __future__ import annotations

import re
from functools import lru_cache

from memvault.text import fold
from memvault_router.domain.time import zh_meaning as m
from memvault_router.domain.time.loose import Vague, opened
from memvault_router.domain.time.rules import Build, TimeRule
from memvault_router.domain.time.span import VagueNumbers

_NUMBER = "[0-9]{1,3}|[一二兩三四五六七八九十]{1,3}"
_HAN = re.compile("[\u3400-\u9fff]+")
_YEAR = "(?<![0-9])(?:19|20)[0-9]{2}"
_MONTH = "(?<![0-9第個])(?:1[0-2]|0?[1-9])|(?<![一二三四五六七八九十第個每])(?:十[一二]?|[一二三四五六七八九])"
_DAY = "3[01]|[12][0-9]|0?[1-9]|三十一?|二十[一二三四五六七八九]?|十[一二三四五六七八九]?|[一二三四五六七八九]"
_WEEK = "(?:週|星期|禮拜)"
_NO_WEEK = "(?!邊|圍|到|密|全|遊|旋|折|長|章|刊|年|報|杰)"
_WEEKDAY = "[一二三四五六日天]"
_PAST_UNIT = "(?:小時|鐘頭|天|日|個?(?:星期|禮拜)|週|個月|年)"
_ANY_YEAR = rf"(?:民國(?P<roc>[0-9]{{2,3}})年|(?P<year>{_YEAR})\s*年|(?P<word>今|本|去|前|明|後)年(?!輕|紀|級|代))"


@lru_cache(maxsize=4)
def rules(numbers: VagueNumbers) -> tuple[TimeRule, ...]:
    """Return the rules, specific before general."""
    pairs = [*_date_rules(), *_month_rules(), *_year_rules(), *_week_rules(), *_relative_rules(numbers), *_day_rules()]
    return tuple(TimeRule(re.compile(_HAN.sub(lambda han: fold(han.group(0)), text)), build) for text, build in pairs)


def _date_rules() -> list[tuple[str, Build]]:
    day = rf"(?P<day>{_DAY})(?:日|號|(?![0-9個天年月週位名次元萬塊點分層樓]))"
    iso = (
        r"(?<![0-9a-z.-])(?P<year>(?:19|20)[0-9]{2})(?P<mark>[-/.])"
        r"(?P<month>[0-9]{1,2})(?P=mark)(?P<day>[0-9]{1,2})(?![0-9a-z-])"
    )
    slash = (
        r"(?<![0-9a-z/.-])(?P<month>1[0-2]|0?[1-9])/(?P<day>3[01]|[12][0-9]|0?[1-9])(?![0-9/%])(?=.*[\u4e00-\u9fff])"
    )
    date = rf"(?:{_ANY_YEAR}\s*的?)?(?P<month>{_MONTH})\s*月\s*{day}"
    return [
        (rf"{date}(?:到|至|~|-|–)(?P<last>{_DAY})(?:日|號)", m.read_date),
        *_sided(date, m.read_date),
        *_sided(iso, m.read_date),
        (date, m.read_date),
        (iso, m.read_date),
        (slash, m.read_date),
    ]


def _month_rules() -> list[tuple[str, Build]]:
    third = "(?P<third>上旬|中旬|下旬|初|中(?!學|心|國|文|部|央)|底(?!薪|部|下)|末)?"
    month = rf"(?:{_ANY_YEAR}\s*的?)?(?P<month>{_MONTH})\s*月(?:份)?{third}"
    near_which = "(?<![網線馬早晚以])(?P<which>上上|上|這|本|當|下下|下)"
    near = rf"{near_which}個?月(?!台|球|亮|餅|考)的?(?:(?P<day>{_DAY})(?:號|日)|{third})"
    last = "(?P<last>1[0-2]|[1-9]|十[一二]?|[一二三四五六七八九])"
    several = rf"(?:{_ANY_YEAR}\s*的?)?(?P<month>{_MONTH})月?(?:到|至|~|-|–){last}月"
    return [
        (several, m.read_months),
        *_sided(near, m.read_shifted_month),
        *_sided(month, m.read_month),
        (month, m.read_month),
        (near, m.read_shifted_month),
        (r"(?<![個年歲])月(?P<third>初|中|底(?!薪))(?!旬)", m.read_this_month_part),
    ]


def _year_rules() -> list[tuple[str, Build]]:
    year = rf"{_ANY_YEAR}(?P<part>初|底(?!薪)|末|中(?!獎))?"
    quarter = "第(?P<which>[一二三四1-4])季"
    return [
        (rf"(?:{_ANY_YEAR}\s*的?)?(?<!前)(?P<half>上|下)半年", m.read_half),
        (rf"(?:{_ANY_YEAR}\s*的?)?{quarter}", m.read_quarter),
        (rf"{_ANY_YEAR}\s*的?q(?P<which>[1-4])(?![0-9a-z-])", m.read_quarter),
        (r"(?P<which>上|這|本|下)一?個?季(?!節|風)度?", m.read_near_quarter),
        (rf"{_ANY_YEAR}的?(?P<season>[春夏秋冬])(?:天|季)", m.read_season),
        *_sided(year, m.read_year_part),
        (year, m.read_year_part),
        (
            r"(?<![0-9一二三四五六七八九十百半整幾多今去明前後週])年(?P<part>初|中(?!獎)|底(?!薪))",
            m.read_this_year_part,
        ),
    ]


def _week_rules() -> list[tuple[str, Build]]:
    which = "(?<![網線馬早晚以])(?P<which>上上|上一|上|這一|這|本|下下|下一|下)"
    week = rf"{which}個?{_WEEK}{_NO_WEEK}(?P<day>{_WEEKDAY}|末)?"
    return [
        *_sided(week, m.read_week),
        (week, m.read_week),
        (rf"(?<![每逢]){_WEEK}(?P<day>{_WEEKDAY}|末)", m.read_weekday_alone),
    ]


def _relative_rules(numbers: VagueNumbers) -> list[tuple[str, Build]]:
    amount = rf"(?:(?P<half>半年)|(?P<count>{_NUMBER})(?P<unit>{_PAST_UNIT}))"
    vague = Vague(numbers)
    return [
        ("前(?:幾|些)(?:天|日)|前(?:兩|二)(?:天|日)|那幾天", vague.other_day),
        ("(?:這|近)(?:幾|兩|些)(?:天|日)", vague.few_days),
        (rf"(?:過去|最近|近|前|這)的?{amount}(?:以來|來|內|裡|間)?(?!前)", m.read_within),
        (rf"{amount}(?:以|之)?前(?!端|提|後|往|台|言|面|置)", m.read_ago),
        ("前(?:陣子|一陣子|段時間|段日子|一段時間)|先前那陣子", vague.while_ago),
        ("剛剛|剛才|方才", vague.just_now),
        ("最近|近來|近期|這陣子|這段時間|這段日子|近日|日前|這一陣子", vague.recently),
    ]


def _day_rules() -> list[tuple[str, Build]]:
    which = "(?P<which>今|昨|大前|前|明|後)"
    return [
        (rf"{which}(?:天|日)的?(?P<part>早上|早晨|上午|中午|下午|傍晚|晚上|夜裡)", m.read_day_word),
        ("(?P<which>今|昨|前|明)(?P<part>早(?!餐)|晚(?!餐|會|報)|夜)", m.read_day_word),
        (rf"{which}(?:天|日)(?P<part>)", m.read_day_word),
    ]


def _sided(pattern: str, inner: Build) -> list[tuple[str, Build]]:
    """Return the three open forms of a pattern: since it, after it, before it."""
    return [
        (rf"(?:從|自|打從)(?:{pattern})(?:到(?:現在|今|目前)|以來|開始|起)?", opened(inner, "since")),
        (rf"(?:{pattern})(?:以來|起|開始)", opened(inner, "since")),
        (rf"(?:{pattern})(?:之後|以後|過後)", opened(inner, "after")),
        (rf"(?:{pattern})(?:之前|以前)", opened(inner, "before")),
    ]
