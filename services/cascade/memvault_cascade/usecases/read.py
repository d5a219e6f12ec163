"""What else can be read of a graph: entities in a text with their neighbours, all facts, counts."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memvault_cascade.domain.graph.linking import SELF, link
from memvault_cascade.domain.graph.walk import Step

if TYPE_CHECKING:
    from memvault_cascade.domain.graph.model import Triple
    from memvault_cascade.domain.graph.view import GraphView
    from memvault_cascade.ports import Totals
    from memvault_cascade.usecases.graphs import Graphs

PER_PAGE = 256


@dataclass(frozen=True, slots=True)
class LinkedEntity:
    """An entity in a text.

    How surely it is meant and how specific it is, both in [0, 1], and its nearest neighbours.
    """

    name: str
    confidence: float
    specificity: float
    neighbours: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class NamedTriple:
    """A fact with the names of its ends."""

    triple: Triple
    subject: str
    object: str


class Read:
    """Reads graphs."""

    def __init__(self, graphs: Graphs) -> None:
        """`graphs` are those of all users."""
        self._graphs = graphs

    async def link(self, user_id: str, text: str, neighbours: int) -> tuple[LinkedEntity, ...]:
        """Entities named in a text, the most specific first."""
        view = await self._graphs.view(user_id)
        found = [
            LinkedEntity(
                view.graph.entities[item.entity_id].name,
                item.confidence,
                _specificity(view, item.entity_id),
                _neighbours(view, item.entity_id, neighbours),
            )
            for item in link(text, view.names)
            if item.entity_id in view.graph.entities and item.how != SELF
        ]
        return tuple(sorted(found, key=lambda e: (-e.specificity, -e.confidence, e.name)))

    async def triples(self, user_id: str) -> AsyncIterator[tuple[NamedTriple, ...]]:
        """All facts, closed ones too, in pages of at most 256."""
        state = await self._graphs.state(user_id)
        names = state.graph.entities
        facts = [
            NamedTriple(t, names[t.subject_id].name, names[t.object_id].name)
            for t in sorted(state.graph.triples.values(), key=lambda t: t.id)
            if t.subject_id in names and t.object_id in names
        ]
        for start in range(0, len(facts), PER_PAGE):
            yield tuple(facts[start : start + PER_PAGE])

    async def totals(self, user_id: str) -> Totals:
        """Counts of one user's graph, or (empty) of all."""
        return await self._graphs.totals(user_id)


def _specificity(view: GraphView, entity: str) -> float:
    row = view.matrix.row_of.get(entity)
    return 0.0 if row is None else float(1.0 / max(1.0, view.matrix.block_frequency[row]))


def _neighbours(view: GraphView, entity: str, limit: int) -> tuple[Step, ...]:
    """Steps over the facts of an entity that hold, the best supported first."""
    facts = [
        t for t in view.graph.triples.values() if entity in (t.subject_id, t.object_id) and t.holds_at(view.made_for)
    ]
    facts.sort(key=lambda t: (-len(t.support), t.id))
    names = view.graph.entities
    return tuple(Step(names[t.subject_id].name, t.predicate, names[t.object_id].name) for t in facts[:limit])
