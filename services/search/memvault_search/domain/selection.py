"""Which of a user's blocks a question may find: checked before the best are taken."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from memvault_search.domain.block import Block


@dataclass(frozen=True, slots=True)
class Selection:
    """All given parts must hold; within a list any one. Times: [event_start, event_end), None is open.

    Of a block without an event time the time it was recorded counts. `known_until`: blocks of a later time are left
    out, for a question as of then.
    """

    services: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    source_kinds: tuple[str, ...] = ()
    conversation_ids: tuple[str, ...] = ()
    event_start: datetime | None = None
    event_end: datetime | None = None
    known_until: datetime | None = None
    block_ids: tuple[str, ...] | None = None

    @property
    def is_open(self) -> bool:
        """True when every block is in it."""
        return self == Selection()

    def holds(self, block: Block) -> bool:
        """Whether a block is in the selection."""
        return (
            (not self.services or block.service in self.services)
            and (not self.tags or bool(set(self.tags) & set(block.tags)))
            and (not self.source_kinds or block.source.kind in self.source_kinds)
            and (not self.conversation_ids or block.conversation_id in self.conversation_ids)
            and (self.block_ids is None or block.id in self.block_ids)
            and self._holds_time(block)
        )

    def _holds_time(self, block: Block) -> bool:
        known = block.known_at
        if self.known_until is not None and known is not None and known > self.known_until:
            return False
        if self.event_start is None and self.event_end is None:
            return True
        if known is None:
            return False
        after_start = self.event_start is None or known >= self.event_start
        before_end = self.event_end is None or known < self.event_end
        return after_start and before_end


EVERYTHING = Selection()
