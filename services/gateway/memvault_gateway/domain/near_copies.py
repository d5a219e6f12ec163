"""Near-identical passages: shown once, the best scored (R-42)."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from memvault.text import fold, search_tokens
from memvault_gateway.domain.model import Card

_NEGATIONS = re.compile(
    r"\b(?:not|no|never|none|cannot|without|n't|nobody|nothing|neither|nor)\b|n't\b|不|没|沒|无|無|未|非|别|別|勿"
)
_CODE = re.compile(r"[^\W_]*\d[^\W_]*(?:[-_.:/][^\W_]+)*")
_NAME = re.compile(r"(?<![.!?\n]\s)(?<!^)\b[A-Z][\w-]+")


@dataclass(frozen=True)
class _Print:
    """What is compared: token counts with their length, and what must be equal for two texts to say the same."""

    tokens: Counter[str]
    norm: float
    facts: tuple[Counter[str], int, frozenset[str]]


def fold_copies(cards: Sequence[Card], cascade_cards: Sequence[Card], cosine: float) -> tuple[list[Card], list[Card]]:
    """Return both lists without near-copies; of two, the better scored stays, of equals the earlier one.

    Two texts are near-copies when the cosine of their token counts is above `cosine` and they share every number, code,
    capitalised name and negation: "the printer is at 10.0.0.5" and "... 10.0.0.8" are two facts.
    """
    every = [*cards, *cascade_cards]
    order = sorted(range(len(every)), key=lambda at: (-(every[at].score or 0.0), at))
    kept: list[int] = []
    prints: list[_Print] = []
    for at in order:
        mine = _print(every[at].text)
        if not any(_same(mine, other, cosine) for other in prints):
            kept.append(at)
            prints.append(mine)
    stay = sorted(kept)
    return [every[at] for at in stay if at < len(cards)], [every[at] for at in stay if at >= len(cards)]


def _print(text: str) -> _Print:
    tokens = Counter(search_tokens(text))
    folded = fold(text)
    facts = (Counter(_CODE.findall(folded)), len(_NEGATIONS.findall(folded)), frozenset(_NAME.findall(text)))
    return _Print(tokens, math.sqrt(sum(count * count for count in tokens.values())), facts)


def _same(one: _Print, other: _Print, cosine: float) -> bool:
    if one.facts != other.facts or not one.norm or not other.norm:
        return False
    if min(one.norm, other.norm) < cosine * max(one.norm, other.norm) * 0.5:
        return False
    dot = sum(count * other.tokens[token] for token, count in one.tokens.items())
    return dot > cosine * one.norm * other.norm
