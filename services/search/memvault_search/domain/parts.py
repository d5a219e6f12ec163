"""The questions of a text that asks several things: each is looked for by itself (docs/decisions/0029).

"What is my sister's address? Also, when does the workshop begin?" lies between two answers as one vector and near
neither. And of "I have to water the plants. What I really want to know is: ..." only the end is a question. Read off
the words alone, without a language model.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from memvault.text import fold, search_tokens

_MARKS = "。！？!?；;….\n"
_CLOSING = "\"'”’」』）)"
_PAUSES = "，,、：:"
_BEGINS = rf"(?:[{_MARKS}][{_CLOSING}]*\s*)"
_REST = rf"[{_PAUSES}\s]*"


@dataclass(frozen=True, eq=False)
class PartWords:
    """Folded words, the content of `data/parts.toml`.

    `another_at_start` opens another question at the beginning of a sentence, `another` behind a comma too.
    `questions`: words of questions. `truly` with `asking` behind it ends an aside, and so does one of `announcing`
    behind a comma, or of `interrupts` at the beginning of a sentence.
    `leaning`: words that mean what the part before named.
    """

    another_at_start: Sequence[str]
    another: Sequence[str]
    questions: Sequence[str]
    truly: Sequence[str]
    asking: Sequence[str]
    announcing: Sequence[str]
    interrupts: Sequence[str]
    leaning: Sequence[str]

    @cached_property
    def opening(self) -> re.Pattern[str]:
        """The words that open another question, as group `words`, with the mark before them."""
        anywhere = rf"(?:{_BEGINS}|[{_PAUSES}]\s*){_any(self.another)}"
        begin = rf"{_BEGINS}{_any([*self.another, *self.another_at_start])}"
        return re.compile(rf"(?:{anywhere}|{begin}){_REST}")

    @cached_property
    def aside_ends(self) -> re.Pattern[str]:
        """The words with which an aside ends and the question proper begins."""
        within = rf"[^{_MARKS}{_PAUSES}]"
        said = rf"{_any(self.truly)}{within}{{0,12}}?{_any(self.asking)}(?:{within}{{0,6}}[{_PAUSES}]|\s+(?:is|was)\b)?"
        announced = rf"(?:{_BEGINS}|[{_PAUSES}]\s*){_any(self.announcing)}{within}{{0,4}}[{_PAUSES}]"
        broken_off = rf"{_BEGINS}(?:{_any(self.interrupts)}[{_PAUSES}]\s*)+"
        return re.compile(rf"(?:{said}|{announced}|{broken_off}){_REST}")

    @cached_property
    def question(self) -> re.Pattern[str]:
        """A word of a question."""
        return re.compile(_any(self.questions))

    @cached_property
    def leans(self) -> re.Pattern[str]:
        """A word that means something named before."""
        return re.compile(_any(self.leaning))


def _any(words: Iterable[str]) -> str:
    """A pattern of one of the words, the longest first; Latin ones are whole words."""
    longest_first = sorted(words, key=len, reverse=True)
    return (
        "(?:" + "|".join(rf"\b{re.escape(one)}\b" if one.isascii() else re.escape(one) for one in longest_first) + ")"
    )


def parts_of(text: str, words: PartWords, *, most: int, longest: int) -> tuple[str, ...]:
    """Return the questions of a text in order, at most `most`; none when it is to be asked as it is.

    One is returned when the text is an aside and a question. What is longer than `longest` characters is not read,
    and with `most` below 2 nothing is divided. A part that begins with "she" or "it" keeps the part before it.
    """
    if most < 2 or len(text) > longest:  # noqa: PLR2004 - fewer than two are no parts
        return ()
    folded = fold(text)
    if not (words.opening.search(folded) or words.aside_ends.search(folded)):
        return ()  # nearly every text; the rest costs several times as much
    segments = _standing(_Folded.of(text), words)
    parts: list[str] = []
    for segment in segments:
        part = _proper(segment, words)
        leans = bool(parts) and words.leans.search(re.split(rf"[{_PAUSES}{_MARKS}]", fold(part), maxsplit=1)[0])
        parts.append(f"{parts[-1]} {part}" if leans else part)
    if len(parts) > most:
        parts = [*parts[: most - 1], " ".join(parts[most - 1 :])]
    return tuple(parts) if len(parts) > 1 or parts[0] != segments[0].text else ()


@dataclass(frozen=True)
class _Folded:
    """A text and its folded form, character by character, so that places in the one are places in the other."""

    text: str
    folded: str
    places: tuple[int, ...]

    @classmethod
    def of(cls, text: str) -> _Folded:
        pieces = [fold(one) for one in text]
        places = [place for place, piece in enumerate(pieces) for _ in piece]
        return cls(text, "".join(pieces), (*places, len(text)))

    def cut(self, start: int, end: int) -> _Folded:
        """A stretch, by places of the folded form."""
        return _Folded.of(self.text[self.places[start] : self.places[end]].strip().rstrip(_PAUSES))


def _standing(whole: _Folded, words: PartWords) -> list[_Folded]:
    """The stretches between words that open another question; what asks nothing by itself stays with the one before."""
    starts, ends = [0], []
    for found in words.opening.finditer(whole.folded):
        mark = re.match(rf"(?:{_BEGINS}|[{_PAUSES}]\s*)", found.group())
        ends.append(found.start() + (mark.end() if mark else 0))
        starts.append(found.end())
    ends.append(len(whole.folded))
    kept: list[tuple[int, int]] = []
    for start, end in zip(starts, ends, strict=True):
        if kept and not (_asks(whole.cut(start, end), words) and _asks(whole.cut(*kept[-1]), words)):
            kept[-1] = (kept[-1][0], end)
        else:
            kept.append((start, end))
    return [whole.cut(*one) for one in kept]


def _proper(segment: _Folded, words: PartWords) -> str:
    """The question behind the last end of an aside, or the whole stretch: an aside is a sentence at least."""
    for found in reversed(list(words.aside_ends.finditer(segment.folded))):
        before, after = segment.folded[: found.start() + 1], segment.cut(found.end(), len(segment.folded))
        if any(mark in before for mark in _MARKS) and _asks(after, words):
            return after.text
    return segment.text


def _asks(stretch: _Folded, words: PartWords) -> bool:
    """Whether it holds a word of a question and one of content: "which ones?" alone finds nothing."""
    if not words.question.search(stretch.folded):
        return False
    return any(not words.question.search(token) for token in search_tokens(stretch.text))
