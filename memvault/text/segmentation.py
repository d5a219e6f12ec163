"""Segmentation of folded text into words."""

from __future__ import annotations

import rjieba

from memvault.text.folding import fold


def segment(text: str) -> list[str]:
    """Return the words of the folded text in order: Chinese by dictionary, other scripts by white space.

    Blanks are left out, punctuation stays as words of its own.
    """
    return cut(fold(text))


def cut(folded: str) -> list[str]:
    """Return the words of a text that is folded already; see `segment`."""
    return [word for word in rjieba.cut(folded) if not word.isspace()]
