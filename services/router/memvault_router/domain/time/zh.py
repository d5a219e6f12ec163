"""Chinese time expressions. Patterns are written in Traditional and folded, as the scanned text is."""

from __future__ import annotations

import re
from functools import lru_cache

from memvault.text import fold
from memvault_router.domain.time import numeric
from memvault_router.domain.time import zh_meaning as m
from memvault_router.domain.time.holidays import Holidays
from memvault_router.domain.time.loose import Vague
from memvault_router.domain.time.rules import Build, Family, TimeRule
from memvault_router.domain.time.span import VagueNumbers

_HAN = re.compile("[\u3400-\u9fff]+")
_YEAR = "(?<![0-9])(?:19|20)[0-9]{2}"
_MONTH = "(?<![0-9第個])(?:1[0-2]|0?[1-9])|(?<![一二三四五六七八九十第個每])(?:十[一二]?|[一二三四五六七八九])"
_DAY = "3[01]|[12][0-9]|0?[1-9]|三十一?|二十[一二三四五六七八九]?|十[一二三四五六七八九]?|[一二三四五六七八九]"
_WEEK = "(?:週|星期|禮拜)"
_NO_WEEK = "(?!邊|圍|到(?![今昨前明後這本上下現目週])|密|全|遊|旋|折|長|章|刊|年|報|杰|期(?!中|末))"
_WEEKDAY = "[一二三四五六日天]"
# The lookbehinds keep out 過去+年, 目前+年, 版本+年 and the like.
_BEFORE_YEAR = (
    "今|(?<![這日基版資成樣])本|(?<!(?<![不經超通透])過)(?<!失)去|大前|(?<![之以目先提生])前|明|大後|(?<![之以最])後"
)
_WORD = f"(?P<word>{_BEFORE_YEAR})年(?!輕|紀|級|代|鑑)"
_ANY_YEAR = rf"(?:民國(?P<roc>[0-9]{{2,3}})年|(?P<year>{_YEAR})\s*年|{_WORD})"
_OF_YEAR = rf"(?:{_ANY_YEAR}\s*的?)?"
# 上 and 下 end other words (網上, 以下), and verbs before a number (加上一週, 剩下一個月), 本 ends 版本.
_NOT_AFTER = "(?<![網線馬早晚以])"
_LAST, _NEXT, _THIS = "上{1,3}|(?<![加配算])上一", "下{1,2}|(?<![剩留放停寫])下一", "這|(?<![這基版資成樣])本"
_NEAR_MONTH = f"{_NOT_AFTER}(?P<which>{_LAST}|{_THIS}|當|{_NEXT})個?月(?!台|球|亮|餅|考|刊|曆|票|卡)"
# How many of what: 三天, 一個半月, 半小時, 兩三週, 幾年, 十幾天, 三個多月, 一年半.
_COUNT = (
    "(?<![0-9.第十百千幾數])(?:[0-9]{1,3}(?:\\.5)?|[零一二兩三四五六七八九十百]{1,5}|半|好?幾|數)"
    "(?:個半|個多|(?<=十)幾|多)?"
)
_UNIT = "(?:秒鐘?|分鐘?|(?<=[半多])月|個?小時|個?鐘頭|個?(?:星期|禮拜)|個月|個?季度|天|日|週|季|年)"
_AMOUNT = f"(?P<count>{_COUNT})\\s*(?P<unit>{_UNIT})(?P<more>半(?!年)|多)?"

_SAME_DAY = "的?(?:今天|今日|同一天)"


@lru_cache(maxsize=12)
def families(numbers: VagueNumbers, holidays: Holidays, order: str) -> tuple[Family, ...]:
    """Return the rules, specific before general; `order` is how the user's zone writes dates in digits."""
    return (
        _family(tuple(holidays.zh), _holiday_rules(m.HolidayNames(holidays))),
        _family(("月",), _date_rules()),
        _family(("/", "-", "."), numeric.patterns(order)),
        _family(("月",), _month_rules()),
        _family(("年", "季", "春", "夏", "秋", "冬"), _year_rules()),
        _family(("週", "星期", "禮拜"), _week_rules()),
        _family(("前", "近", "這", "過去", "那"), _relative_rules(Vague(numbers))),
        _family(("前", "近", "這", "剛", "方才", "稍早", "早些"), _vague_rules(Vague(numbers))),
        _family(("天", "日", "早", "晚", "夜"), _day_rules()),
    )


def _family(words: tuple[str, ...], pairs: list[tuple[str, Build]]) -> Family:
    return Family(
        tuple(fold(word) for word in words),
        tuple(TimeRule(re.compile(_HAN.sub(lambda han: fold(han.group(0)), text)), build) for text, build in pairs),
    )


def _holiday_rules(names: m.HolidayNames) -> list[tuple[str, Build]]:
    year = rf"(?:{_ANY_YEAR}|(?P<bare_year>{_YEAR})|(?P<which>上)一?[個次])?\s*的?"
    return [(rf"{year}(?P<holiday>{names.pattern})", names.read)]


def _date_rules() -> list[tuple[str, Build]]:
    day = rf"(?P<day>{_DAY})(?:日|號|(?![0-9個天年月週位名次元萬塊點分層樓]))"
    weekday = rf"(?:\s*[(]?{_WEEK}?{_WEEKDAY}[)]|{_WEEK}{_WEEKDAY})?"
    date = rf"{_OF_YEAR}(?P<month>{_MONTH})\s*月\s*{day}"
    return [
        (rf"{date}(?:到|至|~|-|–)(?P<last>{_DAY})(?:日|號)", m.read_date),
        (rf"{date}{weekday}", m.read_date),
    ]


def _month_rules() -> list[tuple[str, Build]]:
    third = "(?P<third>上旬|中旬|下旬|初|中(?!學|心|國|文|部|央|秋)|底(?!薪|部|下)|末)?"
    month = rf"{_OF_YEAR}(?P<month>{_MONTH})\s*月(?:份)?"
    last = "(?P<last>1[0-2]|[1-9]|十[一二]?|[一二三四五六七八九])"
    nth = rf"的?(?:第(?P<nth>[一二三四五1-5])個?|最後一?個?)(?P<part>天|{_WEEK}(?P<weekday>{_WEEKDAY}|末)?)"
    return [
        (rf"{_OF_YEAR}(?P<month>{_MONTH})月?(?:到|至|~|-|–){last}月", m.read_months),
        (rf"{month}{nth}", m.read_nth),
        (rf"{_NEAR_MONTH}{nth}", m.read_nth),
        (rf"{_NEAR_MONTH}{_SAME_DAY}", m.read_same_day_of_month),
        (rf"{month}{third}", m.read_month),
        (rf"{_NEAR_MONTH}的?(?:(?P<day>{_DAY})(?:號|日)|{third})", m.read_shifted_month),
        (
            r"(?<![個年歲明新滿蜜花殘圓江秋海水正臘])月(?P<third>初|中(?!秋|天)|底(?!薪|撈))(?!旬)",
            m.read_this_month_part,
        ),
    ]


def _year_rules() -> list[tuple[str, Build]]:
    quarter = "第(?P<which>[一二三四1-4])季(?!節)"
    this_time = "的?(?:這個時候|這時候|此時|這時)"
    return [
        (rf"{_ANY_YEAR}{_SAME_DAY}", m.read_same_day),
        (rf"{_ANY_YEAR}{this_time}", m.read_this_time),
        (rf"{_ANY_YEAR}\s*的?(?P<half>[上下前後])半年", m.read_half),
        (r"(?<!前)(?P<half>[上下])半年", m.read_half),
        (rf"{_OF_YEAR}{quarter}", m.read_quarter),
        (rf"{_ANY_YEAR}\s*的?q(?P<which>[1-4])(?![0-9a-z-])", m.read_quarter),
        (r"(?P<which>上{1,2}|上一|這|這一|本|下|下一)個?季(?!節|風)度?", m.read_near_quarter),
        (
            rf"(?:{_ANY_YEAR}|(?P<bare_year>{_YEAR}))\s*的?(?P<season>[春夏秋冬])(?:天|季|(?![\u3400-\u9fff]))",
            m.read_season,
        ),
        (r"(?P<which>上)一?個(?P<season>[春夏秋冬])(?:天|季)", m.read_season),
        (rf"(?P<count>{_COUNT})個(?P<season>[春夏秋冬])(?:天|季)(?:以|之)?前", m.read_season),
        (rf"{_ANY_YEAR}(?P<part>初|底(?!薪)|末|中(?!獎|秋))?", m.read_year_part),
        (
            r"(?<![0-9一二三四五六七八九十百半整幾多今去明前後週])年(?P<part>初|中(?!獎|秋)|底(?!薪))",
            m.read_this_year_part,
        ),
    ]


def _week_rules() -> list[tuple[str, Build]]:
    which = f"{_NOT_AFTER}(?P<which>{_LAST}|{_THIS}|這一|{_NEXT})"
    # without 週 before it the second may count something: 上週三到一家店, 上週五到三點
    last = rf"(?:{_WEEK}(?P<until>{_WEEKDAY})|(?P<bare>{_WEEKDAY})(?=$|[\s，。、！？,.!?的做我有]))"
    return [
        (rf"{which}個?{_WEEK}的?從?{_WEEK}?(?P<day>{_WEEKDAY})\s*(?:到|至|[~–-])\s*{last}", m.read_weekdays),
        (rf"{which}個?{_WEEK}{_NO_WEEK}(?P<day>{_WEEKDAY}|末)?", m.read_week),
        (rf"(?<![每逢]){_WEEK}(?P<day>{_WEEKDAY}|末)", m.read_weekday_alone),
    ]


def _relative_rules(vague: Vague) -> list[tuple[str, Build]]:
    return [
        ("前(?:幾|些)(?:天|日)|前(?:兩|二)(?:天|日)|那幾天", vague.other_day),
        ("(?:這|最?近)(?:幾|兩|些)(?:天|日)", vague.few_days),
        (rf"(?:過去|最近|近|前(?![幾數]|.{{1,3}}季)|這)的?{_AMOUNT}(?:以來|來|內|裡|間)?(?!前)", m.read_within),
        # not 「事變前數小時」, which counts back from something else
        (
            r"(?<![^\s，。、！？,.!?我你他她們在是的了得跟和])前[幾數](?P<unit>個?星期|個?禮拜|週|個月|年)",
            m.read_few_ago,
        ),
        ("(?<![附靠接最鄰])近(?P<unit>年|月)來?(?!底|初|中|輕|紀|級|份|薪|齡)", m.read_recent),
        (rf"{_AMOUNT}(?:以|之)?前{_SAME_DAY}", m.read_to_the_day),
        (rf"{_AMOUNT}(?:以|之)?前(?!端|提|後|往|台|言|面|置)", m.read_ago),
    ]


def _vague_rules(vague: Vague) -> list[tuple[str, Build]]:
    return [
        ("前(?:陣子|一陣子|段時間|段日子|一段時間)|先前那陣子", vague.while_ago),
        ("剛剛|剛才|方才", vague.just_now),
        ("今[天日]的?(?:稍早|早些時候)", m.read_day_so_far),
        ("(?:稍早|早些時候)(?:[之以]?前)?", vague.earlier),
        ("最近|近來|近期|這陣子|這段時間|這段日子|近日|日前|這一陣子", vague.recently),
    ]


def _day_rules() -> list[tuple[str, Build]]:
    which = "(?P<which>今|昨|大前|(?<![目以之先提事生])前|明|大後|(?<![之最以])後)"
    return [
        (rf"{which}(?:天|日)的?(?P<part>早上|早晨|上午|中午|下午|傍晚|晚上|夜裡)", m.read_day_word),
        ("(?P<which>今|昨|前|明)(?P<part>早(?!餐)|晚(?!餐|會|報)|夜)", m.read_day_word),
        (rf"{which}(?:天|日)(?P<part>)", m.read_day_word),
    ]
