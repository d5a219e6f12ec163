"""Segmentation of folded text into words."""

from __future__ import annotations

from functools import lru_cache
from typing import Protocol, cast

from memvault.text.folding import fold


class _Dictionary(Protocol):
    def cut(self, text: str) -> list[str]: ...

    def tag(self, text: str) -> list[tuple[str, str]]: ...


@lru_cache(maxsize=1)
def _dictionary() -> _Dictionary:
    import rjieba  # noqa: PLC0415 - reads its dictionary, 0.2 s that a process which cuts no text need not pay

    return cast(_Dictionary, rjieba)


def segment(text: str) -> list[str]:
    """Return the words of the folded text in order: Chinese by dictionary, other scripts by white space.

    Blanks are left out, punctuation stays as words of its own.
    """
    return cut(fold(text))


def cut(folded: str) -> list[str]:
    """Return the words of a text that is folded already; see `segment`."""
    return list(_words(folded))


@lru_cache(maxsize=256)
def _words(folded: str) -> tuple[str, ...]:
    """Words of a text; kept for a moment, because a question is cut by every step that reads its words."""
    return tuple(word for word in _dictionary().cut(folded) if not word.isspace())


def parts_of_speech(folded: str) -> list[tuple[str, str]]:
    """Return the words of a folded text, each with its part of speech in the letters of jieba: `n`, `nr`, `v`, ..."""
    return _dictionary().tag(folded)
