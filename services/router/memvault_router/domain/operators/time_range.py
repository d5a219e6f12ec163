"""R-07: time expressions become a range in the user's time zone, given in UTC."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from typing import Any

from memvault.ops import changed
from memvault.text import fold
from memvault.text.folding import compatible
from memvault_router.domain.operators.excerpt import both_ends
from memvault_router.domain.state import Question
from memvault_router.domain.time import en, zh
from memvault_router.domain.time.holidays import Holidays, parse_holidays
from memvault_router.domain.time.numeric import OPEN, DayOrder, parse_day_order
from memvault_router.domain.time.rules import MASK, Found, masked, scan, spoken
from memvault_router.domain.time.sides import joined, sided
from memvault_router.domain.time.span import TimeExpression, VagueNumbers, hull, instants

_HAN = re.compile("[\u3400-\u9fff]+")
# "上週那個 X", "last week's X thing", "the X from last week": the time tells which X, the answer may lie elsewhere.
_POINTS_AT_ZH = re.compile(r"\s*的?\s*(?:那|这)(?:个|件|份|场|次|篇|张|本|位|家|些|只|台|段|则)")
_POINTS_AT_EN = re.compile(r"(?:'s|’s)\s")
_FROM_EN = re.compile(r"\b(?:from|of)\s+(?:\w+\s+)?$", re.IGNORECASE)
_THING_EN = re.compile(r"\b(?:thing|stuff|one|idea|project|task|issue|topic|ticket|bug)\b", re.IGNORECASE)

_CLAUSE_END = re.compile(r"[，,；;。！？!?…\n]+|\.(?=\s|$)")
# The speaker tells what happened: "我昨天画了一辆车，你想看吗", "I painted a car yesterday, do you like it?"
_TELLS = re.compile(
    r"我[^，。]*[了过]|\bi\s+(?:\w+ed|saw|went|got|had|made|did|met|bought|ate|read|drew|found|lost|won|took|heard)\b",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[。！？!?…\n]+|\.(?=\s|$)")
# Folded Chinese and English words that ask or tell to look.
_ASKS = re.compile(
    "[?？]|什么|怎么|怎样|哪|谁|吗|呢|多少|几|为何|提醒|告诉|帮我|找|列|查|看看|回顾|整理|总结|说说|"
    r"\b(?:what|when|where|who|whose|which|how|why|remind|tell|show|find|list|give|recall|recap|summari[sz]e|look)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class TimeWords:
    """What of reading times is data: festivals, where 03/04 is in March, what only looks like a time and is blanked.

    Look-alikes are one pattern for folded text, one for text in lower case, one for text with its case.
    """

    holidays: Holidays
    day_order: DayOrder
    folded: re.Pattern[str]
    lower: re.Pattern[str]
    cased: re.Pattern[str]


def parse_time_words(
    day_order: Mapping[str, Any], holidays: Mapping[str, Any], lookalikes: Mapping[str, Any]
) -> TimeWords:
    """Read the lists `zh` (folded), `en` (any case) and `exact` (case matters) of look-alikes, and the other two."""
    folded = "|".join(_HAN.sub(lambda han: fold(han.group(0)), pattern) for pattern in lookalikes["zh"])
    return TimeWords(
        parse_holidays(holidays),
        parse_day_order(day_order),
        re.compile(folded),
        re.compile(rf"\b(?:{'|'.join(lookalikes['en'])})"),
        re.compile("|".join(lookalikes["exact"])),
    )


def read_time(text: str, now: datetime, zone: tzinfo, words: TimeWords, numbers: VagueNumbers) -> TimeExpression | None:
    """Return the time that a question speaks of, or None.

    Several expressions become the range around them; those about the future give way to those about the past,
    because a memory of a plan was written before it. A time in a sentence that only tells something ("I painted a car
    yesterday. Which colours go together?") says when that was, not when the answer was written: it never filters.

    Args:
        text: The question as understood.
        now: Aware; its local calendar day is "today".
        zone: The user's time zone.
        words: Festivals, and what only looks like a time.
        numbers: What vague words mean.
    """
    local = now.astimezone(zone).replace(tzinfo=None)
    hits = _hits(text, local, words, numbers, zone)
    past = [hit for hit in hits if not hit.found.span.after_now(local)]
    chosen = past or hits
    if not chosen:
        return None
    whole = hull([instants(hit.found.span, local, zone) for hit in chosen])
    definite = whole.explicit and bool(past) and not all(_told(hit.found, hit.context) for hit in chosen)
    return TimeExpression(
        text=" … ".join(hit.text for hit in chosen),
        start=whole.start,
        end=whole.end,
        explicit=definite and not any(hit.pointing for hit in chosen),
        definite=definite,
    )


def _hits(text: str, local: datetime, words: TimeWords, numbers: VagueNumbers, zone: tzinfo) -> list[_Hit]:
    """Return the expressions of both languages in the order of the text."""
    cased, folded = compatible(text), fold(text)
    order = words.day_order.of(zone) if "/" in folded else OPEN
    chinese = spoken(zh.families(numbers, words.holidays, order), folded)
    english = spoken(en.families(numbers, words.holidays), folded if cased.isascii() else cased.lower())
    if not chinese and not english:
        return []
    blank_zh = masked(folded if folded.isascii() else masked(folded, words.folded), words.lower)
    blank_en = masked(cased, words.cased)
    if len(cased) != len(folded):  # offsets differ, so neither language knows of the other's
        lower = cased.lower()
        if len(lower) == len(cased):
            blank_en = _blanked_where(masked(lower, words.lower), blank_en)
        found_zh, found_en = scan(blank_zh, chinese, local), scan(blank_en, english, local)
        read = [(_together(found_zh, folded, local), folded, folded), (_together(found_en, cased, local), cased, cased)]
    else:
        found_zh = scan(_blanked_where(blank_en, blank_zh), chinese, local)
        blank_en = _blanked_where(blank_zh, blank_en)
        for hit in found_zh:
            blank_en = blank_en[: hit.start] + MASK * (hit.end - hit.start) + blank_en[hit.end :]
        every = sorted([*found_zh, *scan(blank_en, english, local)], key=lambda hit: hit.start)
        read = [(_together(every, folded, local), cased, folded)]
    return [_Hit(hit, source, context) for found, source, context in read for hit in found]


def _blanked_where(other: str, text: str) -> str:
    """Return the text, blanked where the other one, of the same length, is."""
    if MASK not in other:
        return text
    return "".join(MASK if blank == MASK else letter for blank, letter in zip(other, text, strict=True))


def _together(found: list[Found], text: str, local: datetime) -> list[Found]:
    return joined([sided(hit, text, local) for hit in found], text)


@dataclass(frozen=True)
class _Hit:
    """An expression, the text to show it from, and the text, folded where offsets allow, to judge it by."""

    found: Found
    source: str
    context: str

    @property
    def text(self) -> str:
        return self.source[self.found.start : self.found.end].strip()

    @property
    def pointing(self) -> bool:
        """Whether it only tells which thing is meant."""
        return _points_zh(self.found, self.context) or _points_en(self.found, self.context)


def _told(hit: Found, text: str) -> bool:
    """Whether the expression stands in a sentence, or in a telling clause, that asks nothing beside another one."""
    clause = _silent_part(hit, text, _CLAUSE_END)
    return _silent_part(hit, text, _SENTENCE_END) is not None or (
        clause is not None and _TELLS.search(clause) is not None
    )


def _silent_part(hit: Found, text: str, border: re.Pattern[str]) -> str | None:
    """Return the part around the expression if it is not all there is and asks nothing."""
    ends = list(border.finditer(text))
    begin = max((end.end() for end in ends if end.end() <= hit.start), default=0)
    finish = min((end.end() for end in ends if end.start() >= hit.end), default=len(text))
    alone = not any(letter.isalnum() for letter in text[:begin] + text[finish:])
    return None if alone or _ASKS.search(text[begin:finish]) else text[begin:finish]


def _points_zh(hit: Found, folded: str) -> bool:
    return _POINTS_AT_ZH.match(folded, hit.end) is not None


def _points_en(hit: Found, text: str) -> bool:
    if _POINTS_AT_EN.match(text, hit.end):
        return True
    from_when = _FROM_EN.search(text[: hit.start]) or re.match(r"(?:from|of)\b", text[hit.start :], re.IGNORECASE)
    return from_when is not None and _THING_EN.search(text[: hit.start]) is not None


@dataclass(frozen=True)
class TimeRange:
    """Find the time range of the question as understood."""

    words: TimeWords
    numbers: VagueNumbers
    read_chars: int
    name: str = "time_range"

    def __call__(self, state: Question) -> Question:
        """Fill `time`; with `time_filter` switched off the range only moves scores."""
        text = both_ends(state.completed or state.query, self.read_chars)
        found = read_time(text, state.now, state.zone, self.words, self.numbers)
        if found is not None and "time_filter" in state.off:
            found = replace(found, explicit=False, definite=False)
        return changed(state, time=found)
