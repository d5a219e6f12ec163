"""What a run of writes makes of a graph, worked out before anything is written."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from memvault_cascade.domain.graph.draft import Draft
from memvault_cascade.domain.graph.validity import reinstated_blocks, superseded_blocks
from memvault_cascade.ports import Annotation

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memvault_cascade.domain.graph.model import Entity, GraphChange, Readable, Synonym, Triple
    from memvault_cascade.ports import GraphState


@dataclass(slots=True)
class Plan:
    """Changes in their order, as one change of the graph in `state`.

    `texts` are what to embed, by id of the new entity or fact; `born` tells which of the changes brought a new entity,
    since it can be a synonym only of entities that were there before its own. `entered` tells of each block that was
    looked at whether it came in. `notes` are the marks of blocks to tell their owner, the last one of each block.
    """

    state: GraphState
    draft: Draft = field(init=False)
    changes: int = 0
    entered: list[bool] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)
    born: dict[str, int] = field(default_factory=dict)
    notes: dict[str, Annotation] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Begin from the graph in `state`."""
        self.draft = Draft(self.state.graph)

    def put(self, change: GraphChange) -> None:
        """Add a change of the draft."""
        notes = _annotations(self.draft.triples, change)
        self.changes += 1
        for entity in change.entities:
            if entity.id not in self.draft.entities:
                self.texts[entity.id] = entity.name
                self.born[entity.id] = self.changes
        names = {e.id: e for e in change.entities}
        for triple in change.triples:
            if triple.id not in self.draft.triples:
                self.texts[triple.id] = self._text(triple, names)
        self.draft.put(_marked(self.draft, change, notes))
        for note in notes:
            self.notes.pop(note.block_id, None)
            self.notes[note.block_id] = note

    def change(self, synonyms: tuple[Synonym, ...] = ()) -> GraphChange:
        """All changes as one."""
        return replace(self.draft.change(), synonyms=synonyms)

    def _text(self, triple: Triple, fresh: Mapping[str, Entity]) -> str:
        """A fact as one searchable line."""
        ends = (fresh.get(end) or self.draft.entities.get(end) for end in (triple.subject_id, triple.object_id))
        subject, target = ("" if one is None else one.name for one in ends)
        return f"{subject} {triple.predicate} {target}".strip()


def takes_away(change: GraphChange) -> bool:
    """Whether anything goes. Such a change has a plan of its own: what goes may not come back inside one write."""
    return bool(change.gone_entities or change.gone_triples or change.gone_blocks)


def _annotations(before: Mapping[str, Triple], change: GraphChange) -> list[Annotation]:
    superseded = superseded_blocks(before, change.triples)
    notes = [Annotation(block, superseded_by=newer) for block, newer in superseded.items()]
    freed = (b for b in reinstated_blocks(before, change.triples) if b not in superseded)
    return notes + [Annotation(block, superseded_by="") for block in freed]


def _marked(graph: Readable, change: GraphChange, notes: list[Annotation]) -> GraphChange:
    """The change with the marks of superseded blocks already on their nodes.

    Before the echo comes back over the bus.
    """
    nodes = {b.id: b for b in change.blocks}
    for note in notes:
        node = nodes.get(note.block_id) or graph.blocks.get(note.block_id)
        if node is not None and note.superseded_by is not None:
            nodes[node.id] = replace(node, superseded_by=note.superseded_by)
    return replace(change, blocks=tuple(nodes.values()))
