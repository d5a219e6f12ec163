"""R-54, the reading half: does an answer lie prepared for this question?

Similarity alone is unsafe: paraphrases that differ in one name, number, date or negation are near and ask for
something else. So a near entry counts only when everything of that kind in the question is covered as well.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

import numpy as np

from memvault.text import fold, search_tokens, segment
from memvault.text.folding import compatible
from memvault_router.domain.state import Vector
from memvault_router.domain.time.span import TimeExpression

SCHEMA = 1


@dataclass(frozen=True)
class NearNumbers:
    """When a near entry counts.

    Centred cosine of the questions at least `similarity`; ahead of the next entry by `margin`; at least
    `content_share` of the question's content words in the predicted question.
    """

    similarity: float
    margin: float
    content_share: float


@dataclass(frozen=True)
class Prepared:
    """A prepared answer as far as the router needs it.

    `texts` are the cards' texts. `distribution` is what the stored recall was classified as. `made_for` is the
    instant that the recall took as now. `payload` is the entry as stored, handed on untouched.
    """

    query: str
    query_hash: str
    conditions: str
    ruleset_version: str
    encoder_id: str
    intent: str
    confidence: float
    facet: str
    thinking_mode: str
    retrieval_mode: str
    texts: tuple[str, ...]
    expires_at: datetime
    made_for: datetime
    payload: bytes


@dataclass(frozen=True)
class IndexedQuestion:
    """A predicted question of a user: its hash and its centred unit vector."""

    query_hash: str
    vector: Vector


@dataclass(frozen=True)
class Match:
    """A prepared answer that fits: `kind` is `exact` or `near`, `similarity` the centred cosine, 1 for exact."""

    prepared: Prepared
    kind: str
    similarity: float


ReadTime = Callable[[str], TimeExpression | None]

_DIGITS = re.compile(r"\d+(?:[.:/-]\d+)*")
_HAN_NUMBER = re.compile(
    "[一二三四五六七八九十两]{1,3}(?=[个天年月周日号位次点元块楼章节页集]|小时|分钟|星期)|[一二三四五六七八九十百千万]{2,}"
)
_HAN_DIGIT = {"一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9}
_QUOTED = re.compile('[「『《"“]([^」』》"”]{1,40})[」』》"”]')
_LATIN = re.compile(r"[A-Za-z][\w.+#/-]*")
_HAN = re.compile("[\u3400-\u9fff]")
_ASKING_PAIRS = re.compile(
    "([要是有会能该好对行可])[不没]\\1?|了没|没有?呢|差不多|不错|不过|不好意思|不只|不仅|不但|无论|不管"
)
_NEGATION_ZH = re.compile("[不没未无别勿非]")
_NEGATION_EN = re.compile(
    r"\b(?:not|never|no|none|nobody|nothing|without|except|cannot|neither|nor)\b|n't\b", re.IGNORECASE
)


@dataclass(frozen=True)
class Circumstances:
    """Under which conditions a prepared answer may be used.

    Attributes:
        user_id: Who asks.
        conditions: Fingerprint of filters, profile and the like.
        now: The clock, by which entries expire.
        asked_for: The instant that the question takes as now; the clock's, but for an evaluation.
        apart: How far `made_for` of an entry may lie from `asked_for`.
    """

    user_id: str
    conditions: str
    now: datetime
    asked_for: datetime
    apart: timedelta


def usable(entry: Prepared, circumstances: Circumstances, ruleset_version: str) -> bool:
    """Say whether an entry may be used: made under the same filters, profile and rules, not expired, for this time.

    What was prepared from talk of long ago, read in only now, was answered as things stood then.
    """
    alike = entry.conditions == circumstances.conditions and entry.ruleset_version == ruleset_version
    at_the_time = abs(entry.made_for - circumstances.asked_for) <= circumstances.apart
    return alike and at_the_time and entry.expires_at > circumstances.now


def numbers_in(text: str) -> set[str]:
    """Return the numbers of a text, digits and Chinese numerals below 100 alike."""
    folded = fold(text)
    found = set(_DIGITS.findall(folded))
    for numeral in _HAN_NUMBER.findall(folded):
        found.add(_value(numeral))
    return found


def _value(numeral: str) -> str:
    if any(mark in numeral for mark in "百千万"):
        return numeral
    if "十" in numeral:
        tens, _, ones = numeral.partition("十")
        return str(_HAN_DIGIT.get(tens, 1) * 10 + _HAN_DIGIT.get(ones, 0))
    return str(_HAN_DIGIT[numeral]) if len(numeral) == 1 else numeral


def names_in(text: str) -> set[str]:
    """Return, folded, what must not be exchanged: quoted titles, codes, capitals, Latin words within Chinese."""
    wide = compatible(text).strip()
    names = {fold(quoted) for quoted in _QUOTED.findall(wide)}
    in_chinese = _HAN.search(wide) is not None
    for place, match in enumerate(_LATIN.finditer(wide)):
        word = match.group(0).rstrip(".-/")
        code = any(not letter.islower() for letter in word[1:])
        capital = word[0].isupper() and (place > 0 or match.start() > 0) and word != "I" and not word.startswith("I'")
        if code or capital or in_chinese:
            names.add(fold(word))
    return names


def negated(text: str) -> bool:
    """Say whether a question denies something; "要不要", "了沒" and their like only ask."""
    folded = fold(text)
    return bool(_NEGATION_ZH.search(_ASKING_PAIRS.sub("", folded)) or _NEGATION_EN.search(folded))


def _days(found: TimeExpression | None) -> tuple[date | None, date | None] | None:
    if found is None:
        return None
    return found.start.date() if found.start else None, found.end.date() if found.end else None


def _words_covered(question: str, known: str) -> bool:
    """Say whether every content word stands in `known`: a Chinese or lower-case name looks like any other word."""
    folded = fold(question)
    written = set(segment(folded))
    words = [token for token in search_tokens(question) if token in written or not _HAN.search(token)]
    tokens = set(search_tokens(known))
    return all(
        word in tokens or _HAN_NUMBER.match(word) is not None or (_HAN.search(word) is not None and word in known)
        for word in words
    )


def uncovered(question: str, entry: Prepared, read_time: ReadTime, content_share: float) -> str:
    """Return what of the question is not covered: `date`, `negation`, `number`, `name`, `content`, or nothing.

    Dates and negations must agree with the predicted question. Numbers, names and all other content words may also
    stand in its cards.
    """
    if _days(read_time(question)) != _days(read_time(entry.query)):
        return "date"
    if negated(question) != negated(entry.query):
        return "negation"
    known = fold(" ".join([entry.query, *entry.texts]))
    if not numbers_in(question) <= numbers_in(known):
        return "number"
    if any(name not in known for name in names_in(question)) or not _words_covered(question, known):
        return "name"
    asked, predicted = set(search_tokens(question)), set(search_tokens(entry.query))
    if asked and len(asked & predicted) < content_share * len(asked):
        return "content"
    return ""


def nearest(
    vector: Vector, index: Sequence[IndexedQuestion], numbers: NearNumbers
) -> tuple[IndexedQuestion, float] | None:
    """Return the predicted question that is near enough and clear of the next one, with its similarity.

    Args:
        vector: Centred unit vector of the question.
        index: Live predicted questions of the same user and encoder.
        numbers: Thresholds.
    """
    ranked = sorted(
        ((float(np.dot(entry.vector, vector)), entry) for entry in index if entry.vector.shape == vector.shape),
        key=lambda item: (-item[0], item[1].query_hash),
    )
    if not ranked or ranked[0][0] < numbers.similarity:
        return None
    if len(ranked) > 1 and ranked[0][0] - ranked[1][0] < numbers.margin:
        return None
    return ranked[0][1], ranked[0][0]


def why_not(question: str, facet: str, entry: Prepared, read_time: ReadTime, numbers: NearNumbers) -> str:
    """Return why a near entry may not serve the question; empty: it may.

    A prepared answer of another facet was searched and ordered differently, so it does not serve.
    """
    if entry.facet != facet:
        return "facet"
    return uncovered(question, entry, read_time, numbers.content_share)
