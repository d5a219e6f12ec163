"""How blocks and facts enter and leave a graph: pure functions from a graph and an event to a change."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from memvault_cascade.domain.graph.mentions import Mention
from memvault_cascade.domain.graph.model import BlockNode, Entity, EntityKind, GraphChange, Readable, Support, Triple
from memvault_cascade.domain.graph.names import SELF_NAME, entity_id, is_nameable, is_self, triple_id
from memvault_cascade.domain.graph.validity import settle

if TYPE_CHECKING:
    from memvault_cascade.domain.graph.extraction import Fact
    from memvault_cascade.domain.graph.roles import Roles
    from memvault_cascade.domain.graph.rules import Predicates


_NEVER = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Reading:
    """What is known of a block when it enters: its node without mentions, the facts it states and the names it holds.

    `given` tells that the writer stated the facts; otherwise they were extracted. `confidence` is the facts' own, in
    [0, 1]. Of a `frozen` block only the summary was read.
    """

    block: BlockNode
    facts: tuple[Fact, ...]
    mentions: tuple[Mention, ...]
    given: bool
    confidence: float
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    frozen: bool = False


def enter(graph: Readable, reading: Reading, predicates: Predicates) -> GraphChange:
    """The change that puts a block in, replacing what an older version of it had put in.

    A block that was frozen gives up its text only: facts and names that were read of the whole stay.
    """
    block = reading.block
    former = graph.blocks.get(block.id)
    if reading.frozen and former is not None:
        return GraphChange(blocks=(replace(block, mentions=former.mentions, centrality=former.centrality),))
    facts = tuple(f for f in reading.facts if is_nameable(f.subject) and is_nameable(f.object))
    entities = _entities(graph, facts, reading.mentions)
    mentions = tuple(dict.fromkeys(entities))
    support = Support(block.id, block.stated_at)
    stated = [_triple(fact, predicates, support, reading) for fact in facts]
    touched = _without_blocks(graph, {block.id}, keep_external=True)
    for triple in stated:
        known = touched.get(triple.id) or graph.triples.get(triple.id)
        touched[triple.id] = triple if known is None else _merged(known, triple)
    node = replace(block, mentions=mentions)
    freed = set(former.mentions) - set(mentions) if former else set()
    return _change(graph, touched, tuple(entities.values()), (node,), (), freed, predicates)


def assert_fact(
    graph: Readable,
    fact: Fact,
    block_ids: Sequence[str],
    stated_at: datetime,
    given_from: datetime | None,
    predicates: Predicates,
) -> GraphChange:
    """The change that a fact from outside makes; blocks that the graph does not know yet still count as its support."""
    entities = _entities(graph, (fact,), ())
    ids = list(entities)
    subject, target = _name_id(fact.subject), _name_id(fact.object)
    supports = tuple(
        Support(b, graph.blocks[b].stated_at if b in graph.blocks else stated_at, external=True) for b in block_ids
    )
    key = predicates.key(fact.predicate)
    start = given_from or (None if supports else stated_at)
    triple = Triple(triple_id(subject, key, target), subject, fact.predicate, key, target, supports, given_from=start)
    known = graph.triples.get(triple.id)
    touched: dict[str, Triple | None] = {triple.id: triple if known is None else _merged(known, triple)}
    nodes = tuple(
        replace(graph.blocks[b], mentions=tuple(dict.fromkeys((*graph.blocks[b].mentions, *ids))))
        for b in block_ids
        if b in graph.blocks
    )
    return _change(graph, touched, tuple(entities.values()), nodes, (), set(), predicates)


def forget(graph: Readable, block_ids: Collection[str], predicates: Predicates) -> GraphChange:
    """The change that takes blocks out, with every fact and entity that stood on them alone.

    Facts they had closed are open again.
    """
    gone = tuple(sorted(b for b in set(block_ids) if b in graph.blocks))
    freed = {entity for b in gone for entity in graph.blocks[b].mentions}
    touched = _without_blocks(graph, set(block_ids), keep_external=False)
    return _change(graph, touched, (), (), gone, freed, predicates)


def annotate(graph: Readable, block_id: str, *, quarantined: bool | None, superseded_by: str | None) -> GraphChange:
    """The change that a mark on a block makes; None leaves a mark as it is."""
    block = graph.blocks.get(block_id)
    if block is None:
        return GraphChange()
    marked = replace(
        block,
        quarantined=block.quarantined if quarantined is None else quarantined,
        superseded_by=block.superseded_by if superseded_by is None else superseded_by,
    )
    return GraphChange() if marked == block else GraphChange(blocks=(marked,))


def weed(graph: Readable, roles: Roles, predicates: Predicates) -> GraphChange:
    """The change that takes out what older rules made of words for a part in a conversation.

    What was stated about "the user" is stated about 「我」; facts about any other part go.
    """
    gone = {e.id: e for e in graph.entities.values() if e.kind is not EntityKind.SELF and roles.names_nothing(e.name)}
    if not gone:
        return GraphChange()
    own = entity_id(SELF_NAME)
    users = {i for i, entity in gone.items() if roles.means_user(entity.name)}
    touched: dict[str, Triple | None] = {}
    moved: set[str] = set()
    for triple in graph.triples.values():
        if triple.subject_id not in gone and triple.object_id not in gone:
            continue
        touched[triple.id] = None
        subject, target = (own if end in users else end for end in (triple.subject_id, triple.object_id))
        if subject in gone or target in gone or subject == target:
            continue
        renamed = replace(
            triple, id=triple_id(subject, triple.predicate_key, target), subject_id=subject, object_id=target
        )
        known = touched.get(renamed.id) or graph.triples.get(renamed.id)
        touched[renamed.id] = renamed if known is None else _merged(known, renamed)
        moved.update(s.block_id for s in triple.support)
    nodes = []
    for block in graph.blocks.values():
        if not gone.keys().isdisjoint(block.mentions):
            left = [one for one in block.mentions if one not in gone]
            nodes.append(replace(block, mentions=tuple(dict.fromkeys((*left, own) if block.id in moved else left))))
    entities = (Entity(own, SELF_NAME, EntityKind.SELF),) if moved and own not in graph.entities else ()
    return _change(graph, touched, entities, tuple(nodes), (), set(gone), predicates)


def _name_id(name: str) -> str:
    return entity_id(SELF_NAME if is_self(name) else name)


def _entities(graph: Readable, facts: Iterable[Fact], mentions: Iterable[Mention]) -> dict[str, Entity]:
    named = [Mention(name, EntityKind.NAME) for fact in facts for name in (fact.subject, fact.object)]
    found: dict[str, Entity] = {}
    for mention in (*mentions, *named):
        name = SELF_NAME if is_self(mention.name) else mention.name.strip()
        if not is_nameable(name):
            continue
        identity = entity_id(name)
        kind = EntityKind.SELF if name == SELF_NAME else mention.kind
        known = found.get(identity) or graph.entities.get(identity)
        if known is None:
            found[identity] = Entity(identity, name, kind)
        elif name != known.name and name not in known.aliases and len(known.aliases) < MOST_ALIASES:
            found[identity] = replace(known, aliases=(*known.aliases, name))
        else:
            found[identity] = known
    return found


def _triple(fact: Fact, predicates: Predicates, support: Support, reading: Reading) -> Triple:
    subject, target, key = _name_id(fact.subject), _name_id(fact.object), predicates.key(fact.predicate)
    return Triple(
        triple_id(subject, key, target),
        subject,
        fact.predicate,
        key,
        target,
        (support,),
        confidence=reading.confidence,
        extracted=not reading.given,
        given_from=reading.valid_from,
        given_to=reading.valid_to,
    )


def _merged(known: Triple, new: Triple) -> Triple:
    """One fact stated twice.

    Supports add up, the surer statement's confidence counts, the newer statement's bounds too. Newer is what was stated
    later, not what arrived later.
    """
    ids = {s.block_id for s in new.support}
    support = (*(s for s in known.support if s.block_id not in ids), *new.support)
    older, newer = sorted((known, new), key=_last_stated)
    return replace(
        known,
        support=tuple(sorted(support, key=lambda s: (s.stated_at, s.block_id))),
        confidence=max(known.confidence, new.confidence),
        extracted=known.extracted and new.extracted,
        given_from=newer.given_from or older.given_from,
        given_to=newer.given_to or older.given_to,
    )


def _last_stated(triple: Triple) -> tuple[datetime, str]:
    return max(((s.stated_at, s.block_id) for s in triple.support), default=(_NEVER, ""))


def _without_blocks(graph: Readable, block_ids: Collection[str], *, keep_external: bool) -> dict[str, Triple | None]:
    """Facts that lose support when blocks go, None for those that lose all of it."""
    touched: dict[str, Triple | None] = {}
    if keep_external and not any(b in graph.blocks for b in block_ids):
        # A block that is new has no facts of its own to lose, and need not be looked for in all of them.
        return touched
    for triple in graph.triples.values():
        left = tuple(s for s in triple.support if s.block_id not in block_ids or (keep_external and s.external))
        if len(left) != len(triple.support):
            touched[triple.id] = replace(triple, support=left) if left else None
    return touched


def _change(
    graph: Readable,
    touched: dict[str, Triple | None],
    entities: tuple[Entity, ...],
    blocks: tuple[BlockNode, ...],
    gone_blocks: tuple[str, ...],
    freed: set[str],
    predicates: Predicates,
) -> GraphChange:
    before = tuple(graph.triples[i] for i in touched if i in graph.triples)
    put = {i: t for i, t in touched.items() if t is not None}
    # Where many things may hold at once, one fact says nothing about another.
    relations = {(t.subject_id, t.predicate_key) for t in (*put.values(), *before)}
    contested = {one for one in relations if one[1] in predicates.single_valued}
    others = (t for t in graph.related(contested) if t.id not in touched)
    settled = settle((*others, *put.values()), predicates.single_valued)
    triples = tuple(t for t in settled if t != graph.triples.get(t.id))
    gone_triples = tuple(sorted(i for i, t in touched.items() if t is None and i in graph.triples))
    freed |= {end for i in gone_triples for end in (graph.triples[i].subject_id, graph.triples[i].object_id)}
    kept = {e.id for e in entities}
    gone_entities = _unused(graph, freed - kept, touched, blocks, set(gone_blocks))
    changed = tuple(e for e in entities if e != graph.entities.get(e.id))
    nodes = tuple(b for b in blocks if b != graph.blocks.get(b.id))
    return GraphChange(changed, triples, nodes, (), gone_entities, gone_triples, gone_blocks)


def _unused(
    graph: Readable,
    candidates: set[str],
    touched: dict[str, Triple | None],
    blocks: tuple[BlockNode, ...],
    gone_blocks: set[str],
) -> tuple[str, ...]:
    """Entities that nothing names any more."""
    if not candidates:
        return ()
    replaced = {b.id for b in blocks} | gone_blocks
    left = (t for t in {**graph.triples, **touched}.values() if t is not None)
    used = {end for t in left for end in (t.subject_id, t.object_id)}
    used |= {e for b in blocks for e in b.mentions}
    used |= {e for b in graph.blocks.values() if b.id not in replaced for e in b.mentions}
    return tuple(sorted(e for e in candidates if e not in used and e in graph.entities))


MOST_ALIASES = 12
"""Further spellings kept per entity."""
