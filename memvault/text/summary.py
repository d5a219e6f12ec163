"""Extractive summaries: the sentences of a text that say most, about a question when there is one (R-30, R-42)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
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
_REDUNDANT = 0.7
"""Share of a sentence's tokens already told from which it is left out."""


@dataclass(frozen=True)
class _Sentence:
    position: int
    text: str
    tokens: frozenset[str]


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
    return _joined(chosen, len(ranked))


@lru_cache(maxsize=64)
def _ranked(text: str, query: str) -> tuple[_Sentence, ...]:
    """Return the sentences, best first; remembered, because packing asks for several lengths of one text."""
    found = [_Sentence(i, s, frozenset(search_tokens(s))) for i, s in enumerate(sentences(text))]
    wanted = frozenset(search_tokens(query)) if query else frozenset[str]()
    spread = Counter(token for sentence in found for token in sentence.tokens)
    worth = {s.position: _worth(s, spread, len(found), wanted) for s in found}
    return tuple(sorted(found, key=lambda s: (-worth[s.position], s.position)))


def _worth(sentence: _Sentence, spread: Counter[str], total: int, wanted: frozenset[str]) -> float:
    tokens = sentence.tokens
    if not tokens:
        return 0.0
    central = sum(spread[token] for token in tokens) / (len(tokens) * total)
    lead = _LEAD_WEIGHT * math.exp(-sentence.position / _LEAD_DECAY)
    rarity = sum(math.log1p(total / spread[token]) for token in tokens & wanted)
    full = sum(math.log1p(total / spread[token]) for token in wanted if token in spread)
    return central + lead + (_QUERY_WEIGHT * rarity / full if full else 0.0)


def _choose(ranked: Sequence[_Sentence], max_chars: int) -> list[_Sentence]:
    chosen: list[_Sentence] = []
    told: frozenset[str] = frozenset()
    for sentence in ranked:
        known = len(sentence.tokens & told) / len(sentence.tokens) if sentence.tokens else 1.0
        if chosen and known >= _REDUNDANT:
            continue
        attempt = sorted([*chosen, sentence], key=lambda s: s.position)
        if len(_joined(attempt, len(ranked))) <= max_chars:
            chosen = attempt
            told |= sentence.tokens
    return chosen


def _joined(chosen: Sequence[_Sentence], total: int) -> str:
    parts: list[str] = []
    previous = -1
    for sentence in chosen:
        gap = sentence.position > previous + 1
        if gap:
            parts.append(ELLIPSIS)
        elif parts and not (is_chinese(parts[-1]) and is_chinese(sentence.text)):
            parts.append(" ")
        parts.append(sentence.text)
        previous = sentence.position
    if previous < total - 1:
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
