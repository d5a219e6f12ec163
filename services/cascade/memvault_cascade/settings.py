"""Settings of the cascade service: sections `cascade` and below of the product's settings."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from memvault_cascade.domain.graph.communities import CommunityLimits
from memvault_cascade.domain.graph.linking import LinkLimits
from memvault_cascade.domain.graph.matrix import EdgeWeights
from memvault_cascade.domain.graph.overview import FitNumbers
from memvault_cascade.domain.graph.ppr import SeedWeights, WalkLimits
from memvault_cascade.domain.graph.summaries import SummaryLimits
from memvault_cascade.domain.graph.walk import PathCosts


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class WalkSettings(_Frozen):
    """Numbers of the walk (R-31); one set per profile."""

    walk: WalkLimits
    seeds: SeedWeights
    paths: PathCosts
    fit: FitNumbers
    edges: EdgeWeights
    facts: int = Field(ge=0)
    least_fact: float = Field(ge=0, le=1)
    synonyms: int = Field(ge=0)
    least_synonym: float = Field(ge=0, le=1)
    seed_blocks: int = Field(ge=0)
    limit: int = Field(ge=1, le=200)
    least_triple: float = Field(ge=0, le=1)
    least_block: float = Field(ge=0, le=1)


class IngestSettings(_Frozen):
    """Numbers of writing (R-33, R-34)."""

    block_chars: int = Field(ge=1)
    entities_per_block: int = Field(ge=0)
    synonym_similarity: float = Field(ge=0, le=1)
    synonyms: int = Field(ge=0)
    batch: int = Field(ge=1, le=256)


class GardenSettings(_Frozen):
    """Numbers of the background rounds; times in seconds."""

    quiet_s: float = Field(ge=0)
    longest_s: float = Field(ge=0)
    rest: float = Field(ge=0)
    centrality_step: float = Field(ge=0, le=1)


class DreamSettings(_Frozen):
    """Numbers of the nightly loop (R-36); times in seconds, `hour` in local time."""

    hour: int = Field(ge=0, le=23)
    work_s: float = Field(gt=0)
    lock_s: float = Field(gt=0)


class LeidenSettings(_Frozen):
    """How communities are cut: `igraph` (GPL, the default) or `native` (MIT)."""

    engine: Literal["igraph", "native"]
    resolution: float = Field(gt=0)
    seed: int
    inline_nodes: int = Field(ge=0)


class CacheSettings(_Frozen):
    """Graphs in memory, names to compare new ones with, and how long a recall waits for a fresh view in seconds."""

    users: int = Field(ge=1)
    names: int = Field(ge=0)
    fresh_view_s: float = Field(ge=0)


class Settings(_Frozen):
    """Section `cascade`; the walk's numbers are those of one profile, both are loaded."""

    flush_every_s: float = Field(gt=0)
    embed_timeout_s: float = Field(gt=0)
    embed_batch_timeout_s: float = Field(gt=0)
    embed_batch: int = Field(ge=1, le=512)
    embed_remembered: int = Field(ge=0)
    start_timeout_s: float = Field(gt=0)
    store_timeout_s: int = Field(ge=1)
    nearest_at_once: int = Field(ge=1)
    llm_timeout_s: float = Field(gt=0)
    walk: WalkSettings
    ingest: IngestSettings
    garden: GardenSettings
    dream: DreamSettings
    leiden: LeidenSettings
    cache: CacheSettings
    linking: LinkLimits
    communities: CommunityLimits
    summaries: SummaryLimits
