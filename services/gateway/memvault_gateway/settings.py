"""Section `gateway` of the settings. Times in milliseconds unless the name says seconds."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from memvault_gateway.domain.packing import PackingNumbers
from memvault_gateway.domain.self_check import SelfCheckNumbers

_FROZEN = ConfigDict(frozen=True, extra="forbid")


class DeadlineSettings(BaseModel):
    """How long a recall and its hops may take; `answer_share` of it is kept for screening, packing and sending."""

    model_config = _FROZEN

    answer_share: float = Field(ge=0, le=0.5)
    fast_ms: int = Field(gt=0)
    deep_ms: int = Field(gt=0)
    router_ms: int = Field(gt=0)
    cascade_ms: int = Field(gt=0)
    write_ms: int = Field(gt=0)
    read_ms: int = Field(gt=0)
    export_ms: int = Field(gt=0)


class PrefetchSettings(BaseModel):
    """When a prepared answer may be used."""

    model_config = _FROZEN

    least_margin: float = Field(ge=0, le=1)
    freshness_ms: int = Field(gt=0)


class SourceCapSettings(BaseModel):
    """How many cards one source may fill (R-40a)."""

    model_config = _FROZEN

    cards: int = Field(ge=1)
    kinds: frozenset[str]


class Settings(BaseModel):
    """Section `gateway`."""

    model_config = _FROZEN

    time_zone: str
    limit: int = Field(ge=1, le=100)
    token_budget: int = Field(ge=1)
    cascade_limit: int = Field(ge=0)
    write_concurrency: int = Field(ge=1)
    wait_ms: int = Field(gt=0)
    body_bytes: int = Field(gt=0)
    deadline: DeadlineSettings
    prefetch: PrefetchSettings
    source_cap: SourceCapSettings
    packing: PackingNumbers
    self_check: SelfCheckNumbers
