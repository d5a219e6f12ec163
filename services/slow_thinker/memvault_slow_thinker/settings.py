"""Section `slow_thinker` of the settings."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from memvault_slow_thinker.domain.admission import Limits
from memvault_slow_thinker.domain.numbers import PredictionNumbers


class WindowSettings(BaseModel):
    """How much of a conversation is kept, and for how long. Times in seconds."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    utterances: int
    ttl_s: int
    conversations: int
    predictions: int
    predictions_ttl_s: int


class FetchSettings(BaseModel):
    """How prepared answers are fetched and kept. Times in seconds.

    `concurrency` bounds recalls under way, so that prefetching never crowds out a user's recall; an answer whose
    `degraded` names one of `unusable_when_degraded` is not kept.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    timeout_s: float
    entry_ttl_s: int
    concurrency: int
    waiting: int
    unusable_when_degraded: frozenset[str]


class Settings(BaseModel):
    """Section `slow_thinker`.

    `perishable_s`: an utterance that arrives later than this is remembered, but no prediction is made from it.
    `ask_timeout_s`: for each question to encoder, graph and LLM.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    perishable_s: float
    ask_timeout_s: float
    llm_timeout_s: float
    neighbours: int
    admission: Limits
    prediction: PredictionNumbers
    window: WindowSettings
    fetch: FetchSettings
