"""The candidates of a question before scoring: which blocks may be found, how deep to look, and the fused list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import numpy as np

from memvault_search.domain.fusion import Fused, Ranking, fuse, fuse_late
from memvault_search.domain.replies import REPLY, Replies, with_replies
from memvault_search.domain.selection import Selection
from memvault_search.domain.vault import Vault
from memvault_search.settings import SearchSettings
from memvault_search.usecases.asking import Conditions, Question, Reference
from memvault_search.usecases.rankers import Best


@dataclass(frozen=True, eq=False)
class Pool:
    """Candidates before scoring: fused, with where each was found and what the rankers said."""

    fused: Fused
    best: Best
    rankings: Sequence[Ranking]
    scores: Mapping[str, Mapping[str, float]]


def depth_of(numbers: SearchSettings, selection: Selection, vault: Vault) -> int:
    """How many points each ranker returns: for named blocks all of theirs."""
    if selection.block_ids is None:
        return numbers.finding.per_ranker
    known = (vault.get(block_id) for block_id in selection.block_ids)
    return max(1, sum(len(one.passages) for one in known if one is not None))


def selection_of(question: Question, conditions: Conditions) -> tuple[Selection, bool]:
    """The selection with an explicit time range of the question, and whether that range filters."""
    selection = replace(conditions.selection, known_until=conditions.as_of)
    asked = question.time_range
    filters = question.time_explicit or question.bare
    if asked is None or not filters or "time_filter" in conditions.off:
        return selection, False
    start, end = _instant(asked.start), _instant(asked.end)
    starts = [one for one in (start, selection.event_start) if one is not None]
    ends = [one for one in (end, selection.event_end) if one is not None]
    narrowed = replace(selection, event_start=max(starts, default=None), event_end=min(ends, default=None))
    return narrowed, True


def _instant(seconds: float) -> datetime | None:
    return datetime.fromtimestamp(seconds, UTC) if np.isfinite(seconds) else None


def replies_in(vault: Vault, numbers: SearchSettings, off: frozenset[str]) -> Replies | None:
    """What finds replies among a user's turns; None where they count by their own words alone."""
    if not numbers.finding.reply_share or f"ranker:{REPLY}" in off:
        return None
    return Replies(vault.get, vault.sessions, numbers.finding.reply_width)


def pool_of(
    rankings: Sequence[Ranking],
    best: Best,
    reference: Reference | None,
    numbers: SearchSettings,
    replies: Replies | None,
) -> Pool:
    """Fuse the rankings, or place late blocks among those of an earlier search (R-14).

    `replies` have their share of what they go on with; one that comes late without it counts by its own words.
    """
    by_ranker: dict[str, Mapping[str, float]] = {
        one.name: dict(zip(one.ids, one.scores.tolist(), strict=True)) for one in rankings
    }
    if reference is None:
        fused = fuse(rankings, numbers.fusion)
    else:
        late = {one: [by_ranker.get(cut.name, {}).get(one, np.nan) for cut in reference.lists] for one in best.rows}
        fused = fuse_late(late, reference.lists, numbers.fusion)
    if replies is not None:
        fused, by_ranker[REPLY] = with_replies(fused, replies.of, numbers.finding.reply_share)
    return Pool(fused.first(numbers.finding.candidates) if reference is None else fused, best, rankings, by_ranker)
