"""When two close texts are two statements after all: they differ in a number, code, name or negation.

"The printer is at 10.0.0.5" and "... 10.0.0.8" have nearly the same vector and are two facts (R-13, R-60a).
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from memvault.text import fold
from memvault.text.segmentation import parts_of_speech
from memvault.text.tokens import stop_words

_CODE = re.compile(r"[a-z0-9_#@.:/\\+-]*[0-9][a-z0-9_#@.:/\\+%-]*")
_CAPITALISED = re.compile(r"\b[A-Z][A-Za-z]+\b|\b[A-Z]\b")
_LATIN = re.compile(r"[A-Za-z]+(?:['\u2019][a-z]+)?")
_NUMERAL = re.compile(r"[零〇一二三四五六七八九十百千万亿两半]+")
_NUMBER_WORD = re.compile(
    r"(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|hundred|thousand"
    r"|first|second|third|half|double|twice|am|pm)\Z"
)
_NEGATIONS_EN = frozenset({"no", "not", "never", "none", "nobody", "nothing", "neither", "nor", "without", "cannot"})
_NEGATIONS_ZH = frozenset(["别", "勿", "无", "非", "未", "否"])
_NEGATING = ("不", "没", "未")
_NOT_NEGATING = frozenset(["不过", "不但", "不仅", "不管", "不论", "不错", "未来", "不断", "不久", "不禁", "不妨"])
_NAME_TAGS = ("nr", "ns", "nt", "nz")
_NUMBER_TAGS = ("m", "t")


def tell_apart(left: str, right: str) -> bool:
    """Return whether the texts differ in a number, a code, a name or a negation."""
    if left == right:
        return False
    mine, theirs = marks(left), marks(right)
    if mine != theirs:
        return True
    words = _lower_words(left) | _lower_words(right)
    return _names(left, words) != _names(right, words)


@lru_cache(maxsize=4096)
def marks(text: str) -> tuple[frozenset[str], frozenset[str], int]:
    """Return the codes and numbers, the Chinese names, and the number of negations of `text`."""
    folded = fold(text)
    codes = {code.strip(".:/\\-+") for code in _CODE.findall(folded)}
    latin = [word.replace("\u2019", "'").lower() for word in _LATIN.findall(folded)]
    codes.update(word for word in latin if _NUMBER_WORD.match(word))
    negations = sum(word in _NEGATIONS_EN or word.endswith("n't") for word in latin)
    names: set[str] = set()
    for word, tag in parts_of_speech(folded):
        if tag.startswith(_NAME_TAGS) and not word.isascii():
            names.add(word)
        if tag.startswith(_NUMBER_TAGS):
            codes.update(_NUMERAL.findall(word))
        negations += _negates(word)
    return frozenset(codes), frozenset(names), negations


def _negates(word: str) -> bool:
    if word in _NOT_NEGATING:
        return False
    return word in _NEGATIONS_ZH or word.startswith(_NEGATING)


def _lower_words(text: str) -> frozenset[str]:
    return frozenset(word for word in _LATIN.findall(text) if word.islower())


def _names(text: str, lower_words: frozenset[str]) -> frozenset[str]:
    """Return capitalised words, except those that only begin a sentence: common or also seen in lower case."""
    found = _CAPITALISED.findall(unicodedata.normalize("NFKC", text))
    common = stop_words("en") | lower_words
    return frozenset(word.lower() for word in found if word.lower() not in common)
