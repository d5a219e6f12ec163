"""Blocks and facts in, forgotten ones out.

Every change is embedded, stored and remembered before the event is acknowledged.
"""

from __future__ import annotations

import asyncio
import hashlib
import math
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from memvault.batches import Batches
from memvault.faults import Fault, Reason
from memvault.screening import sanitize_for_injection
from memvault_cascade.domain.graph import ingest as rules
from memvault_cascade.domain.graph.extraction import Fact, extract
from memvault_cascade.domain.graph.mentions import Mention
from memvault_cascade.domain.graph.model import BlockNode, EntityKind, GraphChange, Readable
from memvault_cascade.domain.graph.names import is_cut
from memvault_cascade.usecases.plan import Plan, takes_away
from memvault_cascade.usecases.writing import SynonymLimits, Writer

if TYPE_CHECKING:
    from memvault_cascade.domain.graph.roles import Roles
    from memvault_cascade.domain.graph.rules import ExtractionRules
    from memvault_cascade.ports import Announcer, FactReader, GraphState, GraphStore, TextVectors
    from memvault_cascade.usecases.graphs import Graphs


@dataclass(frozen=True, slots=True)
class IngestLimits:
    """Sizes and floors: characters of text kept per block, entities taken from one block, blocks of one batch.

    And when two entities are synonyms.

    `synonym_similarity` is calibrated and in [0, 1]; at most `synonyms` are kept for a new entity.
    """

    block_chars: int = 2000
    entities_per_block: int = 40
    synonym_similarity: float = 0.6
    synonyms: int = 5
    batch: int = 64


@dataclass(frozen=True, slots=True)
class IncomingBlock:
    """A block as the index confirmed it. Times are UTC; `sequence` is the event's place on the bus, 0 when unknown.

    Of a `frozen` one the text is the summary, and the graph keeps what it had read of the whole.
    """

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
    frozen: bool = False

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


@dataclass(frozen=True, slots=True)
class _Read:
    """A block, its place in its batch, and what was read of it."""

    place: int
    block: IncomingBlock
    reading: rules.Reading


class Ingest:
    """Writes to graphs."""

    def __init__(self, parts: Parts) -> None:
        """`parts.changed` is told the user whose graph changed."""
        self._parts = parts
        limits = parts.limits
        synonyms = SynonymLimits(limits.synonym_similarity, limits.synonyms)
        self._writer = Writer(parts.graphs, parts.store, parts.vectors, parts.announcer, synonyms, parts.changed)
        self._batches = Batches[IncomingBlock, bool](self._blocks, limits.batch)

    async def stop(self) -> None:
        """Give up what is being worked on; the bus hands it out again."""
        await self._batches.stop()

    async def block(self, block: IncomingBlock, *, alone: bool = False) -> bool:
        """Put a block in; False when it brought nothing new or was forgotten meanwhile.

        Blocks that come while another of their user is worked on are taken together, unless one shall be `alone`.
        """
        return await self._batches.submit(block.user_id, block, alone=alone)

    async def _blocks(self, user_id: str, blocks: Sequence[IncomingBlock]) -> list[bool]:
        """Put blocks in as if they came one by one, in the order of the bus."""
        in_order = sorted(enumerate(blocks), key=lambda item: item[1].sequence or math.inf)
        rest = deque(await self._readings(in_order, await self._parts.graphs.state(user_id)))
        entered = [False] * len(blocks)
        while rest:
            plan = await self._writer.write(user_id, lambda state: self._entered(state, rest))
            for came_in in plan.entered:
                entered[rest.popleft().place] = came_in
        return entered

    async def _readings(self, blocks: Iterable[tuple[int, IncomingBlock]], state: GraphState) -> list[_Read]:
        """What is to be read of blocks, read: nothing of those that were forgotten or are known."""
        wanted: list[tuple[int, IncomingBlock]] = []
        named: set[str] = set()
        for place, block in blocks:
            # The same content again is nothing new, unless another version of the block comes before it.
            if not (_is_buried(state, block) or (block.id not in named and _is_stale(state.graph, block))):
                wanted.append((place, block))
                named.add(block.id)
        if self._parts.reader is not None:
            readings = await asyncio.gather(*(self._read(block) for _, block in wanted))
            return [_Read(place, block, reading) for (place, block), reading in zip(wanted, readings, strict=True)]
        found = []
        for place, block in wanted:
            found.append(_Read(place, block, await self._read(block)))
            await asyncio.sleep(0)  # reading a batch takes hundreds of milliseconds, no recall shall wait for them
        return found

    def _entered(self, state: GraphState, blocks: Iterable[_Read]) -> Plan:
        """The plan that puts blocks in, the first of them at least."""
        plan = Plan(state)
        for one in blocks:
            if _is_buried(state, one.block) or _is_stale(plan.draft, one.block):
                plan.entered.append(False)
                continue
            change = rules.enter(plan.draft, one.reading, self._parts.rules.predicates)
            if takes_away(change) and plan.changes:
                break
            plan.put(change)
            plan.entered.append(True)
            if takes_away(change):
                break
        return plan

    async def fact(
        self, user_id: str, fact: Fact, block_ids: Sequence[str], stated_at: datetime, valid_from: datetime | None
    ) -> None:
        """Put a fact from outside in.

        Raises:
            Fault: FIELD_INVALID for a fact about a part in a conversation, about nothing but the user, or with a
                redacted part.
        """
        named = _named(fact, self._parts.rules.roles)
        if named is None:
            message = (
                "a fact needs two names of something: a part in a conversation, such as `assistant`, is none, and "
                "neither is what was redacted"
            )
            raise Fault(Reason.FIELD_INVALID, message, field="triple")

        def asserted(state: GraphState) -> Plan:
            plan = Plan(state)
            graph = state.graph
            left = [b for b in block_ids if b not in state.forgotten or b in graph.blocks]
            if left or not block_ids:
                plan.put(rules.assert_fact(graph, named, left, stated_at, valid_from, self._parts.rules.predicates))
            return plan

        await self._writer.write(user_id, asserted)

    async def weed(self, user_id: str) -> int:
        """Take out the nodes of an older graph that name a part in a conversation; how many there were."""
        async with self._parts.graphs.writing(user_id) as state:
            change = rules.weed(state.graph, self._parts.rules.roles, self._parts.rules.predicates)
            await self._commit(user_id, state, change)
            return len(change.gone_entities)

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
        await self._commit(user_id, state, change)
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
                # What comes late of the time before must find the mark, though the user began anew meanwhile.
                await self._parts.graphs.forget_through(user_id, sequence)
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
            await self._commit(user_id, state, change)
            await self._drop_communities(user_id, state, {b for b, (quarantined, _) in marks.items() if quarantined})

    async def _read(self, block: IncomingBlock) -> rules.Reading:
        whole = f"{block.title}\n{block.text}" if block.title else block.text
        # An injected instruction is no statement of the user's: what is screened away states and names nothing.
        whole = sanitize_for_injection(whole).text
        found = extract(whole, block.speaker, self._parts.rules)
        facts = block.facts or found.facts
        if not (block.facts or block.frozen) and self._parts.reader is not None:
            facts = await self._parts.reader.read(whole) or found.facts
        roles = self._parts.rules.roles
        mentions = [mention for mention in found.mentions if not roles.names_nothing(mention.name)]
        mentions = mentions[: self._parts.limits.entities_per_block]
        if roles.is_somebody(block.speaker) and not is_cut(block.speaker):
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
            node,
            tuple(named for fact in facts if (named := _named(fact, roles)) is not None),
            tuple(mentions),
            bool(block.facts),
            block.confidence,
            block.valid_from,
            block.valid_to,
            block.frozen,
        )

    async def _commit(self, user_id: str, state: GraphState, change: GraphChange) -> None:
        plan = Plan(state)
        plan.put(change)
        await self._writer.write_locked(user_id, plan)


def _named(fact: Fact, roles: Roles) -> Fact | None:
    """The fact with the user under one name; None when an end of it names nothing, or a part of it was redacted."""
    if any(map(is_cut, (fact.subject, fact.predicate, fact.object))):
        return None
    ends = roles.ends(fact.subject, fact.object)
    return None if ends is None else Fact(ends[0], fact.predicate, ends[1])


def _is_buried(state: GraphState, block: IncomingBlock) -> bool:
    """Whether a block was forgotten after it was told of."""
    return 0 < block.sequence <= max(state.forgotten.get(block.id, 0), state.forgotten_through)


def _is_stale(graph: Readable, block: IncomingBlock) -> bool:
    """Whether a graph holds the block as it is, or a newer version."""
    known = graph.blocks.get(block.id)
    return known is not None and (known.version > block.version or known.digest == block.digest)
