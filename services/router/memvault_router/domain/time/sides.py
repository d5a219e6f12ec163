"""Words beside an expression that open its range to one side, or join it with the next one.

"since X", 「從 X 開始」 begin with it, "after X", 「X 之後」 when it is over; "before X", 「X 之前」 end where it
begins. "X to Y", 「X 到 Y」 reach from the one to the other. Words of each language stand around expressions of both.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from memvault.text import fold
from memvault_router.domain.time.rules import Found
from memvault_router.domain.time.span import Span

SINCE, AFTER, BEFORE = "since", "after", "before"
# "the week before X", 「X 的前一天」 are next to it and not open.
NEXT_BEFORE, NEXT_AFTER = "next before", "next after"
_HAN = re.compile("[\u3400-\u9fff]+")


@dataclass(frozen=True)
class Side:
    """Which side is open, and the words before and after an expression that say so; None: there need be none.

    `loose` words may belong to what stands beside them, so that they only move scores.
    """

    kind: str
    before: re.Pattern[str] | None
    after: re.Pattern[str] | None
    loose: bool = False


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(_HAN.sub(lambda han: fold(han.group(0)), text), re.IGNORECASE)


def _side(kind: str, before: str, after: str, *, loose: bool = False) -> Side:
    return Side(
        kind,
        _pattern(rf"(?:{before})\s*(?:(?:about|around|the)\s+)*$") if before else None,
        _pattern(rf"\s*(?:{after})") if after else None,
        loose,
    )


_UP_TO_NOW = "到(?:現在|今|目前)"
_ON = "起(?![床來身飛初因源薪點訴草火跑司伏碼重立義名價步死疑舞得不了過霧風雨大早晚個家見哄爭衝])"
_UNIT = r"\b(?:the\s+)?(?P<unit>day|night|week|month|year)\s+"
_UNIT_ZH = "(?:一個?)?(?P<unit>天|日|晚|週|星期|禮拜|月|年)"
_DAY = timedelta(days=1)
_UNIT_DAYS = {
    "day": 1, "night": 1, "week": 7, "month": 30, "year": 365,
    "天": 1, "日": 1, "晚": 1, "周": 7, "星期": 7, "礼拜": 7, "月": 30, "年": 365,
}  # fmt: skip
SIDES = (
    _side(NEXT_BEFORE, rf"{_UNIT}before", ""),
    _side(NEXT_AFTER, rf"{_UNIT}after", ""),
    _side(NEXT_BEFORE, "", f"的?前(?=一){_UNIT_ZH}"),
    _side(NEXT_AFTER, "", f"的?(?:後(?=一)|隔){_UNIT_ZH}"),
    _side(SINCE, r"\b(?:ever\s+)?since", ""),
    _side(SINCE, r"\b(?:starting|beginning) from", ""),
    _side(SINCE, r"\bfrom", r"(?:onwards?|until now|till now|on(?=\s*(?:$|[,.;:?!])))\b"),
    _side(SINCE, "打從|自從|從|(?<![來各獨親出])自", rf"{_UP_TO_NOW}|以來|開始|{_ON}|(?!的)"),
    _side(SINCE, "", rf"以來|開始|一直{_UP_TO_NOW}|{_UP_TO_NOW}|{_ON}"),
    _side(AFTER, r"\bafter", ""),
    _side(AFTER, "", "之後|以後|過後"),
    _side(BEFORE, r"\b(?:before|until|till|prior to)", ""),
    _side(BEFORE, "", "之前|以前"),
    _side(BEFORE, "", "前(?![前後端提往台言面置進途景鋒任夫妻半幾兩一二三四五六七八九十百0-9])", loose=True),
    _side(AFTER, "", "後(?![來續面天日年悔端台半遺果勤輩院宮備期段製座門代方人])", loose=True),
)
_REACH = 40
"""Characters before an expression in which its words stand."""
# "March to May" ends by itself. "Before the end of March" ends where March does.
_SPANS = _pattern(r"到|至|\b(?:to|through|and)\b")
_TO_ITS_END = _pattern(r"底|(?<!週)末|\bend\b")
_ONLY_WEEKDAY = _pattern("(?:週|星期|禮拜)[一二三四五六日天]|(?:mon|tues|wednes|thurs|fri|satur|sun)days?")
_TO = _pattern(r"\s*(?:一?直?(?:到|至)|[~–-]|to|until|till|through|and until)\s*(?:the\s+)?")


@dataclass(frozen=True)
class Sided:
    """An expression with the words at its sides: what `inner` means alone, and `found` with them."""

    inner: Found
    found: Found


def sided(hit: Found, text: str, now: datetime) -> Sided:
    """Return the expression with the range that the words at its sides leave open.

    Args:
        hit: The expression alone.
        text: The text that holds it, folded.
        now: Local and naive.
    """
    reach = max(0, hit.start - _REACH)
    head, own = text[reach : hit.start], text[hit.start : hit.end]
    for side in SIDES:
        before = side.before.search(head) if side.before else None
        after = side.after.match(text, hit.end) if side.after else None
        if (side.before and not before) or (side.after and not after) or (side.kind == SINCE and _SPANS.search(own)):
            continue
        unit = next((match["unit"] for match in (before, after) if match and "unit" in match.groupdict()), "")
        span = _beside(hit.span, side.kind, unit) if unit else _opened(hit.span, side, own, now)
        if span is not None:
            start = reach + before.start() if before else hit.start
            return Sided(hit, Found(start, after.end() if after else hit.end, span))
    return Sided(hit, hit)


def _opened(span: Span, side: Side, own: str, now: datetime) -> Span:
    explicit = span.explicit and not side.loose and not span.after_now(now)
    if side.kind != BEFORE:
        later = side.kind == AFTER and not span.either
        return replace(span, start=span.end if later else span.start, end=None, explicit=explicit)
    begin, end = span.start, span.end
    if span.coming and begin and end and span.coming - now < now - end:
        # said of what is to come: on a day in November "before December" is not before the last one
        begin, end = span.coming, span.coming + (end - begin)
    return replace(span, start=None, end=end if span.either or _TO_ITS_END.search(own) else begin, explicit=explicit)


def _beside(span: Span, kind: str, unit: str) -> Span | None:
    """Return the day, week, month or year right before or after a span; only days and weeks have one length."""
    if span.start is None or span.end is None:
        return None
    length = timedelta(days=_UNIT_DAYS[unit.lower()])
    explicit = span.explicit and length.days <= _UNIT_DAYS["week"]
    # "Christmas" is read as three days, one of them is meant
    loose = timedelta(days=0 if span.explicit or span.end - span.start == _DAY else 1)
    if kind == NEXT_BEFORE:
        return Span(span.start - length, span.start + loose, explicit)
    return Span(span.end - loose, span.end + length, explicit)


def joined(hits: Sequence[Sided], text: str) -> list[Found]:
    """Return the expressions, two with "to" between them as one that reaches from the first to the second."""
    found: list[Found] = []
    last: Sided | None = None
    for hit in hits:
        if found and hit.inner.start < found[-1].end:
            continue  # its words stand beside the one before it: 「聖誕節的前一天」
        whole = _from_to(last, hit, text) if last and _TO.fullmatch(text, last.inner.end, hit.inner.start) else None
        found[-1:] = [whole] if whole else [*found[-1:], hit.found]
        last = None if whole else hit
    return found


def _from_to(first: Sided, second: Sided, text: str) -> Found | None:
    one, two = first.inner.span, second.inner.span
    if one.start is None or two.start is None or two.end is None or one.elapsed != two.elapsed:
        return None
    end, same_week = two.end, _ONLY_WEEKDAY.fullmatch(text, second.inner.start, second.inner.end)
    if same_week:  # the next one from there on
        end = one.start + (two.start - one.start) % timedelta(days=7) + (two.end - two.start)
    if one.start >= end:
        return None
    span = replace(one, end=end, explicit=one.explicit and (two.explicit or same_week is not None))
    return Found(first.found.start, second.found.end, span)
