"""Taking dangerous spans out of a text and keeping the rest."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from memvault.screening.detection import Hit, scan

PLACEHOLDER = "[REDACTED]"
_MAX_PASSES = 4
"""Passes until nothing dangerous is left: taking a span out may join two harmless halves."""


@dataclass(frozen=True)
class Sanitised:
    """A text that is fit to leave.

    Attributes:
        text: The original with each dangerous span replaced by `[REDACTED]`.
        hits: What was found, with offsets into the original.
        emptied: Whether nothing worth reading is left.
    """

    text: str
    hits: tuple[Hit, ...]
    emptied: bool


def sanitize_for_injection(text: str) -> Sanitised:
    """Replace each dangerous span of `text` by `[REDACTED]` and keep the rest.

    The result is safe by the same rules: it is scanned again, and a text that stays dangerous is taken out whole.
    """
    found = scan(text)
    hits, clean = found, text
    for _ in range(_MAX_PASSES):
        if not hits:
            break
        clean = _without(clean, hits)
        hits = scan(clean)
    else:
        clean = PLACEHOLDER if hits else clean
    return Sanitised(clean, found, emptied=bool(found) and not _says_something(clean))


def _without(text: str, hits: Iterable[Hit]) -> str:
    parts: list[str] = []
    at = 0
    for start, end in _merged(hits):
        parts += [text[at:start], PLACEHOLDER]
        at = end
    return "".join([*parts, text[at:]])


def _merged(hits: Iterable[Hit]) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    for hit in sorted(hits):
        if spans and hit.start <= spans[-1][1]:
            spans[-1] = (spans[-1][0], max(spans[-1][1], hit.end))
        else:
            spans.append((hit.start, hit.end))
    return spans


def _says_something(text: str) -> bool:
    return any(character.isalnum() for character in text.replace(PLACEHOLDER, ""))
