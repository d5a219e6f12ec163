import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from memvault.recall.v1 import types_pb2 as _types_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class RecallRequest(_message.Message):
    __slots__ = ("query", "context")
    QUERY_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_FIELD_NUMBER: _ClassVar[int]
    query: str
    context: RecallContext
    def __init__(self, query: _Optional[str] = ..., context: _Optional[_Union[RecallContext, _Mapping]] = ...) -> None: ...

class RecallContext(_message.Message):
    __slots__ = ("user_id", "conversation_id", "recent_utterances", "caller", "format", "token_budget", "filters", "limit", "as_of", "time_zone", "explain", "trace", "origin", "deadline_ms", "evaluation")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    RECENT_UTTERANCES_FIELD_NUMBER: _ClassVar[int]
    CALLER_FIELD_NUMBER: _ClassVar[int]
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    TOKEN_BUDGET_FIELD_NUMBER: _ClassVar[int]
    FILTERS_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    AS_OF_FIELD_NUMBER: _ClassVar[int]
    TIME_ZONE_FIELD_NUMBER: _ClassVar[int]
    EXPLAIN_FIELD_NUMBER: _ClassVar[int]
    TRACE_FIELD_NUMBER: _ClassVar[int]
    ORIGIN_FIELD_NUMBER: _ClassVar[int]
    DEADLINE_MS_FIELD_NUMBER: _ClassVar[int]
    EVALUATION_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    conversation_id: str
    recent_utterances: _containers.RepeatedCompositeFieldContainer[_types_pb2.Utterance]
    caller: str
    format: str
    token_budget: int
    filters: _types_pb2.Filters
    limit: int
    as_of: _timestamp_pb2.Timestamp
    time_zone: str
    explain: bool
    trace: bool
    origin: str
    deadline_ms: int
    evaluation: Evaluation
    def __init__(self, user_id: _Optional[str] = ..., conversation_id: _Optional[str] = ..., recent_utterances: _Optional[_Iterable[_Union[_types_pb2.Utterance, _Mapping]]] = ..., caller: _Optional[str] = ..., format: _Optional[str] = ..., token_budget: _Optional[int] = ..., filters: _Optional[_Union[_types_pb2.Filters, _Mapping]] = ..., limit: _Optional[int] = ..., as_of: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., time_zone: _Optional[str] = ..., explain: _Optional[bool] = ..., trace: _Optional[bool] = ..., origin: _Optional[str] = ..., deadline_ms: _Optional[int] = ..., evaluation: _Optional[_Union[Evaluation, _Mapping]] = ...) -> None: ...

class Evaluation(_message.Message):
    __slots__ = ("now", "profile", "intent", "thinking_mode", "facet", "off", "include_candidates")
    NOW_FIELD_NUMBER: _ClassVar[int]
    PROFILE_FIELD_NUMBER: _ClassVar[int]
    INTENT_FIELD_NUMBER: _ClassVar[int]
    THINKING_MODE_FIELD_NUMBER: _ClassVar[int]
    FACET_FIELD_NUMBER: _ClassVar[int]
    OFF_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_CANDIDATES_FIELD_NUMBER: _ClassVar[int]
    now: _timestamp_pb2.Timestamp
    profile: str
    intent: str
    thinking_mode: str
    facet: str
    off: _containers.RepeatedScalarFieldContainer[str]
    include_candidates: bool
    def __init__(self, now: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., profile: _Optional[str] = ..., intent: _Optional[str] = ..., thinking_mode: _Optional[str] = ..., facet: _Optional[str] = ..., off: _Optional[_Iterable[str]] = ..., include_candidates: _Optional[bool] = ...) -> None: ...

class Candidate(_message.Message):
    __slots__ = ("block_id", "version", "places", "scoring_score", "similarity")
    BLOCK_ID_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    PLACES_FIELD_NUMBER: _ClassVar[int]
    SCORING_SCORE_FIELD_NUMBER: _ClassVar[int]
    SIMILARITY_FIELD_NUMBER: _ClassVar[int]
    block_id: str
    version: int
    places: _containers.RepeatedCompositeFieldContainer[_types_pb2.RankerPlace]
    scoring_score: float
    similarity: float
    def __init__(self, block_id: _Optional[str] = ..., version: _Optional[int] = ..., places: _Optional[_Iterable[_Union[_types_pb2.RankerPlace, _Mapping]]] = ..., scoring_score: _Optional[float] = ..., similarity: _Optional[float] = ...) -> None: ...

class IntentProbability(_message.Message):
    __slots__ = ("intent", "probability")
    INTENT_FIELD_NUMBER: _ClassVar[int]
    PROBABILITY_FIELD_NUMBER: _ClassVar[int]
    intent: str
    probability: float
    def __init__(self, intent: _Optional[str] = ..., probability: _Optional[float] = ...) -> None: ...

class IntentFactor(_message.Message):
    __slots__ = ("intent", "factor")
    INTENT_FIELD_NUMBER: _ClassVar[int]
    FACTOR_FIELD_NUMBER: _ClassVar[int]
    intent: str
    factor: float
    def __init__(self, intent: _Optional[str] = ..., factor: _Optional[float] = ...) -> None: ...

class Skip(_message.Message):
    __slots__ = ("step", "reason")
    STEP_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    step: str
    reason: str
    def __init__(self, step: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class HopTime(_message.Message):
    __slots__ = ("hop", "took_ms")
    HOP_FIELD_NUMBER: _ClassVar[int]
    TOOK_MS_FIELD_NUMBER: _ClassVar[int]
    hop: str
    took_ms: float
    def __init__(self, hop: _Optional[str] = ..., took_ms: _Optional[float] = ...) -> None: ...

class Explanation(_message.Message):
    __slots__ = ("raw_distribution", "distribution", "funnel", "keyword_matches", "completed_query", "time_expression", "time_range", "time_filtered", "layers", "scoring_profile", "profile", "skipped", "times", "candidates_found", "reranked", "relevance", "entities", "self_check_steps", "notes", "prior", "parts")
    RAW_DISTRIBUTION_FIELD_NUMBER: _ClassVar[int]
    DISTRIBUTION_FIELD_NUMBER: _ClassVar[int]
    FUNNEL_FIELD_NUMBER: _ClassVar[int]
    KEYWORD_MATCHES_FIELD_NUMBER: _ClassVar[int]
    COMPLETED_QUERY_FIELD_NUMBER: _ClassVar[int]
    TIME_EXPRESSION_FIELD_NUMBER: _ClassVar[int]
    TIME_RANGE_FIELD_NUMBER: _ClassVar[int]
    TIME_FILTERED_FIELD_NUMBER: _ClassVar[int]
    LAYERS_FIELD_NUMBER: _ClassVar[int]
    SCORING_PROFILE_FIELD_NUMBER: _ClassVar[int]
    PROFILE_FIELD_NUMBER: _ClassVar[int]
    SKIPPED_FIELD_NUMBER: _ClassVar[int]
    TIMES_FIELD_NUMBER: _ClassVar[int]
    CANDIDATES_FOUND_FIELD_NUMBER: _ClassVar[int]
    RERANKED_FIELD_NUMBER: _ClassVar[int]
    RELEVANCE_FIELD_NUMBER: _ClassVar[int]
    ENTITIES_FIELD_NUMBER: _ClassVar[int]
    SELF_CHECK_STEPS_FIELD_NUMBER: _ClassVar[int]
    NOTES_FIELD_NUMBER: _ClassVar[int]
    PRIOR_FIELD_NUMBER: _ClassVar[int]
    PARTS_FIELD_NUMBER: _ClassVar[int]
    raw_distribution: _containers.RepeatedCompositeFieldContainer[IntentProbability]
    distribution: _containers.RepeatedCompositeFieldContainer[IntentProbability]
    funnel: str
    keyword_matches: _containers.RepeatedScalarFieldContainer[str]
    completed_query: str
    time_expression: str
    time_range: _types_pb2.TimeRange
    time_filtered: bool
    layers: _containers.RepeatedScalarFieldContainer[str]
    scoring_profile: str
    profile: str
    skipped: _containers.RepeatedCompositeFieldContainer[Skip]
    times: _containers.RepeatedCompositeFieldContainer[HopTime]
    candidates_found: int
    reranked: int
    relevance: float
    entities: _containers.RepeatedScalarFieldContainer[str]
    self_check_steps: _containers.RepeatedScalarFieldContainer[str]
    notes: _containers.RepeatedScalarFieldContainer[str]
    prior: _containers.RepeatedCompositeFieldContainer[IntentFactor]
    parts: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, raw_distribution: _Optional[_Iterable[_Union[IntentProbability, _Mapping]]] = ..., distribution: _Optional[_Iterable[_Union[IntentProbability, _Mapping]]] = ..., funnel: _Optional[str] = ..., keyword_matches: _Optional[_Iterable[str]] = ..., completed_query: _Optional[str] = ..., time_expression: _Optional[str] = ..., time_range: _Optional[_Union[_types_pb2.TimeRange, _Mapping]] = ..., time_filtered: _Optional[bool] = ..., layers: _Optional[_Iterable[str]] = ..., scoring_profile: _Optional[str] = ..., profile: _Optional[str] = ..., skipped: _Optional[_Iterable[_Union[Skip, _Mapping]]] = ..., times: _Optional[_Iterable[_Union[HopTime, _Mapping]]] = ..., candidates_found: _Optional[int] = ..., reranked: _Optional[int] = ..., relevance: _Optional[float] = ..., entities: _Optional[_Iterable[str]] = ..., self_check_steps: _Optional[_Iterable[str]] = ..., notes: _Optional[_Iterable[str]] = ..., prior: _Optional[_Iterable[_Union[IntentFactor, _Mapping]]] = ..., parts: _Optional[_Iterable[str]] = ...) -> None: ...

class Packing(_message.Message):
    __slots__ = ("token_budget", "tokens_used", "left_out", "summarised", "folded")
    TOKEN_BUDGET_FIELD_NUMBER: _ClassVar[int]
    TOKENS_USED_FIELD_NUMBER: _ClassVar[int]
    LEFT_OUT_FIELD_NUMBER: _ClassVar[int]
    SUMMARISED_FIELD_NUMBER: _ClassVar[int]
    FOLDED_FIELD_NUMBER: _ClassVar[int]
    token_budget: int
    tokens_used: int
    left_out: int
    summarised: int
    folded: int
    def __init__(self, token_budget: _Optional[int] = ..., tokens_used: _Optional[int] = ..., left_out: _Optional[int] = ..., summarised: _Optional[int] = ..., folded: _Optional[int] = ...) -> None: ...

class Withheld(_message.Message):
    __slots__ = ("reason", "count", "rules")
    REASON_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    RULES_FIELD_NUMBER: _ClassVar[int]
    reason: str
    count: int
    rules: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, reason: _Optional[str] = ..., count: _Optional[int] = ..., rules: _Optional[_Iterable[str]] = ...) -> None: ...

class RecallResponse(_message.Message):
    __slots__ = ("recall_id", "query", "intent", "intent_confidence", "facet", "thinking_mode", "retrieval_mode", "confidence", "cards", "cascade_cards", "self_check", "degraded", "packing", "text", "explanation", "answered_from", "write_version", "candidates", "trace", "took_ms", "trace_id", "withheld", "grouping")
    RECALL_ID_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    INTENT_FIELD_NUMBER: _ClassVar[int]
    INTENT_CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    FACET_FIELD_NUMBER: _ClassVar[int]
    THINKING_MODE_FIELD_NUMBER: _ClassVar[int]
    RETRIEVAL_MODE_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    CARDS_FIELD_NUMBER: _ClassVar[int]
    CASCADE_CARDS_FIELD_NUMBER: _ClassVar[int]
    SELF_CHECK_FIELD_NUMBER: _ClassVar[int]
    DEGRADED_FIELD_NUMBER: _ClassVar[int]
    PACKING_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    EXPLANATION_FIELD_NUMBER: _ClassVar[int]
    ANSWERED_FROM_FIELD_NUMBER: _ClassVar[int]
    WRITE_VERSION_FIELD_NUMBER: _ClassVar[int]
    CANDIDATES_FIELD_NUMBER: _ClassVar[int]
    TRACE_FIELD_NUMBER: _ClassVar[int]
    TOOK_MS_FIELD_NUMBER: _ClassVar[int]
    TRACE_ID_FIELD_NUMBER: _ClassVar[int]
    WITHHELD_FIELD_NUMBER: _ClassVar[int]
    GROUPING_FIELD_NUMBER: _ClassVar[int]
    recall_id: str
    query: str
    intent: str
    intent_confidence: float
    facet: str
    thinking_mode: str
    retrieval_mode: str
    confidence: str
    cards: _containers.RepeatedCompositeFieldContainer[_types_pb2.Card]
    cascade_cards: _containers.RepeatedCompositeFieldContainer[_types_pb2.Card]
    self_check: str
    degraded: _containers.RepeatedCompositeFieldContainer[_types_pb2.Degradation]
    packing: Packing
    text: str
    explanation: Explanation
    answered_from: str
    write_version: int
    candidates: _containers.RepeatedCompositeFieldContainer[Candidate]
    trace: _containers.RepeatedCompositeFieldContainer[_types_pb2.TraceSpan]
    took_ms: float
    trace_id: str
    withheld: _containers.RepeatedCompositeFieldContainer[Withheld]
    grouping: str
    def __init__(self, recall_id: _Optional[str] = ..., query: _Optional[str] = ..., intent: _Optional[str] = ..., intent_confidence: _Optional[float] = ..., facet: _Optional[str] = ..., thinking_mode: _Optional[str] = ..., retrieval_mode: _Optional[str] = ..., confidence: _Optional[str] = ..., cards: _Optional[_Iterable[_Union[_types_pb2.Card, _Mapping]]] = ..., cascade_cards: _Optional[_Iterable[_Union[_types_pb2.Card, _Mapping]]] = ..., self_check: _Optional[str] = ..., degraded: _Optional[_Iterable[_Union[_types_pb2.Degradation, _Mapping]]] = ..., packing: _Optional[_Union[Packing, _Mapping]] = ..., text: _Optional[str] = ..., explanation: _Optional[_Union[Explanation, _Mapping]] = ..., answered_from: _Optional[str] = ..., write_version: _Optional[int] = ..., candidates: _Optional[_Iterable[_Union[Candidate, _Mapping]]] = ..., trace: _Optional[_Iterable[_Union[_types_pb2.TraceSpan, _Mapping]]] = ..., took_ms: _Optional[float] = ..., trace_id: _Optional[str] = ..., withheld: _Optional[_Iterable[_Union[Withheld, _Mapping]]] = ..., grouping: _Optional[str] = ...) -> None: ...
