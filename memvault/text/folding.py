"""Folding: one spelling for texts that a reader takes for the same."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

import opencc

HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff\u3005\u3007"
"""Character class body of the Han characters, with the iteration mark and the circle zero."""

_HAN = re.compile(f"[{HAN}]")
_LATIN_WORD = re.compile(r"[A-Za-z\u00c0-\u024f]+")
_SURROGATE = re.compile("[\ud800-\udfff]")
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff]",
)
_CHINESE_SHARE = 0.5


@lru_cache(maxsize=1)
def _to_simplified() -> opencc.OpenCC:
    return opencc.OpenCC("t2s")


def without_surrogates(text: str) -> str:
    """Return `text` with each lone surrogate replaced by U+FFFD, so that it can be encoded."""
    return _SURROGATE.sub("\ufffd", text) if _SURROGATE.search(text) else text


def compatible(text: str) -> str:
    """Return `text` in NFKC (full width becomes half width) without invisible characters; case and script stay."""
    return unicodedata.normalize("NFKC", _INVISIBLE.sub("", without_surrogates(text)))


def simplified(text: str) -> str:
    """Return `text` with Traditional characters replaced by Simplified ones."""
    return _to_simplified().convert(text) if _HAN.search(text) else text


@lru_cache(maxsize=4096)
def _fold_cached(text: str) -> str:
    return _fold(text)


def _fold(text: str) -> str:
    return simplified(unicodedata.normalize("NFKC", compatible(text).casefold()))


_CACHED_LENGTH = 256
"""Characters up to which a folded text is remembered: names and queries repeat, long texts do not."""


def fold(text: str) -> str:
    """Fold width, case, invisible characters and Traditional script, for matching only.

    Lengths may change, so offsets into the result do not point into the original.
    """
    return _fold_cached(text) if len(text) <= _CACHED_LENGTH else _fold(text)


def is_chinese(text: str) -> bool:
    """Say whether `text` reads as Chinese: at least half of its Han characters and Latin words are Han characters."""
    han = len(_HAN.findall(text))
    return han > 0 and han >= _CHINESE_SHARE * (han + len(_LATIN_WORD.findall(text)))
