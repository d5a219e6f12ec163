"""Summaries of communities written ahead (R-30, layer L2), by extraction.

Sentences and facts that are already there, nothing new.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memvault.screening import sanitize_for_injection
from memvault.text import extractive_summary

if TYPE_CHECKING:
    from datetime import datetime

    from memvault_cascade.domain.graph.model import UserGraph

EXTRACTIVE = "extractive"
_JOINT = " · "


@dataclass(frozen=True, slots=True)
class SummaryLimits:
    """Sizes in characters and counts: the summary, what is read for it, the entities in a title, the facts quoted."""

    max_chars: int = 600
    read_chars: int = 8000
    title_entities: int = 3
    facts: int = 12


@dataclass(frozen=True, slots=True)
class Material:
    """What a summary of a community may be made of: screened facts and texts, oldest first."""

    title: str
    facts: tuple[str, ...]
    texts: tuple[str, ...]


def material(
    graph: UserGraph,
    entity_ids: Sequence[str],
    block_ids: Sequence[str],
    limits: SummaryLimits,
    *,
    as_of: datetime | None = None,
) -> Material:
    """Collect what a summary may say.

    Facts between members that hold (now, or at `as_of`), and the texts of the heaviest blocks; superseded ones only
    when nothing else is left or when the past is asked for.
    """
    known = [b for b in block_ids if graph.may_quote(b)]
    current = [b for b in known if as_of is not None or not graph.blocks[b].superseded_by]
    chosen: list[tuple[datetime, str]] = []
    size = 0
    for block_id in current or known:
        text = sanitize_for_injection(graph.blocks[block_id].text).text
        if size + len(text) > limits.read_chars and chosen:
            break
        chosen.append((graph.blocks[block_id].stated_at, text))
        size += len(text)
    texts = tuple(text for _, text in sorted(chosen, key=lambda item: item[0]))
    names = [graph.entities[e].name for e in entity_ids[: limits.title_entities] if e in graph.entities]
    return Material(sanitize_for_injection(_JOINT.join(names)).text, _facts(graph, entity_ids, limits, as_of), texts)


def _facts(
    graph: UserGraph, entity_ids: Collection[str], limits: SummaryLimits, as_of: datetime | None
) -> tuple[str, ...]:
    members = set(entity_ids)
    inside = [
        t
        for t in graph.triples.values()
        if t.subject_id in members
        and t.object_id in members
        and graph.is_stated(t)
        and (t.valid_to is None if as_of is None else t.holds_at(as_of))
    ]
    inside.sort(key=lambda t: (-len(t.support), t.id))
    names = graph.entities
    lines = (f"{names[t.subject_id].name} {t.predicate} {names[t.object_id].name}" for t in inside[: limits.facts])
    return tuple(sanitize_for_injection(line).text for line in lines)


def summarise(found: Material, limits: SummaryLimits) -> str:
    """At most `max_chars` characters: the sentences of the texts that say most about the title.

    Facts alone where there is no text.
    """
    body = "\n".join(text.strip() for text in found.texts if text.strip())
    if body:
        return extractive_summary(body, limits.max_chars, query=found.title)
    facts = "; ".join(found.facts)
    return extractive_summary(facts, limits.max_chars) if facts else found.title
