"""Which context views a change touches, and their texts (R-11b)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from memvault_search.domain.block import Block, StoredBlock
from memvault_search.domain.neighbours import Sessions
from memvault_search.domain.views import context_text, stretch

Spot = tuple[StoredBlock, int]
"""A block and the number of one of its passages."""


@dataclass(frozen=True)
class Around:
    """Finds the passages next to a passage: of the same block, or at the edge of the neighbour in its sitting."""

    find: Callable[[str], StoredBlock | None]
    sessions: Sessions

    def before(self, stored: StoredBlock, number: int) -> Spot | None:
        """The passage before; None at the beginning."""
        if number > 0:
            return stored, number - 1
        other = self._neighbour(self.sessions.around(stored.block).before)
        return None if other is None else (other, len(other.passages) - 1)

    def after(self, stored: StoredBlock, number: int) -> Spot | None:
        """The passage after; None at the end."""
        if number + 1 < len(stored.passages):
            return stored, number + 1
        other = self._neighbour(self.sessions.around(stored.block).after)
        return None if other is None else (other, 0)

    def _neighbour(self, block_id: str | None) -> StoredBlock | None:
        return None if block_id is None else self.find(block_id)


@dataclass(frozen=True)
class Contexts:
    """Makes context texts.

    `find` gives a block by its id, `sessions` its neighbours; a text has at most `max_chars` characters.
    """

    find: Callable[[str], StoredBlock | None]
    sessions: Sessions
    max_chars: int

    def text(self, stored: StoredBlock, number: int, *, dated: bool) -> str:
        """The context view of one passage, with the days or without; empty when nothing stands next to it."""
        around = Around(self.find, self.sessions)
        before, after = around.before(stored, number), around.after(stored, number)
        return context_text(
            None if before is None else stretch(*before, dated=dated),
            stretch(stored, number, dated=dated),
            None if after is None else stretch(*after, dated=dated),
            self.max_chars,
        )


def touched(old: Sessions, new: Sessions, gone: Iterable[Block], come: Iterable[Block]) -> set[str]:
    """Ids of the blocks that lost or gained a neighbour, the changed blocks themselves left out."""
    gone, come = list(gone), list(come)
    ids: set[str | None] = set()
    for sessions, blocks in ((old, gone), (new, come)):
        for block in blocks:
            around = sessions.around(block)
            ids |= {around.before, around.after}
    changed = {block.id for block in (*gone, *come)}
    return {block_id for block_id in ids if block_id is not None and block_id not in changed}
