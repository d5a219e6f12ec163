"""Which communities fit a question (R-31, GLOBAL)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from memvault_cascade.domain.graph.summaries import EXTRACTIVE, SummaryLimits, material, summarise

if TYPE_CHECKING:
    from datetime import datetime

    from memvault_cascade.domain.graph.model import Community, UserGraph


@dataclass(frozen=True, slots=True)
class FitNumbers:
    """How a community's fit is made.

    Weight of the share of the restart mass that lies in it, and the least fit that is shown (0 to 1).
    """

    seed_weight: float = 0.5
    least: float = 0.15


@dataclass(frozen=True, slots=True)
class FittingCommunity:
    """A community with its calibrated similarity to the query and its fit, both in [0, 1]."""

    community: Community
    similarity: float
    fit: float


def fitting(
    communities: Sequence[Community],
    similarity: Mapping[str, float],
    seed_mass: Mapping[str, float],
    numbers: FitNumbers,
    limit: int,
) -> tuple[FittingCommunity, ...]:
    """The communities that fit best: similarity of the summary, plus the share of the seeds among the members.

    At most 1.

    Args:
        communities: All of the user's.
        similarity: Calibrated similarity of summary and query, by community id; missing = 0.
        seed_mass: Restart probability by entity id.
        numbers: See `FitNumbers`.
        limit: How many at most.
    """
    total = sum(seed_mass.values())
    found = []
    for community in communities:
        alike = similarity.get(community.id, 0.0)
        inside = sum(seed_mass.get(e, 0.0) for e in community.entity_ids) / total if total > 0 else 0.0
        fit = min(1.0, alike + numbers.seed_weight * inside)
        if fit >= numbers.least:
            found.append(FittingCommunity(community, alike, fit))
    return tuple(sorted(found, key=lambda f: (-f.fit, f.community.id))[:limit])


def as_it_was(graph: UserGraph, community: Community, moment: datetime, limits: SummaryLimits) -> Community | None:
    """The community as of a moment: without later blocks, its summary made anew when it stood on any.

    None when nothing is left.
    """
    blocks = tuple(b for b in community.block_ids if graph.may_quote(b) and graph.blocks[b].stated_at <= moment)
    if len(blocks) == len(community.block_ids):
        return community
    if not blocks:
        return None
    summary = summarise(material(graph, community.entity_ids, blocks, limits, as_of=moment), limits)
    return replace(community, block_ids=blocks, summary=summary, generator=EXTRACTIVE)
