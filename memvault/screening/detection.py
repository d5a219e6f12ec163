"""Finding what a stored text must not say, with offsets into the original."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from memvault.screening import views
from memvault.screening.rules import Rule, View, rule_set
from memvault.screening.views import TextView

_BETWEEN = "\0"
_APART = _BETWEEN * 3
"""Between texts that are read as one: longer than what may stand between the letters of a word that is spelled out."""
_MAX_NESTING = 2
"""Encodings inside encodings that are opened; deeper ones cannot be read by an agent at a glance either."""
_CACHED_LENGTH = 4096
_HARMLESS: set[str] = set()
"""Texts that no rule could object to; remembered, because the same memories answer again and again."""
_MOST_HARMLESS = 16_384
_SENTENCE_TAIL = re.compile(r"[^。！？!?\n]*?(?:[。！？!?]+|\.(?=\s|$)|(?=\n)|$)")
_LONGEST_TAIL = 300
_SMUGGLED = re.compile("[\U000e0020-\U000e007e](?<![\U0001f3f4\U000e0020-\U000e007e].)[\U000e0020-\U000e007e]{3,}")
_QUOTES = {"'": "'", '"': '"', "`": "`", "“": "”", "‘": "’", "「": "」", "『": "』", "《": "》", "«": "»", "„": "“"}
_LONGEST_QUOTE = 120
_MENTION_WINDOW = 90
_MENTION = re.compile(
    r"such as|phrases?|for example|e\.g\.|examples? of|known as|called|prompt.?injection|injections?\b|attack"
    r"|jailbreak(?:s|ing)?\b|detect|filters? (?:out|for)|looks? like|the words|the string|keywords?"
    r"|payloads?|say(?:s|ing)|例如|比如|像是|诸如|諸如|所謂|所谓|注入|攻擊|攻击|字串|字符串|句型|關鍵字|关键字|偵測|检测|檢測|之類|之类|這種|这种|這類|这类|掃描|扫描|檢查|检查|嘗試|尝试|"
    r"wie zum beispiel|par exemple|por ejemplo",
    re.IGNORECASE,
)


@dataclass(frozen=True, order=True)
class Hit:
    """A dangerous span.

    Attributes:
        start: Offset of its first character in the original text.
        end: Offset behind its last character.
        rule: Name of the rule.
    """

    start: int
    end: int
    rule: str


def scan(text: str) -> tuple[Hit, ...]:
    """Return all dangerous spans of `text` in order of their start; none means that no rule objects."""
    return _scan_cached(text) if len(text) <= _CACHED_LENGTH else _scan(text, 0)


def is_unsafe_for_injection(text: str) -> bool:
    """Say whether `text` carries an instruction that could steer the agent which reads it."""
    return bool(scan(text))


def suspects(texts: Iterable[str]) -> frozenset[str]:
    """Return those of `texts` that have to be scanned: to the others no rule could object.

    All are read as one, which takes less than half the time of scanning the many short texts of an answer one by one.
    """
    unknown = {text for text in texts if text not in _HARMLESS}
    found = {text for text in unknown if _BETWEEN in text}
    read = sorted(unknown - found)
    found |= _among(read) if read else set()
    if len(_HARMLESS) > _MOST_HARMLESS:
        _HARMLESS.clear()
    _HARMLESS.update(text for text in unknown - found if len(text) <= _CACHED_LENGTH)
    return frozenset(found)


def _among(read: Sequence[str]) -> set[str]:
    whole = _APART.join(read)
    plain = views.folded(whole)
    places = set(_places(whole, (match.start() for match in _SMUGGLED.finditer(whole))))
    places.update(_places(whole, (start for start, _, _ in views.decoded(whole))))
    places.update(_places(plain.text, views.spelled_at(plain)))
    readings = [plain.text, views.rotated(plain).text]
    if (undone := views.leet(plain)) is not None:
        readings.append(undone.text)
    places |= _matching("words", readings)
    places |= {len(read) - 1 - place for place in _matching("words", [views.reversed_(plain).text])}
    places |= _matching("raw", [plain.text])
    places |= _matching("compact", views.packed_texts(plain.text))
    return {read[place] for place in places}


def _matching(kind: View, readings: Sequence[str]) -> set[int]:
    """Return which of the joined texts a rule of this kind matches, mentions and all."""
    triggers = rule_set().triggers[kind]
    return {
        place
        for joined in readings
        for place, text in _places(joined, triggers.at(joined)).items()
        if any(rule.pattern.search(text) for rule in _triggered(kind, text))
    }


def _triggered(kind: View, text: str) -> Iterator[Rule]:
    """Yield the rules of a kind that a text holds a trigger of; most texts hold none."""
    return (rule for rule in rule_set().by_view.get(kind, ()) if any(map(text.__contains__, rule.triggers)))


def _places(joined: str, offsets: Iterable[int]) -> dict[int, str]:
    """Return the texts that hold one of the offsets, by their number among those that were joined."""
    places: dict[int, str] = {}
    begin = end = 0
    for at in offsets:
        if not begin <= at < end:
            begin, end = joined.rfind(_BETWEEN, 0, at) + 1, joined.find(_BETWEEN, at)
            end = len(joined) if end < 0 else end
            places[joined.count(_BETWEEN, 0, begin) // len(_APART)] = joined[begin:end]
    return places


@lru_cache(maxsize=4096)
def _scan_cached(text: str) -> tuple[Hit, ...]:
    return _scan(text, 0)


def _scan(text: str, nesting: int) -> tuple[Hit, ...]:
    hits = set(_plain_hits(text))
    hits |= {Hit(match.start(), match.end(), "smuggled.any") for match in _SMUGGLED.finditer(text)}
    if nesting < _MAX_NESTING:
        for start, end, content in views.decoded(text):
            hits |= {Hit(start, end, hit.rule) for hit in _scan(content, nesting + 1)}
    return tuple(sorted(hits))


def _plain_hits(text: str) -> Iterator[Hit]:
    plain = views.folded(text)
    readings = [plain, views.rotated(plain), views.reversed_(plain)]
    if (undone := views.leet(plain)) is not None:
        readings.append(undone)
    yield from _matches(text, readings, "words")
    yield from _matches(text, [plain], "raw")
    yield from _matches(text, [views.compact(plain), views.solid(plain)], "compact")
    yield from _matches(text, list(views.spelled(plain)), "letters")


def _matches(text: str, readings: Sequence[TextView], kind: View) -> Iterator[Hit]:
    rules = list(_triggered(kind, _BETWEEN.join(view.text for view in readings)))
    for view in readings:
        yield from _matches_of(text, view, rules)


def _matches_of(text: str, view: TextView, rules: Sequence[Rule]) -> Iterator[Hit]:
    for rule in rules:
        known: Hit | None = None
        for match in rule.pattern.finditer(view.text):
            start, end = view.span(match.start(), match.end())
            if known and known.start <= start and end <= known.end:
                continue  # a text that repeats itself must not take its length squared
            if not (rule.quotable and _only_mentioned(text, end - 1)):
                known = Hit(start, _extended(text, end, rule), rule.name)
                yield known


def _extended(text: str, end: int, rule: Rule) -> int:
    if rule.extent == "match":
        return end
    tail = _SENTENCE_TAIL.match(text, end, min(len(text), end + _LONGEST_TAIL))
    return tail.end() if tail else end


def _only_mentioned(text: str, at: int) -> bool:
    """Say whether `at` lies inside a short quotation that its surroundings talk about."""
    quotation = _quotation(text, at)
    if quotation is None:
        return False
    opened, closed = quotation
    around = text[max(0, opened - _MENTION_WINDOW) : opened] + " " + text[closed : closed + _MENTION_WINDOW]
    return _MENTION.search(around) is not None


def _quotation(text: str, at: int) -> tuple[int, int] | None:
    """Return start and end of the quotation, at most 120 characters long, in which `at` lies."""
    for opened in range(at, max(-1, at - _LONGEST_QUOTE), -1):
        if opened >= len(text) or text[opened] not in _QUOTES:
            continue
        if text[opened] == "'" and opened > 0 and text[opened - 1].isalnum():
            continue  # an apostrophe
        closed = text.find(_QUOTES[text[opened]], max(at, opened + 1), opened + _LONGEST_QUOTE)
        if closed > at:
            return opened, closed + 1
    return None
