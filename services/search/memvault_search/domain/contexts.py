"""Which context views a change touches, and their texts (R-11b)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from memvault_search.domain.block import Block, StoredBlock
from memvault_search.domain.neighbours import Sessions
from memvault_search.domain.views import Stretch, context_text, stretch


@dataclass(frozen=True)
class Contexts:
    """Makes context texts.

    `find` gives a block by its id, `sessions` its neighbours; a text has at most `max_chars` characters.
    """

    find: Callable[[str], StoredBlock | None]
    sessions: Sessions
    max_chars: int

    def text(self, stored: StoredBlock, number: int) -> str:
        """The context view of one passage; empty when nothing stands next to it."""
        own = stretch(stored, number)
        return context_text(self._before(stored, number), own, self._after(stored, number), self.max_chars)

    def _before(self, stored: StoredBlock, number: int) -> Stretch | None:
        if number > 0:
            return stretch(stored, number - 1)
        other = self._neighbour(self.sessions.around(stored.block).before)
        return None if other is None else stretch(other, len(other.passages) - 1)

    def _after(self, stored: StoredBlock, number: int) -> Stretch | None:
        if number + 1 < len(stored.passages):
            return stretch(stored, number + 1)
        other = self._neighbour(self.sessions.around(stored.block).after)
        return None if other is None else stretch(other, 0)

    def _neighbour(self, block_id: str | None) -> StoredBlock | None:
        return None if block_id is None else self.find(block_id)


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
