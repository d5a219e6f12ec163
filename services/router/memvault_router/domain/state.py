"""What is known about one question while it runs through the operators."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, tzinfo

import numpy as np
from numpy.typing import NDArray

from memvault_router.domain.labels import FACETS, INTENTS, Distribution, Funnel, uniform
from memvault_router.domain.time.span import TimeExpression

Vector = NDArray[np.float32]


@dataclass(frozen=True)
class Said:
    """One utterance before the question."""

    speaker: str
    text: str


@dataclass(frozen=True)
class Degraded:
    """A part that was left out: `part` and `reason` are the contract's words, `detail` is a sentence for people."""

    part: str
    reason: str
    detail: str = ""


@dataclass(frozen=True)
class Skipped:
    """A step that was not taken, and why."""

    step: str
    reason: str


@dataclass(frozen=True)
class Votes:
    """What the keyword funnel says: summed weights per label, and what matched.

    `open_intents` and `open_facets` are labels between which the words leave it open; empty: they do not.
    """

    intents: Mapping[str, float] = field(default_factory=dict)
    facets: Mapping[str, float] = field(default_factory=dict)
    matches: tuple[str, ...] = ()
    open_intents: tuple[str, ...] = ()
    open_facets: tuple[str, ...] = ()


@dataclass(frozen=True)
class Similarities:
    """What the embedding funnel says: centred cosines per label, -1 to 1."""

    intents: Mapping[str, float]
    facets: Mapping[str, float]


@dataclass(frozen=True)
class Frequencies:
    """A user's past, as far as the personal prior needs it: label frequencies, the largest 1, and their sample size.

    `intent_counts` is how often each intent was understood, older questions counting less.
    """

    intents: Mapping[str, float]
    facets: Mapping[str, float]
    sample_count: int
    intent_counts: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Overrides:
    """Forced outcomes of an evaluation; empty text means none."""

    intent: str = ""
    facet: str = ""
    thinking_mode: str = ""


NO_OVERRIDES = Overrides()


@dataclass(frozen=True)
class Plan:
    """How to look for it: the last output of a classification (R-09)."""

    retrieval_mode: str
    thinking_mode: str
    layers: tuple[str, ...]
    scoring_profile: str
    grouping: str
    runner_up: str


@dataclass(frozen=True)
class Question:
    """The state of the pipeline.

    `completed` is the query as understood. `beside` is searched with it: the query as asked where it was completed, the
    completed one where it was only perhaps a follow-up; empty: nothing. `vector` is the centred unit vector of
    `completed`, or None when the encoder could not be reached. `bare` says that the question names no subject. `raw_*`
    are before, `intents` and `facets` after personalisation; `prior` is what it multiplied the intents with, empty:
    nothing.
    """

    query: str
    now: datetime
    zone: tzinfo
    said: tuple[Said, ...] = ()
    off: frozenset[str] = frozenset()
    overrides: Overrides = NO_OVERRIDES
    completed: str = ""
    beside: str = ""
    votes: Votes = Votes()
    vector: Vector | None = None
    similarities: Similarities | None = None
    raw_intents: Distribution = field(default_factory=lambda: uniform(INTENTS))
    raw_facets: Distribution = field(default_factory=lambda: uniform(FACETS))
    frequencies: Frequencies | None = None
    intents: Distribution = field(default_factory=lambda: uniform(INTENTS))
    facets: Distribution = field(default_factory=lambda: uniform(FACETS))
    prior: Mapping[str, float] = field(default_factory=dict)
    funnel: str = Funnel.KEYWORD
    time: TimeExpression | None = None
    bare: bool = False
    intent: str = ""
    confidence: float = 0.0
    facet: str = ""
    plan: Plan | None = None
    skipped: tuple[Skipped, ...] = ()
    degraded: tuple[Degraded, ...] = ()
