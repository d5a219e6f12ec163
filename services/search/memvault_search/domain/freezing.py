"""Which memories are kept as their summary only, and what is left of them (R-19).

A frozen memory can still be found and says what it was about; the words it was said in are gone for good. So the rule
names what may go, and all that anybody could miss stays: what a person wrote, was judged useful, was read of late, is
much linked to, or is hardly longer than its summary.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import numpy as np

from memvault.text import extractive_summary
from memvault_search.domain.block import Block, StoredBlock, content_hash
from memvault_search.domain.passages import PassageLimits, cut, width
from memvault_search.domain.scoring.age import half_life_days
from memvault_search.domain.scoring.numbers import ScoringNumbers


@dataclass(frozen=True)
class FreezingNumbers:
    """When a memory is frozen.

    Attributes:
        enabled: False: nothing is frozen; what is frozen stays so until it is written again.
        idle_days: since it was written, recorded or read, whichever was last.
        half_lives: the same in half-lives of stage 6, which grow with every reading; the longer of both counts.
        tiers: names of the tiers that may be frozen.
        kept_sources: kinds of source that are never frozen.
        kept_tags: a memory with one of these labels is never frozen.
        most_centrality: a memory that its user's graph leans on more stays whole; in [0, 1].
        min_width: a shorter text stays, freezing it would save nothing; in characters, Chinese ones counted twice.
        summary_width: the same of the longest extractive summary; one that came with the memory is kept as it is.
        a_night: memories of a user frozen in one night at most: a clock that jumps must not cost a whole vault.
    """

    enabled: bool
    idle_days: float
    half_lives: float
    tiers: frozenset[str]
    kept_sources: frozenset[str]
    kept_tags: frozenset[str]
    most_centrality: float
    min_width: int
    summary_width: int
    a_night: int

    def __post_init__(self) -> None:
        if self.idle_days <= 0.0 or self.half_lives < 0.0:
            message = "idle_days must be above 0 and half_lives at least 0"
            raise ValueError(message)
        if self.a_night < 0:
            message = f"a_night must be at least 0, not {self.a_night}"
            raise ValueError(message)
        if not 2 <= self.summary_width < self.min_width:  # noqa: PLR2004 - one Chinese character
            message = "summary_width must be at least 2 and below min_width, or nothing would be saved"
            raise ValueError(message)
        if not 0.0 <= self.most_centrality <= 1.0:
            message = f"most_centrality must lie in [0, 1], not {self.most_centrality}"
            raise ValueError(message)


def may_freeze(stored: StoredBlock, numbers: FreezingNumbers, scoring: ScoringNumbers, now: datetime) -> bool:
    """Whether a memory is old, unread and of little worth, and long enough for its summary to be less."""
    block = stored.block
    return (
        numbers.enabled
        and not block.frozen
        and width(block.text) >= numbers.min_width
        and block.tier in numbers.tiers
        and block.source.kind not in numbers.kept_sources
        and numbers.kept_tags.isdisjoint(block.tags)
        and block.ups <= block.downs
        and (block.centrality or 0.0) <= numbers.most_centrality
        and now - _last_touched(stored) >= _patience(block, numbers, scoring)
    )


def _last_touched(stored: StoredBlock) -> datetime:
    """The last write counts, too: an archive of old conversations that came in today is not old to this vault."""
    block = stored.block
    return max(time for time in (stored.written.time, block.recorded_at, block.last_accessed_at) if time is not None)


def _patience(block: Block, numbers: FreezingNumbers, scoring: ScoringNumbers) -> timedelta:
    confidence, reads = np.array([block.confidence or 0.0]), np.array([float(block.access_count)])
    half_life = float(half_life_days(confidence, reads, scoring)[0])
    return timedelta(days=max(numbers.idle_days, numbers.half_lives * half_life))


def as_frozen(
    stored: StoredBlock, numbers: FreezingNumbers, limits: PassageLimits, *, event_id: str, events_kept: int
) -> StoredBlock:
    """The block with its summary in the place of its text; labels, facts and signals stay as they are."""
    block = stored.block
    written = block.summary.strip()
    shorter = written if 0 < len(written) < len(block.text) else ""
    room = max(1, numbers.summary_width * len(block.text) // width(block.text))
    summary = shorter or extractive_summary(block.text, room)
    frozen = replace(block, text=summary, summary=summary, frozen=True, version=block.version + 1)
    return replace(
        stored,
        block=frozen,
        content_hash=content_hash(frozen),
        event_ids=(*stored.event_ids, event_id)[-events_kept:],
        passages=cut(block.user_id, block.id, summary, limits),
        revision=stored.revision + 1,
    )
