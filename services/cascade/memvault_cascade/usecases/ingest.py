"""Blocks and facts in, forgotten ones out.

Every change is embedded, stored and remembered before the event is acknowledged.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from memvault.screening import sanitize_for_injection
from memvault_cascade.domain.graph import ingest as rules
from memvault_cascade.domain.graph.extraction import Fact, extract
from memvault_cascade.domain.graph.linking import may_be_synonyms
from memvault_cascade.domain.graph.mentions import Mention
from memvault_cascade.domain.graph.model import (
    BlockNode,
    EntityKind,
    GraphChange,
    Synonym,
    Triple,
    UserGraph,
    is_self,
)
from memvault_cascade.domain.graph.validity import reinstated_blocks, superseded_blocks
from memvault_cascade.ports import Annotation, Kind, Nearest

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from memvault_cascade.domain.graph.rules import ExtractionRules
    from memvault_cascade.ports import Announcer, FactReader, GraphState, GraphStore, TextVectors
    from memvault_cascade.usecases.graphs import Graphs


@dataclass(frozen=True, slots=True)
class IngestLimits:
    """Sizes and floors: characters of text kept per block, entities taken from one block.

    And when two entities are synonyms.

    `synonym_similarity` is calibrated and in [0, 1]; at most `synonyms` are kept for a new entity.
    """

    block_chars: int = 2000
    entities_per_block: int = 40
    synonym_similarity: float = 0.6
    synonyms: int = 5


@dataclass(frozen=True, slots=True)
class IncomingBlock:
    """A block as the index confirmed it. Times are UTC; `sequence` is the event's place on the bus, 0 when unknown."""

    user_id: str
    id: str
    text: str
    title: str
    speaker: str
    stated_at: datetime
    version: int
    confidence: float
    quarantined: bool
    superseded_by: str
    facts: tuple[Fact, ...]
    sequence: int = 0
    valid_from: datetime | None = None
    valid_to: datetime | None = None

    @property
    def digest(self) -> str:
        """Hash of all that the graph reads of the block."""
        facts = (f"{f.subject}\x1f{f.predicate}\x1f{f.object}" for f in self.facts)
        parts = (
            self.text,
            self.title,
            self.speaker,
            str(self.stated_at),
            str(self.valid_from),
            str(self.valid_to),
            *facts,
        )
        return hashlib.sha256("\x1e".join(parts).encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Parts:
    """What writing needs."""

    graphs: Graphs
    store: GraphStore
    vectors: TextVectors
    announcer: Announcer
    rules: ExtractionRules
    limits: IngestLimits
    changed: Callable[[str], None]
    reader: FactReader | None = None


class Ingest:
    """Writes to graphs."""

    def __init__(self, parts: Parts) -> None:
        """`parts.changed` is told the user whose graph changed."""
        self._parts = parts

    async def block(self, block: IncomingBlock) -> bool:
        """Put a block in; False when it brought nothing new or was forgotten meanwhile."""
        parts = self._parts
        reading = await self._read(block)
        async with parts.graphs.writing(block.user_id) as state:
            buried = max(state.forgotten.get(block.id, 0), state.forgotten_through)
            known = state.graph.blocks.get(block.id)
            stale = known is not None and (known.version > block.version or known.digest == block.digest)
            if stale or 0 < block.sequence <= buried:
                return False
            change = rules.enter(state.graph, reading, parts.rules.predicates)
            await self._commit(block.user_id, state.graph, change)
        return True

    async def fact(
        self, user_id: str, fact: Fact, block_ids: Sequence[str], stated_at: datetime, valid_from: datetime | None
    ) -> None:
        """Put a fact from outside in."""
        async with self._parts.graphs.writing(user_id) as state:
            left = [b for b in block_ids if b not in state.forgotten or b in state.graph.blocks]
            if block_ids and not left:
                return
            change = rules.assert_fact(state.graph, fact, left, stated_at, valid_from, self._parts.rules.predicates)
            await self._commit(user_id, state.graph, change)

    async def forget(self, user_id: str, block_ids: Sequence[str], sequence: int) -> int:
        """Take blocks out with all that stood on them alone; how many facts went.

        A block that was written again after `sequence` stays (0: nothing is newer).
        """
        async with self._parts.graphs.writing(user_id) as state:
            return await self._forget(user_id, state, block_ids, sequence)

    async def _forget(self, user_id: str, state: GraphState, block_ids: Iterable[str], sequence: int) -> int:
        known = state.graph.blocks
        gone = {b for b in block_ids if not (b in known and 0 < sequence < known[b].sequence)}
        await self._parts.graphs.bury(user_id, sorted(gone), sequence)
        change = rules.forget(state.graph, gone, self._parts.rules.predicates)
        if not change.is_empty():
            await self._commit(user_id, state.graph, change)
        await self._drop_communities(user_id, state, gone)
        return len(change.gone_triples)

    async def _drop_communities(self, user_id: str, state: GraphState, blocks: set[str]) -> None:
        """A summary may quote these blocks: it goes at once, the next rebuild writes a new one."""
        left = [c for c in state.communities if not blocks.intersection(c.block_ids)]
        if len(left) < len(state.communities):
            await self._parts.graphs.commit_communities(user_id, left, (), {}, 0)
            self._parts.changed(user_id)

    async def forget_user(self, user_id: str, sequence: int) -> int:
        """Remove a user's graph, but not what was written after `sequence`; how many facts went."""
        async with self._parts.graphs.writing(user_id) as state:
            if any(b.sequence > sequence > 0 for b in state.graph.blocks.values()):
                return await self._forget(user_id, state, state.graph.blocks, sequence)
            await self._parts.graphs.forget_user(user_id, sequence)
            return len(state.graph.triples)

    async def annotate(self, user_id: str, marks: Mapping[str, tuple[bool | None, str | None]]) -> None:
        """Take over marks on blocks: quarantined or not, superseded by which block; None leaves a mark alone.

        What stands on blocks in quarantine alone leaves walks and summaries.
        """
        async with self._parts.graphs.writing(user_id) as state:
            changes = [
                rules.annotate(state.graph, block, quarantined=quarantined, superseded_by=superseded_by)
                for block, (quarantined, superseded_by) in marks.items()
            ]
            change = GraphChange(blocks=tuple(b for c in changes for b in c.blocks))
            if not change.is_empty():
                await self._commit(user_id, state.graph, change)
            await self._drop_communities(user_id, state, {b for b, (quarantined, _) in marks.items() if quarantined})

    async def _read(self, block: IncomingBlock) -> rules.Reading:
        whole = f"{block.title}\n{block.text}" if block.title else block.text
        # An injected instruction is no statement of the user's: what is screened away states and names nothing.
        whole = sanitize_for_injection(whole).text
        found = extract(whole, block.speaker, self._parts.rules)
        facts = block.facts or found.facts
        if not block.facts and self._parts.reader is not None:
            facts = await self._parts.reader.read(whole) or found.facts
        mentions = list(found.mentions[: self._parts.limits.entities_per_block])
        if block.speaker and not is_self(block.speaker):
            mentions.append(Mention(block.speaker, EntityKind.NAME))
        node = BlockNode(
            block.id,
            block.text[: self._parts.limits.block_chars],
            (),
            block.stated_at,
            block.version,
            block.sequence,
            block.digest,
            block.quarantined,
            block.superseded_by,
        )
        return rules.Reading(
            node, facts, tuple(mentions), bool(block.facts), block.confidence, block.valid_from, block.valid_to
        )

    async def _commit(self, user_id: str, graph: UserGraph, change: GraphChange) -> None:
        vectors = await self._embed(graph, change)
        synonyms = await self._synonyms(user_id, graph, change, vectors)
        marked = _with_marks(graph, change)
        await self._parts.graphs.commit(user_id, replace(marked, synonyms=synonyms), vectors)
        notes = _annotations(graph, change)
        if notes:
            await self._parts.announcer.annotate(user_id, notes)
        self._parts.changed(user_id)

    async def _embed(self, graph: UserGraph, change: GraphChange) -> dict[str, NDArray[np.float32]]:
        names = {e.id: e.name for e in (*graph.entities.values(), *change.entities)} if change.triples else {}
        texts = {e.id: e.name for e in change.entities if e.id not in graph.entities}
        texts |= {t.id: triple_text(t, names) for t in change.triples if t.id not in graph.triples}
        if not texts:
            return {}
        vectors = await self._parts.vectors.passages(list(texts.values()))
        return dict(zip(texts, vectors, strict=True))

    async def _synonyms(
        self, user_id: str, graph: UserGraph, change: GraphChange, vectors: Mapping[str, NDArray[np.float32]]
    ) -> tuple[Synonym, ...]:
        limits = self._parts.limits
        fresh = {e.id: e for e in change.entities if e.id in vectors and e.kind is EntityKind.NAME}
        if not fresh or not limits.synonyms:
            return ()
        questions = [Nearest(i, Kind.ENTITY, vectors[i], limits.synonyms) for i in fresh]
        found = await self._parts.store.nearest(user_id, questions)
        return tuple(
            Synonym(identity, other, similarity)
            for identity, hits in found.items()
            for other, similarity in hits
            if similarity >= limits.synonym_similarity
            and other != identity
            and other in graph.entities
            and graph.entities[other].kind is EntityKind.NAME
            and may_be_synonyms(fresh[identity].name, graph.entities[other].name)
        )


def triple_text(triple: Triple, names: Mapping[str, str]) -> str:
    """A fact as one searchable line."""
    return f"{names.get(triple.subject_id, '')} {triple.predicate} {names.get(triple.object_id, '')}".strip()


def _annotations(graph: UserGraph, change: GraphChange) -> list[Annotation]:
    superseded = superseded_blocks(graph.triples, change.triples)
    notes = [Annotation(block, superseded_by=newer) for block, newer in superseded.items()]
    freed = (b for b in reinstated_blocks(graph.triples, change.triples) if b not in superseded)
    return notes + [Annotation(block, superseded_by="") for block in freed]


def _with_marks(graph: UserGraph, change: GraphChange) -> GraphChange:
    """The change with the marks of superseded blocks already on their nodes.

    Before the echo comes back over the bus.
    """
    nodes = {b.id: b for b in change.blocks}
    for note in _annotations(graph, change):
        node = nodes.get(note.block_id) or graph.blocks.get(note.block_id)
        if node is not None and note.superseded_by is not None:
            nodes[node.id] = replace(node, superseded_by=note.superseded_by)
    return replace(change, blocks=tuple(nodes.values()))
