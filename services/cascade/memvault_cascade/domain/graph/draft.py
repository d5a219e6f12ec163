"""A graph while several writes to it are worked out: changed in place, so that each write costs what it changes.

The graph it began from stays as it is; readers of that one never see a draft.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, TypeVar

from memvault_cascade.domain.graph.model import GraphChange, Part

if TYPE_CHECKING:
    from memvault_cascade.domain.graph.model import BlockNode, Entity, Triple, UserGraph

P = TypeVar("P", bound=Part)


class Overlay(Mapping[str, P]):
    """Parts by id over others that stay untouched."""

    def __init__(self, below: Mapping[str, P]) -> None:
        """`below` is never changed."""
        self._below = below
        self._come: dict[str, P] = {}
        self._gone: set[str] = set()

    def __getitem__(self, identity: str) -> P:
        """The part; KeyError when there is none."""
        if identity in self._come:
            return self._come[identity]
        if identity in self._gone:
            raise KeyError(identity)
        return self._below[identity]

    def __contains__(self, identity: object) -> bool:
        """Whether there is such a part."""
        return identity in self._come or (identity in self._below and identity not in self._gone)

    def __iter__(self) -> Iterator[str]:
        """All ids: those from below first."""
        yield from (one for one in self._below if one not in self._gone)
        yield from (one for one in self._come if one not in self._below)

    def __len__(self) -> int:
        """How many parts there are."""
        return len(self._below) - len(self._gone) + sum(one not in self._below for one in self._come)

    def lay(self, parts: Iterable[P], gone: Iterable[str]) -> None:
        """Put parts, and take others away."""
        for part in parts:
            self._come[part.id] = part
            self._gone.discard(part.id)
        for identity in gone:
            self._come.pop(identity, None)
            if identity in self._below:
                self._gone.add(identity)

    def come(self) -> tuple[P, ...]:
        """What was put and is still there."""
        return tuple(self._come.values())

    def gone(self) -> tuple[str, ...]:
        """Ids from below that were taken away."""
        return tuple(sorted(self._gone))


class Draft:
    """What rules read of a graph (see `model.Readable`), and a way to change it; synonyms play no part in rules."""

    def __init__(self, graph: UserGraph) -> None:
        """Begin from a graph."""
        self.entities: Overlay[Entity] = Overlay(graph.entities)
        self.triples: Overlay[Triple] = Overlay(graph.triples)
        self.blocks: Overlay[BlockNode] = Overlay(graph.blocks)
        self._by_relation: dict[tuple[str, str], dict[str, None]] | None = None

    def related(self, relations: Collection[tuple[str, str]]) -> Iterable[Triple]:
        """See `Readable.related`; facts are sorted by their relation once for all writes of the draft."""
        if not relations:
            return ()
        if self._by_relation is None:
            self._by_relation = defaultdict(dict)
            for triple in self.triples.values():
                self._by_relation[triple.subject_id, triple.predicate_key][triple.id] = None
        known = self._by_relation
        return tuple(self.triples[i] for one in relations for i in known.get(one, ()))

    def put(self, change: GraphChange) -> None:
        """Make a change."""
        if self._by_relation is not None:
            for identity in change.gone_triples:
                gone = self.triples[identity]
                self._by_relation[gone.subject_id, gone.predicate_key].pop(identity, None)
            for triple in change.triples:
                self._by_relation[triple.subject_id, triple.predicate_key][triple.id] = None
        self.entities.lay(change.entities, change.gone_entities)
        self.triples.lay(change.triples, change.gone_triples)
        self.blocks.lay(change.blocks, change.gone_blocks)

    def change(self) -> GraphChange:
        """Everything that was put into it, as one change of the graph it began from."""
        return GraphChange(
            self.entities.come(),
            self.triples.come(),
            self.blocks.come(),
            (),
            self.entities.gone(),
            self.triples.gone(),
            self.blocks.gone(),
        )
