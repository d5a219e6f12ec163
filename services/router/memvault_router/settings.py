"""Frozen settings of the router; their values stand in `memvault/defaults.toml`, section `router`."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from memvault_router.domain.operators.follow_up import FollowUpNumbers
from memvault_router.domain.operators.fusion import FusionNumbers
from memvault_router.domain.operators.personalise import PersonalNumbers
from memvault_router.domain.operators.plan import Route
from memvault_router.domain.prefetch import NearNumbers
from memvault_router.domain.profile import InterestNumbers, Window
from memvault_router.domain.threshold import ThresholdNumbers
from memvault_router.domain.time.span import VagueNumbers

Share = Annotated[float, Field(ge=0, le=1)]
Seconds = Annotated[float, Field(gt=0)]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Waits(_Frozen):
    """How long the router waits, in seconds.

    For one encoding, a batch of archetypes, one store call, one LLM call, the archetypes at start, before it tries
    those again, before it tries a failed store again, and for the bus to take an event.
    """

    embed_s: Seconds
    embed_batch_s: Seconds
    store_s: Seconds
    llm_s: Seconds
    warm_up_s: Seconds
    warm_up_retry_s: Seconds
    store_rest_s: Seconds
    bus_s: Seconds


class RouterSettings(_Frozen):
    """All numbers of the router for one profile."""

    time_zone: str
    nearest_share: Annotated[float, Field(gt=0, le=1)]
    read_chars: Annotated[int, Field(ge=100)]
    llm_share: Share
    open_rest: Share
    facet_passages: bool
    archetype_folder: str
    seen_event_days: Annotated[float, Field(gt=0)]
    intent_fusion: FusionNumbers
    facet_fusion: FusionNumbers
    personal: PersonalNumbers
    windows: tuple[Window, ...]
    interests: InterestNumbers
    threshold: ThresholdNumbers
    follow_up: FollowUpNumbers
    vague: VagueNumbers
    routes: dict[str, Route]
    near: NearNumbers
    prepared_apart_s: Seconds
    waits: Waits
