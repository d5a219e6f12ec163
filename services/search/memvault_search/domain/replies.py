"""Turns that say more about something because somebody asked (R-10).

"I just took part in a march." "What made you join?" "I have always had respect for those people." The last turn says
nothing of a march, and is what a question about it is after.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from memvault_search.domain.block import Block, StoredBlock
from memvault_search.domain.fusion import ABSENT, Fused
from memvault_search.domain.neighbours import Sessions
from memvault_search.domain.passages import width
from memvault_search.domain.scoring.ordering import stable_order

REPLY = "reply"
"""Its name among the rankers of an explanation."""


class Reply(NamedTuple):
    """Id of what a turn's speaker said before, about which another asked, and how much the turn leans on it, (0, 1]."""

    said: str
    leaning: float


@dataclass(frozen=True)
class Replies:
    """Finds what a turn of a talk goes on with.

    `find` gives a block by its id, `sessions` its neighbours. A turn wider than `longest` (Chinese characters counted
    twice) stands more and more on its own.
    """

    find: Callable[[str], StoredBlock | None]
    sessions: Sessions
    longest: int

    def of(self, block_id: str) -> Reply | None:
        """What a turn goes on with: its speaker said something, another asked, and this is the next turn."""
        stored = self.find(block_id)
        if stored is None or not stored.block.speaker:
            return None
        own = stored.block
        question = self._before(own)
        if question is None or question.speaker == own.speaker or not _asks(question.text):
            return None
        said = self._before(question)
        if said is None or said.speaker != own.speaker:
            return None
        return Reply(said.id, min(1.0, self.longest / max(1, width(own.text))))

    def _before(self, block: Block) -> Block | None:
        before = self.sessions.around(block).before
        stored = None if before is None else self.find(before)
        return None if stored is None else stored.block


def _asks(text: str) -> bool:
    return "?" in text or "？" in text


def with_replies(fused: Fused, reply: Callable[[str], Reply | None], share: float) -> tuple[Fused, Mapping[str, float]]:
    """Let a reply have at least `share` of the fused score of what it goes on with; also what was raised, and to what.

    Only what some ranker found is raised. The votes of `REPLY` are what was added. Nothing is passed on twice.
    """
    rows = {one: row for row, one in enumerate(fused.ids)}
    raised: dict[str, float] = {}
    score, base = fused.score.copy(), fused.base.copy()
    for one, row in rows.items():
        found = reply(one)
        said = None if found is None else rows.get(found.said)
        if found is None or said is None:
            continue
        part = share * found.leaning
        if part * fused.score[said] > score[row]:
            raised[one] = score[row] = part * fused.score[said]
            base[row] = max(base[row], part * fused.base[said])
    if not raised:
        return fused, {}
    ranks = np.full(len(rows), ABSENT, dtype=np.int64)
    for rank, one in enumerate(sorted(raised, key=lambda one: (-raised[one], one)), 1):
        ranks[rows[one]] = rank
    order = stable_order(score, fused.ids)
    return (
        replace(
            fused,
            ids=tuple(fused.ids[row] for row in order),
            score=score[order],
            base=base[order],
            ranks=np.column_stack([fused.ranks, ranks])[order],
            votes=np.column_stack([fused.votes, score - fused.score])[order],
            rankers=(*fused.rankers, REPLY),
        ),
        {one: float(value) for one, value in raised.items()},
    )
