"""Names in what was said: quoted titles, codes, people, places."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memvault.screening import PLACEHOLDER
from memvault.text import fold, is_chinese
from memvault.text.segmentation import parts_of_speech
from memvault.text.tokens import stop_words

_QUOTED = re.compile(r"[「『《“\"]([^「」『』《》“”\"\n]{2,40})[」』》”\"]")
_LATIN_IN_CHINESE = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:[-_.+#/][A-Za-z0-9\u4e00-\u9fff]+)*(?:\s[A-Z][A-Za-z0-9]*)*")
_CODE = re.compile(r"\b(?=[\w.-]*\d)(?=[\w.-]*[A-Za-z])[A-Za-z0-9]+(?:[-_.][A-Za-z0-9]+)*\b")
_CAPITALISED = re.compile(r"(?<![.!?]\s)(?<!^)\b[A-Z][\w-]+(?:\s[A-Z][\w-]+)*")
_DOTTED = re.compile(r"[\u4e00-\u9fff]{1,8}(?:[·・][\u4e00-\u9fff]{1,8})+")
_PLACE = "ns"
_SHORT = 2  # characters
_GAP = "\n；\n"
"""Stands where a memory that was quoted is redacted: the line breaks end a title, the mark between them a name."""
_NAME_TAGS = frozenset({"nr", "nrt", "nrfg", "ns", "nt", "nz"})


def _proper_nouns(text: str) -> Iterator[tuple[int, str]]:
    """Yield Chinese names of people, places and organisations with their places in `text`.

    The dictionary knows Simplified words; a text that folding makes longer or shorter has no places to map back to.
    """
    folded = fold(text)
    if len(folded) != len(text):
        return
    start = 0
    for word, tag in parts_of_speech(folded):
        if tag in _NAME_TAGS and len(word) > 1 and not word.isascii():
            yield start, text[start : start + len(word)]
        start += len(word)


def names_in(text: str) -> tuple[str, ...]:
    """Return quoted titles, codes and names in `text`, in order of appearance, each once."""
    text = text.replace(PLACEHOLDER, _GAP)
    patterns = (_QUOTED, _LATIN_IN_CHINESE, _DOTTED) if is_chinese(text) else (_QUOTED, _CODE, _CAPITALISED)
    found = list(_proper_nouns(text)) if is_chinese(text) else []
    for pattern in patterns:
        for match in pattern.finditer(text):
            name = match.group(match.lastindex or 0).strip()
            if len(name) > 1 and name.lower() not in stop_words("en"):
                found.append((match.start(), name))
    whole = {name for _, name in found}
    parts = {name for name in whole if any(name != other and name in other for other in whole)}
    return tuple(dict.fromkeys(name for _, name in sorted(found) if name not in parts))


def titles_in(text: str) -> tuple[str, ...]:
    """Return what is quoted, and names of several parts: what a talk is about is mostly named so in Chinese."""
    text = text.replace(PLACEHOLDER, _GAP)
    if not is_chinese(text):
        return ()
    found = [(match.start(), match.group(1)) for match in _QUOTED.finditer(text)]
    found += [(match.start(), match.group(0)) for match in _DOTTED.finditer(text)]
    return tuple(dict.fromkeys(name for _, name in sorted(found)))


def tells_little(name: str) -> bool:
    """Return whether a name is that of a country or a large city, which is rarely what a talk is about."""
    return is_chinese(name) and len(name) <= _SHORT and any(tag == _PLACE for _, tag in parts_of_speech(fold(name)))
