"""Memories that are found and not shown: what is known of them, and how they are counted."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class HeldBack:
    """A memory that is not shown because screening leaves nothing of it. Never the text."""

    block_id: str
    rules: tuple[str, ...]
    screened_version: str = ""


@dataclass(frozen=True)
class Withheld:
    """How many memories are not shown for one `reason`, a word of the contract; `rules` of screening that hit."""

    reason: str
    count: int
    rules: tuple[str, ...] = ()
