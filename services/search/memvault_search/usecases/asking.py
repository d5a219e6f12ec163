"""A question as search gets it, and what it answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

import numpy as np

from memvault_search.domain.block import StoredBlock
from memvault_search.domain.embedding import FloatArray, TokenVectors
from memvault_search.domain.fusion import Cutoffs
from memvault_search.domain.relevance import Confidence
from memvault_search.domain.scoring.candidates import TimeRange
from memvault_search.domain.selection import EVERYTHING, Selection


@dataclass(frozen=True, eq=False)
class Part:
    """One of the things that a question asks, with its raw vector, float32 [d]; None where nobody made it."""

    text: str
    vector: FloatArray | None
    tokens: TokenVectors | None = None


@dataclass(frozen=True, eq=False)
class Question:
    """What is being asked, as the router understood it. Vectors are raw, float32 [d], or None.

    `bare`: it names no subject, so what is recent counts as found. `parts`: what is looked for instead of the whole
    where it asks several things, or one behind an aside; else empty.
    """

    user_id: str
    text: str
    intent: str = "unknown"
    facet: str = "none"
    time_range: TimeRange | None = None
    time_explicit: bool = False
    vector: FloatArray | None = None
    tokens: TokenVectors | None = None
    hyde_vector: FloatArray | None = None
    follow_up_vector: FloatArray | None = None
    grouping: str = ""
    bare: bool = False
    parts: tuple[Part, ...] = ()

    @property
    def asked(self) -> tuple[Part, ...]:
        """The parts, or the whole as the only one."""
        return self.parts or (Part(self.text, self.vector, self.tokens),)


@dataclass(frozen=True)
class Conditions:
    """Circumstances of the search. `off` names parts that are switched off, as in the contract."""

    now: datetime
    selection: Selection = EVERYTHING
    as_of: datetime | None = None
    profile: str = "tuned"
    off: frozenset[str] = frozenset()
    explain: bool = False
    include_candidates: bool = False


@dataclass(frozen=True, eq=False)
class Reference:
    """The frame of an earlier search (R-14): what a block that comes later is measured against.

    `scored`: final scores already given. `floor`: the least blended score. `rerank_lifts`: of a question in parts,
    what was added to the reranker's scores of each.
    """

    lists: tuple[Cutoffs, ...]
    best: float
    centre: float | None
    reranked: bool = False
    scoring_low: float = 0.0
    scoring_high: float = 0.0
    rerank_low: float = 0.0
    rerank_high: float = 0.0
    floor: float = 0.0
    rerank_lifts: tuple[float, ...] = ()
    scored: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Place:
    """A candidate's place in one ranker: rank from 1, the ranker's score, the share of the fused score."""

    ranker: str
    rank: int
    score: float
    contribution: float


@dataclass(frozen=True)
class StageEffect:
    """A stage's multiplier, whether it kept the candidate, and what a reader could not guess."""

    stage: str
    factor: float
    kept: bool
    note: str = ""


@dataclass(frozen=True)
class Why:
    """How one candidate came by its place."""

    places: tuple[Place, ...]
    fused: float
    base: float
    stages: tuple[StageEffect, ...]
    scoring: float
    scoring_rank: int
    rerank: float | None
    similarity: float


@dataclass(frozen=True)
class Hit:
    """A found block; `highlight` is the best passage, empty when it is the whole text; `why` on request."""

    stored: StoredBlock
    score: float
    highlight: str
    similarity: float
    why: Why | None


@dataclass(frozen=True)
class Left:
    """A part that was left out, or a step that was not taken, and why."""

    part: str
    reason: str
    detail: str = ""


@dataclass(frozen=True)
class Withheld:
    """A block that would be among the hits, but that screening leaves nothing of: never its text."""

    block_id: str
    rules: tuple[str, ...]
    screened_version: str


@dataclass(frozen=True, eq=False)
class Found:
    """The answer. `times`: milliseconds by step. `candidates`: all that were scored, best first, when asked for.

    `withheld`: blocks in whose place the next best ones stand.
    `parts`: the questions into which the text was divided, if it was.
    """

    hits: tuple[Hit, ...]
    confidence: Confidence
    relevance: float
    candidates: tuple[Hit, ...]
    reference: Reference
    degraded: tuple[Left, ...]
    skipped: tuple[Left, ...]
    times: dict[str, float]
    found: int
    reranked: int
    write_version: int
    profile: str
    strengths: str
    vector: FloatArray
    time_filtered: bool
    withheld: tuple[Withheld, ...] = ()
    parts: tuple[str, ...] = ()

    @property
    def margin(self) -> float:
        """Distance of the best score from the second, as a share of the best, 0 to 1."""
        scores = np.sort([hit.score for hit in self.hits])[::-1]
        if not len(scores) or scores[0] <= 0.0:
            return 0.0
        return 1.0 if len(scores) == 1 else float((scores[0] - scores[1]) / scores[0])
