"""The last word on order, after blending.

What holds now comes before what held once (R-17a), and memories of a conversation come together (facet
`recollection`, R-09).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from memvault_search.domain.scoring.candidates import BoolArray, Candidates, FloatArray, TimeRange


def valid_at(candidates: Candidates, moment: float | None, asked: TimeRange | None) -> BoolArray:
    """Return which candidates hold at the time asked about.

    `moment`: `as_of` in seconds, or None; `asked`: the question's own range, or None. Without either, what
    nothing has superseded holds. With one, a block holds if its validity [valid_from, valid_to) meets the
    range; an unknown end is open.
    """
    if moment is None and asked is None:
        return np.array([not mark for mark in candidates.superseded_by], dtype=np.bool_)
    start = asked.start if asked is not None else float(moment or 0.0)
    end = asked.end if asked is not None else float(moment or 0.0)
    begins = np.where(np.isnan(candidates.valid_from), -np.inf, candidates.valid_from)
    ends = np.where(np.isnan(candidates.valid_to), np.inf, candidates.valid_to)
    return (begins <= end) & (ends > start)


def valid_first(score: FloatArray, candidates: Candidates, holds: BoolArray, margin: float) -> FloatArray:
    """Return scores in which no statement outranks the one that replaces it at the time asked about.

    Of a pair (superseded, superseding) of which exactly one holds, the other gets at most `margin` times
    its score; `margin` lies in (0, 1). Pairs of which only one was found are left alone.
    """
    row_of = {one: row for row, one in enumerate(candidates.ids)}
    arranged = score.copy()
    pairs = [
        (row, row_of[newer])
        for row, newer in enumerate(candidates.superseded_by)
        if newer in row_of and holds[row] != holds[row_of[newer]]
    ]
    for _ in range(len(pairs)):
        before = arranged.copy()
        for older, newer in pairs:
            right, wrong = (older, newer) if holds[older] else (newer, older)
            arranged[wrong] = min(arranged[wrong], arranged[right] * margin)
        if np.array_equal(before, arranged):
            break
    return arranged


def by_conversation(rows: Sequence[int], candidates: Candidates) -> tuple[int, ...]:
    """Return the chosen rows grouped by conversation: the newest conversation first, within it newest first.

    A block without a conversation is a group of its own; one without any time comes last.
    """
    times = np.nan_to_num(candidates.known_at, nan=-np.inf)
    group = {row: candidates.conversation_ids[row] or f"\0{candidates.ids[row]}" for row in rows}
    newest: dict[str, float] = {}
    for row in rows:
        newest[group[row]] = max(newest.get(group[row], -np.inf), float(times[row]))
    return tuple(sorted(rows, key=lambda row: (-newest[group[row]], group[row], -times[row], candidates.ids[row])))
