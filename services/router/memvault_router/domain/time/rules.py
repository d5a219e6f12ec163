"""Rules that read a time expression, and the scanner that applies them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from memvault_router.domain.time.span import Span

Build = Callable[[re.Match[str], datetime], Span | None]
MASK = "\0"


@dataclass(frozen=True)
class TimeRule:
    """A pattern and what a match of it means at a local, naive now; None means that it was no time after all."""

    pattern: re.Pattern[str]
    build: Build


@dataclass(frozen=True)
class Family:
    """Rules that all need one of some words, in lower case: most questions hold none, and are read the faster."""

    words: tuple[str, ...]
    rules: tuple[TimeRule, ...]


@dataclass(frozen=True)
class Found:
    """A match in the scanned text."""

    start: int
    end: int
    span: Span


def masked(text: str, lookalikes: re.Pattern[str]) -> str:
    """Return the text, same length, with everything blanked that only looks like a time expression."""
    return lookalikes.sub(lambda match: MASK * len(match.group(0)), text)


def spoken(families: Sequence[Family], lower: str) -> list[Family]:
    """Return the families that may have a time in a text, which is in lower case."""
    return [family for family in families if any(map(lower.__contains__, family.words))]


def scan(text: str, families: Sequence[Family], now: datetime) -> list[Found]:
    """Return all time expressions, none overlapping, in the order of the text.

    Earlier rules win over later ones, so specific rules stand first.

    Args:
        text: Masked text in the spelling that the rules expect.
        families: Specific before general.
        now: Local and naive.
    """
    found: list[Found] = []
    for rule in (rule for family in spoken(families, text.lower()) for rule in family.rules):
        for match in rule.pattern.finditer(text):
            if any(match.start() < other.end and other.start < match.end() for other in found):
                continue
            span = rule.build(match, now)
            if span is not None:
                found.append(Found(match.start(), match.end(), span))
    return sorted(found, key=lambda item: item.start)
