"""Everything a recall reads of a graph, made once per revision: the matrix, the names, the facts by their ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from memvault_cascade.domain.graph.linking import LinkLimits, NameIndex, build_name_index
from memvault_cascade.domain.graph.matrix import EdgeWeights, GraphMatrix, build_matrix
from memvault_cascade.domain.graph.walk import FactIndex

if TYPE_CHECKING:
    from datetime import datetime

    from memvault_cascade.domain.graph.model import UserGraph


@dataclass(frozen=True, slots=True)
class GraphView:
    """A graph with what was computed from it; consistent in itself, perhaps a write behind."""

    graph: UserGraph
    matrix: GraphMatrix
    names: NameIndex
    facts: FactIndex
    made_for: datetime


def build_view(
    graph: UserGraph,
    weights: EdgeWeights,
    links: LinkLimits,
    moment: datetime,
    previous: GraphView | None = None,
) -> GraphView:
    """Compute a view of the graph as it stands at `moment`; an older view of it saves work."""
    matrix = build_matrix(graph, weights, moment)
    names = _names(graph, links, previous)
    facts = FactIndex.of((t for t in graph.triples.values() if graph.is_stated(t)), matrix)
    return GraphView(graph, matrix, names, facts, moment)


def _names(graph: UserGraph, links: LinkLimits, previous: GraphView | None) -> NameIndex:
    """The index of names, continued from the previous one when entities only came: most writes only add a few."""
    if previous is None:
        return build_name_index(graph.entities.values(), links)
    known = previous.graph.entities
    if any(graph.entities.get(identity) != entity for identity, entity in known.items()):
        return build_name_index(graph.entities.values(), links)
    return build_name_index((e for i, e in graph.entities.items() if i not in known), links, onto=previous.names)


def view_at(view: GraphView, weights: EdgeWeights, moment: datetime) -> GraphView:
    """The same graph as it stood at an earlier moment: without later blocks and facts (`as_of`)."""
    matrix = build_matrix(view.graph, weights, moment, past_only=True)
    then = (t for t in view.graph.triples.values() if t.holds_at(moment) and view.graph.is_stated(t))
    facts = FactIndex.of(then, matrix)
    return GraphView(view.graph, matrix, view.names, facts, moment)
