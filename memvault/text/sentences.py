"""Sentences of Chinese, English and mixed text."""

from __future__ import annotations

import re

_ABBREVIATIONS = frozenset(
    {"mr", "mrs", "ms", "dr", "prof", "sr", "jr", "st", "vs", "etc", "e.g", "i.e", "eg", "ie", "al", "fig", "no", "vol"}
    | {"dept", "inc", "ltd", "co", "approx", "est", "a.m", "p.m", "u.s", "u.k"},
)
_CLOSING = "\"'”’」』）)】》］\\]"
_END = re.compile(
    rf"(?:[。！？；…]+|[!?]+(?=[\s{_CLOSING}]|$)|[!?]+(?=[\u3400-\u9fff])|\.+(?=[{_CLOSING}]*(?:\s|$)))[{_CLOSING}]*|\n+",
)
_LAST_WORD = re.compile(r"[\w.]+\Z")
_LIST_MARK = re.compile(r"\s*\d{1,3}\Z")


def sentences(text: str) -> list[str]:
    """Return the sentences in order, each a stripped, non-empty piece of `text` with its closing punctuation.

    A full stop inside a number, version, address or common abbreviation does not end one; a line break does.
    """
    pieces, start = [], 0
    for end in _END.finditer(text):
        if end.group().startswith(".") and _no_end(text[start : end.start()]):
            continue
        pieces.append(text[start : end.end()])
        start = end.end()
    pieces.append(text[start:])
    return [piece.strip() for piece in pieces if piece.strip()]


def _no_end(before: str) -> bool:
    word = _LAST_WORD.search(before)
    if word is None:
        return False
    last = word.group().lower()
    initial = len(last) == 1 and last.isascii() and last.isalpha() and last != "i"
    return initial or last in _ABBREVIATIONS or _LIST_MARK.match(before) is not None
