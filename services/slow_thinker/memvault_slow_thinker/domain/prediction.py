"""The state that passes through the prediction pipeline (R-51)."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np

from memvault_slow_thinker.domain.admission import Limits
from memvault_slow_thinker.domain.conversation import Utterance, Vectors
from memvault_slow_thinker.domain.numbers import PredictionNumbers


def _no_vectors() -> Vectors:
    return np.zeros((0, 1), dtype=np.float32)


class Kind(StrEnum):
    """What a draft is made from."""

    ANNOUNCED = "announced"
    OWN_TEXT = "own_text"
    FOLLOW_UP = "follow_up"
    THREAD = "thread"
    ENTITY = "entity"
    RELATION = "relation"
    NAMED = "named"
    TASK = "task"
    LLM = "llm"


@dataclass(frozen=True)
class Linked:
    """An entity of the user's graph found in the sample.

    `confidence` of the link and `specificity` in [0, 1]. `neighbours`: (relation, other entity), nearest first.
    """

    name: str
    confidence: float
    specificity: float
    neighbours: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Draft:
    """A question that may come next. `confidence` in [0, 1], calibrated."""

    text: str
    confidence: float
    kind: Kind

    @property
    def fuel(self) -> str:
        """`llm` or `free`, as the contract names it."""
        return "llm" if self.kind is Kind.LLM else "free"


@dataclass(frozen=True)
class Predicted:
    """A question predicted earlier. `at`: event time in seconds of the utterance that led to it."""

    text: str
    conversation_id: str
    at: float


@dataclass(frozen=True)
class Prediction:
    """Everything about one prediction; each operator fills in its part.

    `now`: event time of the last utterance. `sample`: what ContextSampler chose. `linked` and `written`: fuel,
    gathered between sampler and generator; `left_out`: parts that gave none. `vectors`: (drafts + 1, d), centred
    unit vectors of the drafts and, last, of the last utterance; empty when there is no encoder. `refused`: drafts
    below the confidence bound.
    """

    now: float
    window: tuple[Utterance, ...]
    numbers: PredictionNumbers
    limits: Limits
    recent: tuple[Predicted, ...] = ()
    sample: tuple[Utterance, ...] = ()
    linked: tuple[Linked, ...] = ()
    written: tuple[Draft, ...] = ()
    left_out: tuple[str, ...] = ()
    drafts: tuple[Draft, ...] = ()
    vectors: Vectors = field(default_factory=_no_vectors)
    repeated: tuple[Draft, ...] = ()
    refused: tuple[Draft, ...] = ()
    emitted: tuple[Draft, ...] = ()
