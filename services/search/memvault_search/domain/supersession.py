"""Newer statements that contradict older ones (R-17a): same subject, same single-valued predicate, other object.

Both stay; the older one is marked with the newer one's id and stops holding when the newer begins.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime

from memvault.text import fold
from memvault_search.domain.block import Block

_Topic = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Statement:
    """What a block says on one topic."""

    block_id: str
    object: str
    time: datetime


@dataclass(frozen=True, slots=True)
class Succession:
    """Who replaces a block and until when it held; empty and None: it holds."""

    block_id: str
    superseded_by: str
    valid_to: datetime | None


class Statements:
    """What one user's blocks state on topics that have one answer at a time."""

    def __init__(self) -> None:
        self._by_topic: dict[_Topic, dict[str, Statement]] = {}

    def add(self, block: Block) -> None:
        """Note all statements of a block that has a time."""
        time = block.known_at
        if time is None:
            return
        for triple in block.triples:
            topic = (_plain(triple.subject), _plain(triple.predicate))
            statement = Statement(block.id, _plain(triple.object), time)
            self._by_topic.setdefault(topic, {})[block.id] = statement

    def remove(self, block: Block) -> None:
        """Forget all statements of a block."""
        for topic in _topics(block):
            held = self._by_topic.get(topic, {})
            held.pop(block.id, None)
            if not held:
                self._by_topic.pop(topic, None)

    def sharing(self, block: Block, single_valued: AbstractSet[str]) -> set[str]:
        """Ids of all blocks that speak of one of the block's single-valued topics, its own included."""
        return {
            other for topic in _topics(block) if topic[1] in single_valued for other in self._by_topic.get(topic, {})
        }

    def succession(self, block: Block, single_valued: AbstractSet[str]) -> Succession:
        """Who replaces the block: the earliest later statement with another object on any of its topics.

        `single_valued` holds folded predicates; equal times contradict nothing.
        """
        later = [
            other for topic in _topics(block) if topic[1] in single_valued for other in self._later(topic, block.id)
        ]
        first = min(later, key=lambda other: (other.time, other.block_id), default=None)
        if first is None:
            return Succession(block.id, "", None)
        return Succession(block.id, first.block_id, first.time)

    def _later(self, topic: _Topic, block_id: str) -> list[Statement]:
        statements = self._by_topic.get(topic, {})
        own = statements.get(block_id)
        if own is None:
            return []
        return [other for other in statements.values() if other.object != own.object and other.time > own.time]


def _topics(block: Block) -> set[_Topic]:
    return {(_plain(triple.subject), _plain(triple.predicate)) for triple in block.triples}


def _plain(text: str) -> str:
    return " ".join(fold(text).split()).rstrip(".。")
