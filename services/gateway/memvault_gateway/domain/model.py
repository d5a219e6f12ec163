"""What a recall is made of, inside the gateway.

Parts that the gateway only hands on (explanations, token vectors, reference frames, candidates) are `Carried`: it
neither reads nor changes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo

from memvault_gateway.domain.withheld import HeldBack, Withheld

Carried = object


@dataclass(frozen=True)
class Degradation:
    """A part that was left out: `part` and `reason` are words of the contract, `detail` is for people."""

    part: str
    reason: str
    detail: str = ""


@dataclass(frozen=True)
class Skip:
    """A step that was not taken, and why."""

    step: str
    reason: str


@dataclass(frozen=True)
class HopTime:
    """Milliseconds spent in one hop or step."""

    hop: str
    took_ms: float


@dataclass(frozen=True)
class Utterance:
    """Something said: `event_time` None means now."""

    speaker: str
    text: str
    event_time: datetime | None = None


@dataclass(frozen=True)
class TimeRange:
    """Half-open, UTC; None is open."""

    start: datetime | None = None
    end: datetime | None = None


@dataclass(frozen=True)
class Filters:
    """Narrows the blocks; all parts must hold, within a list any one."""

    services: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    time_range: TimeRange | None = None
    source_kinds: tuple[str, ...] = ()
    conversation_ids: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.services or self.tags or self.time_range or self.source_kinds or self.conversation_ids)


@dataclass(frozen=True)
class Evaluation:
    """Switches for evaluation, tests and administration."""

    now: datetime | None = None
    profile: str = ""
    intent: str = ""
    thinking_mode: str = ""
    facet: str = ""
    off: tuple[str, ...] = ()
    include_candidates: bool = False


@dataclass(frozen=True)
class Ask:
    """A checked question. `deadline_ms` None: by thinking mode. Budgets in tokens."""

    recall_id: str
    query: str
    user_id: str
    token_budget: int
    limit: int
    caller: str = "api"
    format: str = "json"
    origin: str = "user"
    conversation_id: str = ""
    utterances: tuple[Utterance, ...] = ()
    filters: Filters = field(default_factory=Filters)
    as_of: datetime | None = None
    time_zone: str = ""
    explain: bool = False
    deadline_ms: int | None = None
    evaluation: Evaluation = field(default_factory=Evaluation)


@dataclass(frozen=True)
class Prepared:
    """A prepared answer that the router found; `match` is `exact` or `near`."""

    match: str
    query: str
    query_hash: str
    answer: Answer
    candidates: Carried
    write_version: int
    recall_ms: float


@dataclass(frozen=True)
class Understanding:
    """What the router found out. `vectors` are the query's for search, `query_vector` (bytes) is for cascade."""

    query: str
    intent: str = "unknown"
    confidence: float = 0.0
    raw_distribution: tuple[tuple[str, float], ...] = ()
    distribution: tuple[tuple[str, float], ...] = ()
    prior: tuple[tuple[str, float], ...] = ()
    funnel: str = ""
    keyword_matches: tuple[str, ...] = ()
    facet: str = "none"
    time_expression: str = ""
    time_range: TimeRange | None = None
    time_explicit: bool = False
    layers: tuple[str, ...] = ("blocks",)
    retrieval_mode: str = "HYBRID"
    thinking_mode: str = "fast"
    scoring_profile: str = "unknown"
    runner_up: str = ""
    grouping: str = ""
    bare: bool = False
    vectors: Carried = None
    query_vector: bytes = b""
    hyde: bool = False
    prepared: Prepared | None = None
    degraded: tuple[Degradation, ...] = ()
    skipped: tuple[Skip, ...] = ()
    times: tuple[HopTime, ...] = ()


@dataclass(frozen=True)
class PathStep:
    """One step of the walk."""

    subject: str
    predicate: str
    object: str


@dataclass(frozen=True)
class Card:
    """One recalled memory as the caller sees it; see the contract's `Card`. `summary` may stand for the text."""

    block_id: str
    kind: str
    text: str
    title: str = ""
    summary: str = ""
    score: float | None = None
    service: str = ""
    source_kind: str = ""
    source_uri: str = ""
    speaker: str = ""
    conversation_id: str = ""
    event_time: datetime | None = None
    recorded_at: datetime | None = None
    trust: float = 0.0
    confidence: float = 0.0
    tags: tuple[str, ...] = ()
    summarised: bool = False
    expand: str = ""
    redacted: bool = False
    frozen: bool = False
    superseded_by: str = ""
    highlight: str = ""
    path: tuple[PathStep, ...] = ()
    supports: tuple[str, ...] = ()
    explanation: Carried = None
    tokens: int = 0
    similarity: float = 0.0
    screened_version: str = ""


@dataclass(frozen=True)
class Found:
    """What search found, best first. `relevance` and `relevances` are calibrated similarities, in [0, 1].

    `parts`: the questions that were looked for instead of the whole, if it asked several things.
    """

    cards: tuple[Card, ...] = ()
    confidence: str = "low"
    relevance: float = 0.0
    relevances: tuple[float, ...] = ()
    reranked: int = 0
    candidates: Carried = None
    reference: Carried = None
    candidates_found: int = 0
    write_version: int = 0
    scoring_profile: str = ""
    profile: str = ""
    query_vector: bytes = b""
    time_filtered: bool = False
    held_back: tuple[HeldBack, ...] = ()
    parts: tuple[str, ...] = ()
    degraded: tuple[Degradation, ...] = ()
    skipped: tuple[Skip, ...] = ()
    times: tuple[HopTime, ...] = ()


@dataclass(frozen=True)
class Rescored:
    """Named blocks scored in the frame of an earlier search. `margin` is the lead of the first, in [0, 1]."""

    cards: tuple[Card, ...] = ()
    changed: tuple[str, ...] = ()
    write_version: int = 0
    relevance: float = 0.0
    confidence: str = "low"
    margin: float = 0.0
    held_back: tuple[HeldBack, ...] = ()
    degraded: tuple[Degradation, ...] = ()
    skipped: tuple[Skip, ...] = ()
    times: tuple[HopTime, ...] = ()


@dataclass(frozen=True)
class Reached:
    """A block that the walk reached."""

    block_id: str
    weight: float
    path: tuple[PathStep, ...]


@dataclass(frozen=True)
class Walked:
    """What the walk found; triples, communities and summaries are cards already."""

    triples: tuple[Card, ...] = ()
    blocks: tuple[Reached, ...] = ()
    communities: tuple[Card, ...] = ()
    summaries: tuple[Card, ...] = ()
    entities: tuple[str, ...] = ()
    degraded: tuple[Degradation, ...] = ()
    times: tuple[HopTime, ...] = ()


@dataclass(frozen=True)
class Packing:
    """How the budget was spent, in tokens and cards."""

    token_budget: int = 0
    tokens_used: int = 0
    left_out: int = 0
    summarised: int = 0
    folded: int = 0


@dataclass(frozen=True)
class Notes:
    """How an answer came about; becomes the contract's `Explanation`."""

    understanding: Understanding
    found: Found = field(default_factory=Found)
    entities: tuple[str, ...] = ()
    self_check_steps: tuple[str, ...] = ()
    skipped: tuple[Skip, ...] = ()
    times: tuple[HopTime, ...] = ()
    sentences: tuple[str, ...] = ()


@dataclass(frozen=True)
class Answer:
    """An answer; see the contract's `RecallResponse`. `held_back` becomes a part of `withheld` when it is delivered.

    `zone`: whose days the readable formats tell; None: the machine's.
    """

    recall_id: str
    query: str
    intent: str = "unknown"
    intent_confidence: float = 0.0
    facet: str = "none"
    thinking_mode: str = "fast"
    retrieval_mode: str = "HYBRID"
    confidence: str = "low"
    cards: tuple[Card, ...] = ()
    cascade_cards: tuple[Card, ...] = ()
    self_check: str = "skipped"
    degraded: tuple[Degradation, ...] = ()
    packing: Packing = field(default_factory=Packing)
    text: str = ""
    notes: Notes | None = None
    answered_from: str = "search"
    write_version: int = 0
    candidates: Carried = None
    took_ms: float = 0.0
    held_back: tuple[HeldBack, ...] = ()
    withheld: tuple[Withheld, ...] = ()
    zone: tzinfo | None = UTC


@dataclass(frozen=True)
class StoredBlock:
    """A block as search keeps it: `texts` must be screened, by the way to each, `carried` is the whole."""

    block_id: str
    version: int
    texts: Mapping[str, str]
    carried: Carried
    screened_version: str = ""


@dataclass(frozen=True)
class AuditHit:
    """One hit of the screening on the way out. Never the text."""

    block_id: str
    rule: str
    where: str
    ingest_version: str = ""


@dataclass(frozen=True)
class WriteOutcome:
    """What became of one block: `status` is `accepted`, `indexed`, `unchanged` or `refused`."""

    block_id: str
    status: str
    reason: str = ""
    detail: str = ""


@dataclass(frozen=True)
class PartState:
    """State of one part: `ready`, `starting` or `down`."""

    part: str
    state: str
    details: Mapping[str, str] = field(default_factory=dict)
