"""Extractive summaries: the sentences of a text that say most, about a question when there is one (R-30, R-42)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from memvault.text.folding import is_chinese
from memvault.text.sentences import sentences
from memvault.text.tokens import search_tokens

ELLIPSIS = "…"
_LEAD_WEIGHT = 0.35
_QUERY_WEIGHT = 2.0
_LEAD_DECAY = 4.0
"""Sentences after which the lead's advantage has fallen to 1/e."""
_LEAST_PIECE = 24
"""Characters below which the beginning of a sentence tells too little."""
_REDUNDANT = 0.7
"""Share of a sentence's tokens already told from which it is left out."""


@dataclass(frozen=True)
class _Sentence:
    position: int
    text: str
    tokens: frozenset[str]
    chinese: bool


def extractive_summary(text: str, max_chars: int, query: str | None = None) -> str:
    """Return at most `max_chars` characters of `text`: its best sentences in their order, gaps marked by an ellipsis.

    A sentence is worth the mean centrality of its tokens, more near the beginning, and much more for each token of
    `query` in proportion to how rare that token is in the text. A text that fits comes back stripped and whole.

    Raises ValueError if `max_chars` is below 1.
    """
    if max_chars < 1:
        message = f"max_chars must be at least 1, not {max_chars}"
        raise ValueError(message)
    stripped = text.strip()
    if len(stripped) <= max_chars:
        return stripped
    ranked = _ranked(stripped, query or "")
    chosen = _choose(ranked, max_chars)
    if not chosen:
        return _clipped(ranked[0].text, max_chars)
    return _joined(_filled(chosen, ranked, max_chars), len(ranked))


@lru_cache(maxsize=256)
def _ranked(text: str, query: str) -> tuple[_Sentence, ...]:
    """Return the sentences, best first; remembered, because packing asks for several lengths of one text."""
    read = _read(text)
    total, wanted = len(read.sentences), sorted(_tokens_of(query) & read.spread.keys())
    rarity = {token: math.log1p(total / read.spread[token]) for token in wanted}
    full = sum(rarity.values())

    def worth(sentence: _Sentence) -> float:
        answered = sum(rare for token, rare in rarity.items() if token in sentence.tokens)
        return read.worth[sentence.position] + (_QUERY_WEIGHT * answered / full if full else 0.0)

    return tuple(sorted(read.sentences, key=lambda sentence: (-worth(sentence), sentence.position)))


@lru_cache(maxsize=64)
def _tokens_of(query: str) -> frozenset[str]:
    return frozenset(search_tokens(query)) if query else frozenset()


@dataclass(frozen=True)
class _Read:
    """A text's sentences in order, in how many each token stands, and what each sentence is worth to no question."""

    sentences: tuple[_Sentence, ...]
    spread: Mapping[str, int]
    worth: tuple[float, ...]


@lru_cache(maxsize=1024)
def _read(text: str) -> _Read:
    """Read a text; remembered, because a conversation brings the same texts up again and again."""
    read = ((i, s, frozenset(search_tokens(s))) for i, s in enumerate(sentences(text)))
    found = tuple(_Sentence(i, s, tokens, is_chinese(s)) for i, s, tokens in read)
    spread = Counter(token for sentence in found for token in sentence.tokens)
    return _Read(found, spread, tuple(_worth(sentence, spread, len(found)) for sentence in found))


def _worth(sentence: _Sentence, spread: Mapping[str, int], total: int) -> float:
    if not sentence.tokens:
        return 0.0
    central = sum(spread[token] for token in sentence.tokens) / (len(sentence.tokens) * total)
    return central + _LEAD_WEIGHT * math.exp(-sentence.position / _LEAD_DECAY)


def _choose(ranked: Sequence[_Sentence], max_chars: int) -> list[_Sentence]:
    """Take the best sentences that fit, in their order; what only repeats comes last."""
    chosen: list[_Sentence] = []
    told: frozenset[str] = frozenset()
    repeating: list[_Sentence] = []
    for sentence in ranked:
        known = len(sentence.tokens & told) / len(sentence.tokens) if sentence.tokens else 1.0
        if chosen and known >= _REDUNDANT:
            repeating.append(sentence)
            continue
        with_it = _with(chosen, sentence, len(ranked), max_chars)
        if with_it is not chosen:
            chosen = with_it
            told |= sentence.tokens
    for sentence in repeating:
        chosen = _with(chosen, sentence, len(ranked), max_chars)
    return chosen


def _with(chosen: list[_Sentence], sentence: _Sentence, total: int, max_chars: int) -> list[_Sentence]:
    """Return the sentences with one more if that fits, otherwise the same list."""
    if sum(len(one.text) for one in chosen) + len(sentence.text) > max_chars:
        return chosen
    attempt = sorted([*chosen, sentence], key=lambda s: s.position)
    return attempt if len(_joined(attempt, total)) <= max_chars else chosen


def _filled(chosen: list[_Sentence], ranked: Sequence[_Sentence], max_chars: int) -> list[_Sentence]:
    """Add the beginning of the best sentence that did not fit whole, if there is room for something worth reading."""
    positions = {sentence.position for sentence in chosen}
    rest = next((s for s in ranked if s.position not in positions and len(s.text) >= _LEAST_PIECE), None)
    room = max_chars - len(_joined(chosen, len(ranked))) - 2 * len(ELLIPSIS)
    if rest is None or room < _LEAST_PIECE:
        return chosen
    piece = _Sentence(rest.position, _clipped(rest.text, room), rest.tokens, rest.chinese)
    filled = sorted([*chosen, piece], key=lambda s: s.position)
    return filled if len(_joined(filled, len(ranked))) <= max_chars else chosen


def _joined(chosen: Sequence[_Sentence], total: int) -> str:
    parts: list[str] = []
    previous: _Sentence | None = None
    for sentence in chosen:
        if sentence.position > (previous.position if previous else -1) + 1:
            parts.append(ELLIPSIS)
        elif previous and not (previous.chinese and sentence.chinese):
            parts.append(" ")
        parts.append(sentence.text)
        previous = sentence
    if previous is None or previous.position < total - 1:
        parts.append(ELLIPSIS)
    return "".join(parts)


def _clipped(sentence: str, max_chars: int) -> str:
    """Return the beginning of a sentence that alone is too long, cut at a blank if one is near."""
    if len(sentence) <= max_chars:
        return sentence
    head = sentence[: max_chars - 1]
    blank = head.rfind(" ")
    if blank > len(head) * 0.7:
        head = head[:blank]
    return head.rstrip() + ELLIPSIS
