"""Graph parts as payloads of points and back.

Times are ISO 8601 in UTC; ids of points are derived, so that a write again is a write over.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID, uuid5

from memvault_cascade.domain.graph.model import (
    BlockNode,
    Community,
    Entity,
    EntityKind,
    Interval,
    Support,
    Synonym,
    Triple,
)

_NAMESPACE = UUID("6f6b8a52-43a5-5f7e-9a1c-0d6f0d0c4f11")

Payload = dict[str, Any]


def point_id(user_id: str, kind: str, identity: str) -> str:
    """Id of the point that holds one part of one user's graph."""
    return str(uuid5(_NAMESPACE, f"{user_id}\x1f{kind}\x1f{identity}"))


def entity_payload(entity: Entity) -> Payload:
    """An entity."""
    return {"name": entity.name, "form": entity.kind.value, "aliases": list(entity.aliases)}


def to_entity(identity: str, payload: Mapping[str, Any]) -> Entity:
    """The entity in a payload."""
    return Entity(identity, payload["name"], EntityKind(payload["form"]), tuple(payload["aliases"]))


def triple_payload(triple: Triple) -> Payload:
    """A fact."""
    return {
        "subject": triple.subject_id,
        "predicate": triple.predicate,
        "relation": triple.predicate_key,
        "object": triple.object_id,
        "support": [[s.block_id, s.stated_at.isoformat(), s.external] for s in triple.support],
        "confidence": triple.confidence,
        "extracted": triple.extracted,
        "given": [_text(triple.given_from), _text(triple.given_to)],
        "intervals": [[_text(i.start), _text(i.end)] for i in triple.intervals],
        "closed_by": triple.closed_by,
    }


def to_triple(identity: str, payload: Mapping[str, Any]) -> Triple:
    """The fact in a payload."""
    given_from, given_to = payload["given"]
    return Triple(
        identity,
        payload["subject"],
        payload["predicate"],
        payload["relation"],
        payload["object"],
        tuple(Support(block, datetime.fromisoformat(at), external) for block, at, external in payload["support"]),
        payload["confidence"],
        payload["extracted"],
        _time(given_from),
        _time(given_to),
        tuple(Interval(_time(start), _time(end)) for start, end in payload["intervals"]),
        payload["closed_by"],
    )


def block_payload(block: BlockNode) -> Payload:
    """A block."""
    return {
        "text": block.text,
        "mentions": list(block.mentions),
        "stated_at": block.stated_at.isoformat(),
        "version": block.version,
        "sequence": block.sequence,
        "digest": block.digest,
        "quarantined": block.quarantined,
        "superseded_by": block.superseded_by,
        "centrality": block.centrality,
    }


def to_block(identity: str, payload: Mapping[str, Any]) -> BlockNode:
    """The block in a payload."""
    return BlockNode(
        identity,
        payload["text"],
        tuple(payload["mentions"]),
        datetime.fromisoformat(payload["stated_at"]),
        payload["version"],
        payload.get("sequence", 0),
        payload["digest"],
        payload["quarantined"],
        payload["superseded_by"],
        payload["centrality"],
    )


def synonym_payload(synonym: Synonym) -> Payload:
    """A pair of synonyms."""
    return {"first": synonym.first_id, "second": synonym.second_id, "similarity": synonym.similarity}


def to_synonym(payload: Mapping[str, Any]) -> Synonym:
    """The pair in a payload."""
    return Synonym(payload["first"], payload["second"], payload["similarity"])


def community_payload(community: Community) -> Payload:
    """A community with its summary."""
    return {
        "title": community.title,
        "summary": community.summary,
        "entities": list(community.entity_ids),
        "blocks": list(community.block_ids),
        "fingerprint": community.fingerprint,
        "generator": community.generator,
    }


def to_community(identity: str, payload: Mapping[str, Any]) -> Community:
    """The community in a payload."""
    return Community(
        identity,
        payload["title"],
        payload["summary"],
        tuple(payload["entities"]),
        tuple(payload["blocks"]),
        payload["fingerprint"],
        payload["generator"],
    )


def _text(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()


def _time(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)
