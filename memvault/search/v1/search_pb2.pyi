import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from memvault.recall.v1 import recall_pb2 as _recall_pb2
from memvault.recall.v1 import types_pb2 as _types_pb2
from memvault.slow_thinker.v1 import prefetch_pb2 as _prefetch_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Understanding(_message.Message):
    __slots__ = ("user_id", "query", "intent", "distribution", "facet", "time_range", "time_explicit", "query_vector", "query_tokens", "hyde_vector", "raw_query_vector", "encoder_id", "grouping", "bare")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    INTENT_FIELD_NUMBER: _ClassVar[int]
    DISTRIBUTION_FIELD_NUMBER: _ClassVar[int]
    FACET_FIELD_NUMBER: _ClassVar[int]
    TIME_RANGE_FIELD_NUMBER: _ClassVar[int]
    TIME_EXPLICIT_FIELD_NUMBER: _ClassVar[int]
    QUERY_VECTOR_FIELD_NUMBER: _ClassVar[int]
    QUERY_TOKENS_FIELD_NUMBER: _ClassVar[int]
    HYDE_VECTOR_FIELD_NUMBER: _ClassVar[int]
    RAW_QUERY_VECTOR_FIELD_NUMBER: _ClassVar[int]
    ENCODER_ID_FIELD_NUMBER: _ClassVar[int]
    GROUPING_FIELD_NUMBER: _ClassVar[int]
    BARE_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    query: str
    intent: str
    distribution: _containers.RepeatedCompositeFieldContainer[_recall_pb2.IntentProbability]
    facet: str
    time_range: _types_pb2.TimeRange
    time_explicit: bool
    query_vector: bytes
    query_tokens: _prefetch_pb2.TokenVectors
    hyde_vector: bytes
    raw_query_vector: bytes
    encoder_id: str
    grouping: str
    bare: bool
    def __init__(self, user_id: _Optional[str] = ..., query: _Optional[str] = ..., intent: _Optional[str] = ..., distribution: _Optional[_Iterable[_Union[_recall_pb2.IntentProbability, _Mapping]]] = ..., facet: _Optional[str] = ..., time_range: _Optional[_Union[_types_pb2.TimeRange, _Mapping]] = ..., time_explicit: _Optional[bool] = ..., query_vector: _Optional[bytes] = ..., query_tokens: _Optional[_Union[_prefetch_pb2.TokenVectors, _Mapping]] = ..., hyde_vector: _Optional[bytes] = ..., raw_query_vector: _Optional[bytes] = ..., encoder_id: _Optional[str] = ..., grouping: _Optional[str] = ..., bare: _Optional[bool] = ...) -> None: ...

class SearchConditions(_message.Message):
    __slots__ = ("filters", "as_of", "now", "profile", "off", "explain", "include_candidates")
    FILTERS_FIELD_NUMBER: _ClassVar[int]
    AS_OF_FIELD_NUMBER: _ClassVar[int]
    NOW_FIELD_NUMBER: _ClassVar[int]
    PROFILE_FIELD_NUMBER: _ClassVar[int]
    OFF_FIELD_NUMBER: _ClassVar[int]
    EXPLAIN_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_CANDIDATES_FIELD_NUMBER: _ClassVar[int]
    filters: _types_pb2.Filters
    as_of: _timestamp_pb2.Timestamp
    now: _timestamp_pb2.Timestamp
    profile: str
    off: _containers.RepeatedScalarFieldContainer[str]
    explain: bool
    include_candidates: bool
    def __init__(self, filters: _Optional[_Union[_types_pb2.Filters, _Mapping]] = ..., as_of: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., now: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., profile: _Optional[str] = ..., off: _Optional[_Iterable[str]] = ..., explain: _Optional[bool] = ..., include_candidates: _Optional[bool] = ...) -> None: ...

class SearchRequest(_message.Message):
    __slots__ = ("understanding", "conditions", "limit")
    UNDERSTANDING_FIELD_NUMBER: _ClassVar[int]
    CONDITIONS_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    understanding: Understanding
    conditions: SearchConditions
    limit: int
    def __init__(self, understanding: _Optional[_Union[Understanding, _Mapping]] = ..., conditions: _Optional[_Union[SearchConditions, _Mapping]] = ..., limit: _Optional[int] = ...) -> None: ...

class SearchHit(_message.Message):
    __slots__ = ("block", "score", "highlight", "explanation", "similarity")
    BLOCK_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    HIGHLIGHT_FIELD_NUMBER: _ClassVar[int]
    EXPLANATION_FIELD_NUMBER: _ClassVar[int]
    SIMILARITY_FIELD_NUMBER: _ClassVar[int]
    block: _types_pb2.Block
    score: float
    highlight: str
    explanation: _types_pb2.CardExplanation
    similarity: float
    def __init__(self, block: _Optional[_Union[_types_pb2.Block, _Mapping]] = ..., score: _Optional[float] = ..., highlight: _Optional[str] = ..., explanation: _Optional[_Union[_types_pb2.CardExplanation, _Mapping]] = ..., similarity: _Optional[float] = ...) -> None: ...

class ScoreReference(_message.Message):
    __slots__ = ("lists", "best_scoring_score", "scoring_low", "scoring_high", "rerank_low", "rerank_high", "reranked", "scored", "boost_centre", "blend_floor", "rerank_lifts")
    class RankedList(_message.Message):
        __slots__ = ("ranker", "scores", "limit", "weight")
        RANKER_FIELD_NUMBER: _ClassVar[int]
        SCORES_FIELD_NUMBER: _ClassVar[int]
        LIMIT_FIELD_NUMBER: _ClassVar[int]
        WEIGHT_FIELD_NUMBER: _ClassVar[int]
        ranker: str
        scores: _containers.RepeatedScalarFieldContainer[float]
        limit: int
        weight: float
        def __init__(self, ranker: _Optional[str] = ..., scores: _Optional[_Iterable[float]] = ..., limit: _Optional[int] = ..., weight: _Optional[float] = ...) -> None: ...
    LISTS_FIELD_NUMBER: _ClassVar[int]
    BEST_SCORING_SCORE_FIELD_NUMBER: _ClassVar[int]
    SCORING_LOW_FIELD_NUMBER: _ClassVar[int]
    SCORING_HIGH_FIELD_NUMBER: _ClassVar[int]
    RERANK_LOW_FIELD_NUMBER: _ClassVar[int]
    RERANK_HIGH_FIELD_NUMBER: _ClassVar[int]
    RERANKED_FIELD_NUMBER: _ClassVar[int]
    SCORED_FIELD_NUMBER: _ClassVar[int]
    BOOST_CENTRE_FIELD_NUMBER: _ClassVar[int]
    BLEND_FLOOR_FIELD_NUMBER: _ClassVar[int]
    RERANK_LIFTS_FIELD_NUMBER: _ClassVar[int]
    lists: _containers.RepeatedCompositeFieldContainer[ScoreReference.RankedList]
    best_scoring_score: float
    scoring_low: float
    scoring_high: float
    rerank_low: float
    rerank_high: float
    reranked: bool
    scored: _containers.RepeatedCompositeFieldContainer[ScoredBlock]
    boost_centre: float
    blend_floor: float
    rerank_lifts: _containers.RepeatedScalarFieldContainer[float]
    def __init__(self, lists: _Optional[_Iterable[_Union[ScoreReference.RankedList, _Mapping]]] = ..., best_scoring_score: _Optional[float] = ..., scoring_low: _Optional[float] = ..., scoring_high: _Optional[float] = ..., rerank_low: _Optional[float] = ..., rerank_high: _Optional[float] = ..., reranked: _Optional[bool] = ..., scored: _Optional[_Iterable[_Union[ScoredBlock, _Mapping]]] = ..., boost_centre: _Optional[float] = ..., blend_floor: _Optional[float] = ..., rerank_lifts: _Optional[_Iterable[float]] = ...) -> None: ...

class ScoredBlock(_message.Message):
    __slots__ = ("block_id", "score")
    BLOCK_ID_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    block_id: str
    score: float
    def __init__(self, block_id: _Optional[str] = ..., score: _Optional[float] = ...) -> None: ...

class WithheldBlock(_message.Message):
    __slots__ = ("block_id", "rules", "screened_version")
    BLOCK_ID_FIELD_NUMBER: _ClassVar[int]
    RULES_FIELD_NUMBER: _ClassVar[int]
    SCREENED_VERSION_FIELD_NUMBER: _ClassVar[int]
    block_id: str
    rules: _containers.RepeatedScalarFieldContainer[str]
    screened_version: str
    def __init__(self, block_id: _Optional[str] = ..., rules: _Optional[_Iterable[str]] = ..., screened_version: _Optional[str] = ...) -> None: ...

class SearchResponse(_message.Message):
    __slots__ = ("hits", "confidence", "relevance", "candidates", "reference", "degraded", "skipped", "times", "candidates_found", "reranked", "write_version", "scoring_profile", "profile", "query_vector", "time_filtered", "withheld", "parts")
    HITS_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    RELEVANCE_FIELD_NUMBER: _ClassVar[int]
    CANDIDATES_FIELD_NUMBER: _ClassVar[int]
    REFERENCE_FIELD_NUMBER: _ClassVar[int]
    DEGRADED_FIELD_NUMBER: _ClassVar[int]
    SKIPPED_FIELD_NUMBER: _ClassVar[int]
    TIMES_FIELD_NUMBER: _ClassVar[int]
    CANDIDATES_FOUND_FIELD_NUMBER: _ClassVar[int]
    RERANKED_FIELD_NUMBER: _ClassVar[int]
    WRITE_VERSION_FIELD_NUMBER: _ClassVar[int]
    SCORING_PROFILE_FIELD_NUMBER: _ClassVar[int]
    PROFILE_FIELD_NUMBER: _ClassVar[int]
    QUERY_VECTOR_FIELD_NUMBER: _ClassVar[int]
    TIME_FILTERED_FIELD_NUMBER: _ClassVar[int]
    WITHHELD_FIELD_NUMBER: _ClassVar[int]
    PARTS_FIELD_NUMBER: _ClassVar[int]
    hits: _containers.RepeatedCompositeFieldContainer[SearchHit]
    confidence: str
    relevance: float
    candidates: _containers.RepeatedCompositeFieldContainer[_recall_pb2.Candidate]
    reference: ScoreReference
    degraded: _containers.RepeatedCompositeFieldContainer[_types_pb2.Degradation]
    skipped: _containers.RepeatedCompositeFieldContainer[_recall_pb2.Skip]
    times: _containers.RepeatedCompositeFieldContainer[_recall_pb2.HopTime]
    candidates_found: int
    reranked: int
    write_version: int
    scoring_profile: str
    profile: str
    query_vector: bytes
    time_filtered: bool
    withheld: _containers.RepeatedCompositeFieldContainer[WithheldBlock]
    parts: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, hits: _Optional[_Iterable[_Union[SearchHit, _Mapping]]] = ..., confidence: _Optional[str] = ..., relevance: _Optional[float] = ..., candidates: _Optional[_Iterable[_Union[_recall_pb2.Candidate, _Mapping]]] = ..., reference: _Optional[_Union[ScoreReference, _Mapping]] = ..., degraded: _Optional[_Iterable[_Union[_types_pb2.Degradation, _Mapping]]] = ..., skipped: _Optional[_Iterable[_Union[_recall_pb2.Skip, _Mapping]]] = ..., times: _Optional[_Iterable[_Union[_recall_pb2.HopTime, _Mapping]]] = ..., candidates_found: _Optional[int] = ..., reranked: _Optional[int] = ..., write_version: _Optional[int] = ..., scoring_profile: _Optional[str] = ..., profile: _Optional[str] = ..., query_vector: _Optional[bytes] = ..., time_filtered: _Optional[bool] = ..., withheld: _Optional[_Iterable[_Union[WithheldBlock, _Mapping]]] = ..., parts: _Optional[_Iterable[str]] = ...) -> None: ...

class ScoreRequest(_message.Message):
    __slots__ = ("understanding", "conditions", "block_ids", "reference", "candidates", "since_write_version", "limit")
    UNDERSTANDING_FIELD_NUMBER: _ClassVar[int]
    CONDITIONS_FIELD_NUMBER: _ClassVar[int]
    BLOCK_IDS_FIELD_NUMBER: _ClassVar[int]
    REFERENCE_FIELD_NUMBER: _ClassVar[int]
    CANDIDATES_FIELD_NUMBER: _ClassVar[int]
    SINCE_WRITE_VERSION_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    understanding: Understanding
    conditions: SearchConditions
    block_ids: _containers.RepeatedScalarFieldContainer[str]
    reference: ScoreReference
    candidates: _containers.RepeatedCompositeFieldContainer[_recall_pb2.Candidate]
    since_write_version: int
    limit: int
    def __init__(self, understanding: _Optional[_Union[Understanding, _Mapping]] = ..., conditions: _Optional[_Union[SearchConditions, _Mapping]] = ..., block_ids: _Optional[_Iterable[str]] = ..., reference: _Optional[_Union[ScoreReference, _Mapping]] = ..., candidates: _Optional[_Iterable[_Union[_recall_pb2.Candidate, _Mapping]]] = ..., since_write_version: _Optional[int] = ..., limit: _Optional[int] = ...) -> None: ...

class ScoreResponse(_message.Message):
    __slots__ = ("hits", "changed_block_ids", "degraded", "write_version", "relevance", "confidence", "skipped", "times", "margin", "withheld")
    HITS_FIELD_NUMBER: _ClassVar[int]
    CHANGED_BLOCK_IDS_FIELD_NUMBER: _ClassVar[int]
    DEGRADED_FIELD_NUMBER: _ClassVar[int]
    WRITE_VERSION_FIELD_NUMBER: _ClassVar[int]
    RELEVANCE_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    SKIPPED_FIELD_NUMBER: _ClassVar[int]
    TIMES_FIELD_NUMBER: _ClassVar[int]
    MARGIN_FIELD_NUMBER: _ClassVar[int]
    WITHHELD_FIELD_NUMBER: _ClassVar[int]
    hits: _containers.RepeatedCompositeFieldContainer[SearchHit]
    changed_block_ids: _containers.RepeatedScalarFieldContainer[str]
    degraded: _containers.RepeatedCompositeFieldContainer[_types_pb2.Degradation]
    write_version: int
    relevance: float
    confidence: str
    skipped: _containers.RepeatedCompositeFieldContainer[_recall_pb2.Skip]
    times: _containers.RepeatedCompositeFieldContainer[_recall_pb2.HopTime]
    margin: float
    withheld: _containers.RepeatedCompositeFieldContainer[WithheldBlock]
    def __init__(self, hits: _Optional[_Iterable[_Union[SearchHit, _Mapping]]] = ..., changed_block_ids: _Optional[_Iterable[str]] = ..., degraded: _Optional[_Iterable[_Union[_types_pb2.Degradation, _Mapping]]] = ..., write_version: _Optional[int] = ..., relevance: _Optional[float] = ..., confidence: _Optional[str] = ..., skipped: _Optional[_Iterable[_Union[_recall_pb2.Skip, _Mapping]]] = ..., times: _Optional[_Iterable[_Union[_recall_pb2.HopTime, _Mapping]]] = ..., margin: _Optional[float] = ..., withheld: _Optional[_Iterable[_Union[WithheldBlock, _Mapping]]] = ...) -> None: ...

class ReadBlocksRequest(_message.Message):
    __slots__ = ("user_id", "block_ids")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    BLOCK_IDS_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    block_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, user_id: _Optional[str] = ..., block_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class ReadBlocksResponse(_message.Message):
    __slots__ = ("blocks", "write_version")
    BLOCKS_FIELD_NUMBER: _ClassVar[int]
    WRITE_VERSION_FIELD_NUMBER: _ClassVar[int]
    blocks: _containers.RepeatedCompositeFieldContainer[_types_pb2.Block]
    write_version: int
    def __init__(self, blocks: _Optional[_Iterable[_Union[_types_pb2.Block, _Mapping]]] = ..., write_version: _Optional[int] = ...) -> None: ...

class ListBlocksRequest(_message.Message):
    __slots__ = ("user_id", "filters", "after", "limit")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    FILTERS_FIELD_NUMBER: _ClassVar[int]
    AFTER_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    filters: _types_pb2.Filters
    after: str
    limit: int
    def __init__(self, user_id: _Optional[str] = ..., filters: _Optional[_Union[_types_pb2.Filters, _Mapping]] = ..., after: _Optional[str] = ..., limit: _Optional[int] = ...) -> None: ...

class ListBlocksResponse(_message.Message):
    __slots__ = ("blocks",)
    BLOCKS_FIELD_NUMBER: _ClassVar[int]
    blocks: _containers.RepeatedCompositeFieldContainer[_types_pb2.Block]
    def __init__(self, blocks: _Optional[_Iterable[_Union[_types_pb2.Block, _Mapping]]] = ...) -> None: ...

class ForgetBlocksRequest(_message.Message):
    __slots__ = ("user_id", "block_ids", "filters", "whole_user")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    BLOCK_IDS_FIELD_NUMBER: _ClassVar[int]
    FILTERS_FIELD_NUMBER: _ClassVar[int]
    WHOLE_USER_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    block_ids: _containers.RepeatedScalarFieldContainer[str]
    filters: _types_pb2.Filters
    whole_user: bool
    def __init__(self, user_id: _Optional[str] = ..., block_ids: _Optional[_Iterable[str]] = ..., filters: _Optional[_Union[_types_pb2.Filters, _Mapping]] = ..., whole_user: _Optional[bool] = ...) -> None: ...

class ForgetBlocksResponse(_message.Message):
    __slots__ = ("block_ids", "write_version")
    BLOCK_IDS_FIELD_NUMBER: _ClassVar[int]
    WRITE_VERSION_FIELD_NUMBER: _ClassVar[int]
    block_ids: _containers.RepeatedScalarFieldContainer[str]
    write_version: int
    def __init__(self, block_ids: _Optional[_Iterable[str]] = ..., write_version: _Optional[int] = ...) -> None: ...

class GetIndexRequest(_message.Message):
    __slots__ = ("user_id",)
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    def __init__(self, user_id: _Optional[str] = ...) -> None: ...

class GetIndexResponse(_message.Message):
    __slots__ = ("blocks", "passages", "users", "encoder_id", "write_version", "store", "conversations", "frozen", "reindex", "largest_user_blocks", "advised_blocks")
    BLOCKS_FIELD_NUMBER: _ClassVar[int]
    PASSAGES_FIELD_NUMBER: _ClassVar[int]
    USERS_FIELD_NUMBER: _ClassVar[int]
    ENCODER_ID_FIELD_NUMBER: _ClassVar[int]
    WRITE_VERSION_FIELD_NUMBER: _ClassVar[int]
    STORE_FIELD_NUMBER: _ClassVar[int]
    CONVERSATIONS_FIELD_NUMBER: _ClassVar[int]
    FROZEN_FIELD_NUMBER: _ClassVar[int]
    REINDEX_FIELD_NUMBER: _ClassVar[int]
    LARGEST_USER_BLOCKS_FIELD_NUMBER: _ClassVar[int]
    ADVISED_BLOCKS_FIELD_NUMBER: _ClassVar[int]
    blocks: int
    passages: int
    users: int
    encoder_id: str
    write_version: int
    store: str
    conversations: int
    frozen: int
    reindex: str
    largest_user_blocks: int
    advised_blocks: int
    def __init__(self, blocks: _Optional[int] = ..., passages: _Optional[int] = ..., users: _Optional[int] = ..., encoder_id: _Optional[str] = ..., write_version: _Optional[int] = ..., store: _Optional[str] = ..., conversations: _Optional[int] = ..., frozen: _Optional[int] = ..., reindex: _Optional[str] = ..., largest_user_blocks: _Optional[int] = ..., advised_blocks: _Optional[int] = ...) -> None: ...

class ReindexRequest(_message.Message):
    __slots__ = ("action",)
    ACTION_FIELD_NUMBER: _ClassVar[int]
    action: str
    def __init__(self, action: _Optional[str] = ...) -> None: ...

class ReindexResponse(_message.Message):
    __slots__ = ("state", "done", "total", "built", "made", "wanted", "detail")
    STATE_FIELD_NUMBER: _ClassVar[int]
    DONE_FIELD_NUMBER: _ClassVar[int]
    TOTAL_FIELD_NUMBER: _ClassVar[int]
    BUILT_FIELD_NUMBER: _ClassVar[int]
    MADE_FIELD_NUMBER: _ClassVar[int]
    WANTED_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    state: str
    done: int
    total: int
    built: int
    made: str
    wanted: str
    detail: str
    def __init__(self, state: _Optional[str] = ..., done: _Optional[int] = ..., total: _Optional[int] = ..., built: _Optional[int] = ..., made: _Optional[str] = ..., wanted: _Optional[str] = ..., detail: _Optional[str] = ...) -> None: ...
