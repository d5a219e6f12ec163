"""Settings of the search service; all values come from section `search` of `memvault/defaults.toml`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from memvault_search.domain.bm25 import Bm25Numbers
from memvault_search.domain.freezing import FreezingNumbers
from memvault_search.domain.fusion import FusionNumbers
from memvault_search.domain.gate import GateNumbers
from memvault_search.domain.relevance import RelevanceNumbers
from memvault_search.domain.scoring.numbers import ScoringNumbers, Strengths

Profile = Literal["reference", "tuned"]
Share = Annotated[float, Field(ge=0.0, le=1.0)]
Positive = Annotated[int, Field(ge=1)]
Seconds = Annotated[float, Field(gt=0.0)]

SOURCE_KINDS = ("hand_written", "document", "conversation", "agent", "web")


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Views(_Section):
    """BM25 numbers of each view (R-11)."""

    self_: Annotated[Bm25Numbers, Field(alias="self")]
    context: Bm25Numbers

    def of(self, view: str) -> Bm25Numbers:
        """Numbers of one view."""
        return self.self_ if view == "self" else self.context


class Validity(_Section):
    """R-17a: a statement gets at most `margin` of the score of the one that replaces it."""

    margin: Annotated[float, Field(gt=0.0, lt=1.0)]


class Finding(_Section):
    """How much is looked at: per ranker, after fusion, and returned when nothing else is asked for.

    `recent`: newest blocks that a question without a subject finds. `grouping_share`: hits below this share
    of the best score are not moved when memories are grouped by conversation. `bare_by_recency`: a question that
    names no subject is answered by what is recent. `bare_share`: then, of the weight of a ranker of its words.
    `recent_shares`: of the weight of `recent`, by facet; 1 where none is named. `self_as_context`: a block without
    neighbours stands in the context lists with its own text. `words_by_known_share`: the sparse lists weigh the
    share of the question's words that the vault knows. `length_by_unknown_share`: stage 5 weighs the share of them that
    it does not know, because BM25 allows for length already. `rerank_among_neighbours`: the reranker reads a turn
    together with the turns before and after it. `without_common`: what all of a vault has in common is taken out of the
    list `dense_self`, half of it in a vault of `common_half_at` passages. `told_afterwards`: a time that is asked about
    also finds what was told later of that time ("last weekend"). `reply_share`: a reply to a question has at
    least this share of the fused score of what the question was about (0: it counts by its own words alone), less when
    it is wider than `reply_width`. `most_parts`: into how many questions a text is divided at most (1: it is asked as
    it is), if it has at most `parts_longest` characters.
    """

    per_ranker: Positive
    candidates: Positive
    limit: Positive
    weights: dict[str, Annotated[float, Field(ge=0.0)]]
    recent: Positive
    grouping_share: Share
    bare_by_recency: bool
    bare_share: Share
    recent_shares: dict[str, Share]
    self_as_context: bool
    words_by_known_share: bool
    length_by_unknown_share: bool
    rerank_among_neighbours: bool
    without_common: bool
    common_half_at: Annotated[float, Field(gt=0.0)]
    told_afterwards: bool
    reply_share: Share
    reply_width: Positive
    most_parts: Positive
    parts_longest: Positive


class Writing(_Section):
    """How blocks are indexed. Widths are characters, Chinese ones counted twice."""

    passage_whole: Positive
    passage_target: Positive
    context_max_chars: Positive
    batch: Positive
    event_ids_kept: Positive
    near_copy_cosine: Share
    average_drift: Share
    token_views: tuple[Literal["self", "context"], ...]


class Index(_Section):
    """The store and what is kept of it in memory."""

    page: Positive
    token_cache: Positive
    flush_every_s: Seconds
    embedded_blocks: Positive
    server_timeout_s: Positive
    blocks_in_memory: Positive
    lasting_blocks: Positive
    warm_users: Annotated[int, Field(ge=0)]
    warm_s: Seconds
    forgotten_kept_days: Positive
    successor_wait_days: Positive
    former_answers_s: Seconds
    night_rest: Annotated[float, Field(ge=0)]


class Sources(_Section):
    """Trust and confidence by kind of source (R-61)."""

    trust: dict[str, Share]
    confidence: dict[str, Share]

    @model_validator(mode="after")
    def _complete(self) -> Sources:
        for table in (self.trust, self.confidence):
            if set(table) != set(SOURCE_KINDS):
                raise ValueError(f"needs exactly the source kinds {', '.join(SOURCE_KINDS)}")
        return self


class Calls(_Section):
    """Bounds of calls to others, in seconds.

    A rerank takes at most `rerank_timeout_s`, and never what search needs to answer without it: of the deadline
    `rerank_reserve_s` is kept, or `rerank_reserve_share` of what is left when that is more.
    """

    rerank_timeout_s: Seconds
    rerank_reserve_s: Seconds
    rerank_reserve_share: Annotated[float, Field(ge=0.1, le=0.9)]


class Qwen3Settings(_Section):
    """Qwen3-Embedding on MLX.

    Attributes:
        folder: that holds the model; empty: its own below `models` in MEMVAULT_HOME.
        dimension: of the vectors; the model gives 1024, and fewer are its first ones.
        longest: tokens of a text that are read, its end token counted.
        batch_tokens: largest padded batch; a query waits for at most one batch.

    """

    folder: str
    dimension: Annotated[int, Field(ge=8)]
    longest: Annotated[int, Field(ge=64, le=32768)]
    batch_tokens: Positive


class EmbedderSettings(_Section):
    """The encoder; `models`, `threads`, `workers`, `batch_tokens` and `token_limit` are those of the packaged one.

    Attributes:
        kind: `e5`, the packaged encoder, or `qwen3`, Qwen3-Embedding on MLX.
        models: folder to unpack into; empty: `models` in MEMVAULT_HOME.
        threads: of one run of the model; more than one only pays on an idle machine.
        workers: texts that are encoded side by side, each in a thread of its own.
        cache_folder: vectors are kept in a file there and survive forgetting, for evaluation only; empty: nowhere.
        passages: `encoded`, or `synthetic:<seed>` for invented vectors of passages, to measure speed only; queries
            are always encoded.
        batch_tokens: largest padded batch; a query waits for at most one batch.
        token_limit: token vectors kept of one text.
        cache_bytes: for vectors of recent texts.
        patience_s: how long a text without a deadline may wait for its batch.

    """

    kind: Literal["e5", "qwen3"]
    models: str
    threads: Positive
    workers: Positive
    cache_folder: str
    passages: Annotated[str, Field(pattern=r"^(encoded|synthetic:\d{1,9})$")]
    batch_tokens: Positive
    token_limit: Annotated[int, Field(ge=1, le=128)]
    cache_bytes: Annotated[int, Field(ge=0)]
    patience_s: Seconds
    qwen3: Qwen3Settings


class SearchSettings(_Section):
    """One profile's numbers."""

    finding: Finding
    fusion: FusionNumbers
    scoring: ScoringNumbers
    strengths: Strengths
    strengths_by_intent: dict[str, dict[str, Share]]
    gate: GateNumbers
    relevance: RelevanceNumbers
    bm25: Views
    validity: Validity
    writing: Writing
    freezing: FreezingNumbers
    index: Index
    sources: Sources
    calls: Calls
    embedder: EmbedderSettings

    @model_validator(mode="after")
    def _known_names(self) -> SearchSettings:
        strange = self.freezing.tiers - {tier.name for tier in self.scoring.tiers}
        strange |= self.freezing.kept_sources - set(SOURCE_KINDS)
        if strange:
            raise ValueError(f"freezing names no tier and no kind of source: {', '.join(sorted(strange))}")
        unknown = {name for own in self.strengths_by_intent.values() for name in own} - set(vars(self.strengths))
        if unknown:
            raise ValueError(f"strengths_by_intent names no strength: {', '.join(sorted(unknown))}")
        return self
