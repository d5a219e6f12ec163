"""Near-identical passages: shown once, the best scored (R-42)."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from operator import add

from memvault.text import fold
from memvault_gateway.domain.model import Card

_NEGATIONS = re.compile(
    r"\b(?:not|no|never|none|cannot|without|n't|nobody|nothing|neither|nor)\b|n't\b|不|没|沒|无|無|未|非|别|別|勿"
)
_CODE = re.compile(r"[^\W_]*\d[^\W_]*(?:[-_.:/][^\W_]+)*")
_NAME = re.compile(r"(?<![.!?\n]\s)(?<!^)\b[A-Z][\w-]+")


_LENGTHS = 0.75
"""Of two near-copies the shorter has at least this share of the other's length: others need not be compared."""


@dataclass(frozen=True)
class _Print:
    """What is compared: what must be equal to say the same, and, where it is, counts of character pairs."""

    folded: str
    facts: tuple[frozenset[tuple[str, int]], int, frozenset[str]]

    @cached_property
    def pairs(self) -> Counter[str]:
        return Counter(map(add, self.folded, self.folded[1:]))

    @cached_property
    def norm(self) -> float:
        return math.sqrt(sum(count * count for count in self.pairs.values()))


def fold_copies(cards: Sequence[Card], cascade_cards: Sequence[Card], cosine: float) -> tuple[list[Card], list[Card]]:
    """Return both lists without near-copies; of two, the better scored stays, of equals the earlier one.

    Two texts are near-copies when the cosine of their character pairs is above `cosine` and they share every number,
    code, capitalised name and negation: "the printer is at 10.0.0.5" and "... 10.0.0.8" are two facts.
    """
    every = [*cards, *cascade_cards]
    order = sorted(range(len(every)), key=lambda at: (-(every[at].score or 0.0), at))
    kept: list[int] = []
    alike: defaultdict[object, list[str]] = defaultdict(list)  # what was kept, by the facts in it
    for at in order:
        text = every[at].text
        others = alike[_print(text).facts]
        if not any(_same(text, other, cosine) for other in others):
            kept.append(at)
            others.append(text)
    stay = sorted(kept)
    return [every[at] for at in stay if at < len(cards)], [every[at] for at in stay if at >= len(cards)]


@lru_cache(maxsize=512)
def _print(text: str) -> _Print:
    folded = fold(text)
    codes = frozenset(Counter(_CODE.findall(folded)).items())
    facts = (codes, len(_NEGATIONS.findall(folded)), frozenset(_NAME.findall(text)))
    return _Print(folded, facts)


def _same(text: str, other_text: str, cosine: float) -> bool:
    """Compare two texts with the same facts."""
    if text == other_text:
        return True
    if min(len(text), len(other_text)) < _LENGTHS * max(len(text), len(other_text)):
        return False
    one, other = _print(text), _print(other_text)
    dot = sum(one.pairs[pair] * other.pairs[pair] for pair in one.pairs.keys() & other.pairs.keys())
    return dot > cosine * one.norm * other.norm
