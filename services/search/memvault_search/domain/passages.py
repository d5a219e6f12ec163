"""Cutting a long block into passages (R-12): whole sentences, about as long as the encoder reads well."""

from __future__ import annotations

import re
from dataclasses import dataclass
from uuid import UUID, uuid5

from memvault.text import sentences
from memvault_search.domain.block import Passage

_NAMESPACE = UUID("6f1c1d8e-7a0b-4c7e-9b63-2f1f1f0d5a11")
"""Ours, so that ids of points never meet those of another product in a shared store."""

_WIDE = re.compile("[^\u0000-\u052f]")  # counted in one go: replies are measured with every question


@dataclass(frozen=True, slots=True)
class PassageLimits:
    """Lengths in characters of the indexed form; Chinese characters count double, as in the encoder."""

    whole: int
    target: int


def point_id(user_id: str, block_id: str, number: int) -> str:
    """Id of a passage's point: the same for the same user, block and passage, everywhere."""
    return str(uuid5(_NAMESPACE, f"{user_id}\x1f{block_id}\x1f{number}"))


def head_id(user_id: str, block_id: str) -> str:
    """Id of a block's head point, where its mutable fields live."""
    return str(uuid5(_NAMESPACE, f"{user_id}\x1f{block_id}\x1fhead"))


def vault_id(user_id: str) -> str:
    """Id of the point that holds a user's write version."""
    return str(uuid5(_NAMESPACE, f"{user_id}\x1f\x1fvault"))


def forgotten_id(user_id: str, block_id: str) -> str:
    """Id of the mark that a block was forgotten."""
    return str(uuid5(_NAMESPACE, f"{user_id}\x1f{block_id}\x1fforgotten"))


def user_tombstone_id(user_id: str) -> str:
    """Id of the mark that a whole user was forgotten; the name cannot be read back from it."""
    return str(uuid5(_NAMESPACE, f"{user_id}\x1f\x1fforgotten"))


def encoder_point_id() -> str:
    """Id of the point that tells which encoder made the index."""
    return str(uuid5(_NAMESPACE, "\x1f\x1fencoder"))


def cut(user_id: str, block_id: str, text: str, limits: PassageLimits) -> tuple[Passage, ...]:
    """Cut a text into passages of whole sentences; a text of at most `limits.whole` stays one.

    A sentence longer than the target is cut at the target. The passages cover the text without gaps.
    """
    spans = [(0, len(text))] if width(text) <= limits.whole else _spans(text, limits.target)
    return tuple(
        Passage(point_id(user_id, block_id, number), number, start, end) for number, (start, end) in enumerate(spans)
    )


def width(text: str) -> int:
    """Length in characters, those beyond Latin, Greek and Cyrillic counted twice."""
    return len(text) + len(_WIDE.findall(text))


def _spans(text: str, target: int) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    start = 0
    used = 0
    for begin, end in _pieces(text, target):
        size = width(text[begin:end])
        if used and used + size > target:
            spans.append((start, begin))
            start, used = begin, 0
        used += size
    spans.append((start, len(text)))
    return spans


def _pieces(text: str, target: int) -> list[tuple[int, int]]:
    """Sentences with their trailing space, none wider than the target."""
    starts = [0]
    position = 0
    for sentence in sentences(text):
        found = text.find(sentence, position)
        if found > starts[-1]:
            starts.append(found)
        position = max(position, found + len(sentence)) if found >= 0 else position
    pieces: list[tuple[int, int]] = []
    for begin, end in zip(starts, [*starts[1:], len(text)], strict=True):
        step = target if width(text[begin:end]) <= end - begin else max(1, target // 2)
        pieces += [(cut_at, min(end, cut_at + step)) for cut_at in range(begin, end, step)]
    return pieces
