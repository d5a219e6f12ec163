"""Who stands next to whom: the sittings of a user, each in the order of its turns or passages (R-11b)."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable
from dataclasses import dataclass

from memvault_search.domain.block import Block

_Key = tuple[bool, float, str]


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Ids of the blocks before and after; None at an end of the sitting."""

    before: str | None = None
    after: str | None = None


class Sessions:
    """All sittings of one user. Turns with a position come in its order; those without, by event time."""

    def __init__(self) -> None:
        self._order: dict[tuple[str, str, str], list[_Key]] = {}
        self._known: dict[str, Neighbours] = {}  # by block, until anything changes: questions ask for the same ones

    def add(self, block: Block) -> None:
        """Put a block into its sitting, if it has one."""
        self._known.clear()
        if block.session is not None:
            insort(self._order.setdefault(block.session, []), _key(block))

    def remove(self, block: Block) -> None:
        """Take a block, as it was added, out of its sitting."""
        self._known.clear()
        if block.session is None:
            return
        order = self._order[block.session]
        order.remove(_key(block))
        if not order:
            del self._order[block.session]

    def preview(self, gone: Iterable[Block], come: Iterable[Block]) -> Sessions:
        """The sittings that these blocks leave or join, as they will be; this object stays as it is."""
        gone, come = list(gone), list(come)
        changed = Sessions()
        for block in (*gone, *come):
            if block.session is not None and block.session in self._order:
                changed._order.setdefault(block.session, list(self._order[block.session]))
        for block in gone:
            changed.remove(block)
        for block in come:
            changed.add(block)
        return changed

    def around(self, block: Block) -> Neighbours:
        """The neighbours of a block that was added."""
        known = self._known.get(block.id)
        if known is None:
            known = self._known[block.id] = self._looked_up(block)
        return known

    def _looked_up(self, block: Block) -> Neighbours:
        order = self._order.get(block.session) if block.session is not None else None
        if not order:
            return Neighbours()
        place = bisect_left(order, _key(block))
        before = order[place - 1][2] if place > 0 else None
        after = order[place + 1][2] if place + 1 < len(order) else None
        return Neighbours(before, after)


def _key(block: Block) -> _Key:
    if block.position is not None:
        return (False, float(block.position), block.id)
    return (True, block.event_time.timestamp() if block.event_time else 0.0, block.id)
