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

class ClassifyRequest(_message.Message):
    __slots__ = ("user_id", "query", "conversation_id", "recent_utterances", "now", "time_zone", "origin", "intent", "facet", "thinking_mode", "off", "profile", "conditions", "recall_id")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    RECENT_UTTERANCES_FIELD_NUMBER: _ClassVar[int]
    NOW_FIELD_NUMBER: _ClassVar[int]
    TIME_ZONE_FIELD_NUMBER: _ClassVar[int]
    ORIGIN_FIELD_NUMBER: _ClassVar[int]
    INTENT_FIELD_NUMBER: _ClassVar[int]
    FACET_FIELD_NUMBER: _ClassVar[int]
    THINKING_MODE_FIELD_NUMBER: _ClassVar[int]
    OFF_FIELD_NUMBER: _ClassVar[int]
    PROFILE_FIELD_NUMBER: _ClassVar[int]
    CONDITIONS_FIELD_NUMBER: _ClassVar[int]
    RECALL_ID_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    query: str
    conversation_id: str
    recent_utterances: _containers.RepeatedCompositeFieldContainer[_types_pb2.Utterance]
    now: _timestamp_pb2.Timestamp
    time_zone: str
    origin: str
    intent: str
    facet: str
    thinking_mode: str
    off: _containers.RepeatedScalarFieldContainer[str]
    profile: str
    conditions: str
    recall_id: str
    def __init__(self, user_id: _Optional[str] = ..., query: _Optional[str] = ..., conversation_id: _Optional[str] = ..., recent_utterances: _Optional[_Iterable[_Union[_types_pb2.Utterance, _Mapping]]] = ..., now: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., time_zone: _Optional[str] = ..., origin: _Optional[str] = ..., intent: _Optional[str] = ..., facet: _Optional[str] = ..., thinking_mode: _Optional[str] = ..., off: _Optional[_Iterable[str]] = ..., profile: _Optional[str] = ..., conditions: _Optional[str] = ..., recall_id: _Optional[str] = ...) -> None: ...

class ClassifyResponse(_message.Message):
    __slots__ = ("raw_distribution", "distribution", "intent", "confidence", "funnel", "keyword_matches", "facet", "completed_query", "time_expression", "time_range", "time_explicit", "layers", "retrieval_mode", "thinking_mode", "scoring_profile", "query_vector", "query_tokens", "raw_query_vector", "hyde_passage", "hyde_vector", "prefetch", "prefetch_match", "degraded", "skipped", "times", "runner_up", "grouping", "encoder_id", "bare", "prior")
    RAW_DISTRIBUTION_FIELD_NUMBER: _ClassVar[int]
    DISTRIBUTION_FIELD_NUMBER: _ClassVar[int]
    INTENT_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    FUNNEL_FIELD_NUMBER: _ClassVar[int]
    KEYWORD_MATCHES_FIELD_NUMBER: _ClassVar[int]
    FACET_FIELD_NUMBER: _ClassVar[int]
    COMPLETED_QUERY_FIELD_NUMBER: _ClassVar[int]
    TIME_EXPRESSION_FIELD_NUMBER: _ClassVar[int]
    TIME_RANGE_FIELD_NUMBER: _ClassVar[int]
    TIME_EXPLICIT_FIELD_NUMBER: _ClassVar[int]
    LAYERS_FIELD_NUMBER: _ClassVar[int]
    RETRIEVAL_MODE_FIELD_NUMBER: _ClassVar[int]
    THINKING_MODE_FIELD_NUMBER: _ClassVar[int]
    SCORING_PROFILE_FIELD_NUMBER: _ClassVar[int]
    QUERY_VECTOR_FIELD_NUMBER: _ClassVar[int]
    QUERY_TOKENS_FIELD_NUMBER: _ClassVar[int]
    RAW_QUERY_VECTOR_FIELD_NUMBER: _ClassVar[int]
    HYDE_PASSAGE_FIELD_NUMBER: _ClassVar[int]
    HYDE_VECTOR_FIELD_NUMBER: _ClassVar[int]
    PREFETCH_FIELD_NUMBER: _ClassVar[int]
    PREFETCH_MATCH_FIELD_NUMBER: _ClassVar[int]
    DEGRADED_FIELD_NUMBER: _ClassVar[int]
    SKIPPED_FIELD_NUMBER: _ClassVar[int]
    TIMES_FIELD_NUMBER: _ClassVar[int]
    RUNNER_UP_FIELD_NUMBER: _ClassVar[int]
    GROUPING_FIELD_NUMBER: _ClassVar[int]
    ENCODER_ID_FIELD_NUMBER: _ClassVar[int]
    BARE_FIELD_NUMBER: _ClassVar[int]
    PRIOR_FIELD_NUMBER: _ClassVar[int]
    raw_distribution: _containers.RepeatedCompositeFieldContainer[_recall_pb2.IntentProbability]
    distribution: _containers.RepeatedCompositeFieldContainer[_recall_pb2.IntentProbability]
    intent: str
    confidence: float
    funnel: str
    keyword_matches: _containers.RepeatedScalarFieldContainer[str]
    facet: str
    completed_query: str
    time_expression: str
    time_range: _types_pb2.TimeRange
    time_explicit: bool
    layers: _containers.RepeatedScalarFieldContainer[str]
    retrieval_mode: str
    thinking_mode: str
    scoring_profile: str
    query_vector: bytes
    query_tokens: _prefetch_pb2.TokenVectors
    raw_query_vector: bytes
    hyde_passage: str
    hyde_vector: bytes
    prefetch: _prefetch_pb2.PrefetchEntry
    prefetch_match: str
    degraded: _containers.RepeatedCompositeFieldContainer[_types_pb2.Degradation]
    skipped: _containers.RepeatedCompositeFieldContainer[_recall_pb2.Skip]
    times: _containers.RepeatedCompositeFieldContainer[_recall_pb2.HopTime]
    runner_up: str
    grouping: str
    encoder_id: str
    bare: bool
    prior: _containers.RepeatedCompositeFieldContainer[_recall_pb2.IntentFactor]
    def __init__(self, raw_distribution: _Optional[_Iterable[_Union[_recall_pb2.IntentProbability, _Mapping]]] = ..., distribution: _Optional[_Iterable[_Union[_recall_pb2.IntentProbability, _Mapping]]] = ..., intent: _Optional[str] = ..., confidence: _Optional[float] = ..., funnel: _Optional[str] = ..., keyword_matches: _Optional[_Iterable[str]] = ..., facet: _Optional[str] = ..., completed_query: _Optional[str] = ..., time_expression: _Optional[str] = ..., time_range: _Optional[_Union[_types_pb2.TimeRange, _Mapping]] = ..., time_explicit: _Optional[bool] = ..., layers: _Optional[_Iterable[str]] = ..., retrieval_mode: _Optional[str] = ..., thinking_mode: _Optional[str] = ..., scoring_profile: _Optional[str] = ..., query_vector: _Optional[bytes] = ..., query_tokens: _Optional[_Union[_prefetch_pb2.TokenVectors, _Mapping]] = ..., raw_query_vector: _Optional[bytes] = ..., hyde_passage: _Optional[str] = ..., hyde_vector: _Optional[bytes] = ..., prefetch: _Optional[_Union[_prefetch_pb2.PrefetchEntry, _Mapping]] = ..., prefetch_match: _Optional[str] = ..., degraded: _Optional[_Iterable[_Union[_types_pb2.Degradation, _Mapping]]] = ..., skipped: _Optional[_Iterable[_Union[_recall_pb2.Skip, _Mapping]]] = ..., times: _Optional[_Iterable[_Union[_recall_pb2.HopTime, _Mapping]]] = ..., runner_up: _Optional[str] = ..., grouping: _Optional[str] = ..., encoder_id: _Optional[str] = ..., bare: _Optional[bool] = ..., prior: _Optional[_Iterable[_Union[_recall_pb2.IntentFactor, _Mapping]]] = ...) -> None: ...

class ReadProfileRequest(_message.Message):
    __slots__ = ("user_id", "now", "whole")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    NOW_FIELD_NUMBER: _ClassVar[int]
    WHOLE_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    now: _timestamp_pb2.Timestamp
    whole: bool
    def __init__(self, user_id: _Optional[str] = ..., now: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., whole: _Optional[bool] = ...) -> None: ...

class CountedQuestion(_message.Message):
    __slots__ = ("id", "intent", "facet", "asked_at")
    ID_FIELD_NUMBER: _ClassVar[int]
    INTENT_FIELD_NUMBER: _ClassVar[int]
    FACET_FIELD_NUMBER: _ClassVar[int]
    ASKED_AT_FIELD_NUMBER: _ClassVar[int]
    id: str
    intent: str
    facet: str
    asked_at: _timestamp_pb2.Timestamp
    def __init__(self, id: _Optional[str] = ..., intent: _Optional[str] = ..., facet: _Optional[str] = ..., asked_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class NamedWeight(_message.Message):
    __slots__ = ("name", "weight")
    NAME_FIELD_NUMBER: _ClassVar[int]
    WEIGHT_FIELD_NUMBER: _ClassVar[int]
    name: str
    weight: float
    def __init__(self, name: _Optional[str] = ..., weight: _Optional[float] = ...) -> None: ...

class ReadProfileResponse(_message.Message):
    __slots__ = ("sample_count", "intents", "facets", "interests", "questions", "lasting_interests")
    SAMPLE_COUNT_FIELD_NUMBER: _ClassVar[int]
    INTENTS_FIELD_NUMBER: _ClassVar[int]
    FACETS_FIELD_NUMBER: _ClassVar[int]
    INTERESTS_FIELD_NUMBER: _ClassVar[int]
    QUESTIONS_FIELD_NUMBER: _ClassVar[int]
    LASTING_INTERESTS_FIELD_NUMBER: _ClassVar[int]
    sample_count: int
    intents: _containers.RepeatedCompositeFieldContainer[NamedWeight]
    facets: _containers.RepeatedCompositeFieldContainer[NamedWeight]
    interests: _containers.RepeatedCompositeFieldContainer[NamedWeight]
    questions: _containers.RepeatedCompositeFieldContainer[CountedQuestion]
    lasting_interests: _containers.RepeatedCompositeFieldContainer[NamedWeight]
    def __init__(self, sample_count: _Optional[int] = ..., intents: _Optional[_Iterable[_Union[NamedWeight, _Mapping]]] = ..., facets: _Optional[_Iterable[_Union[NamedWeight, _Mapping]]] = ..., interests: _Optional[_Iterable[_Union[NamedWeight, _Mapping]]] = ..., questions: _Optional[_Iterable[_Union[CountedQuestion, _Mapping]]] = ..., lasting_interests: _Optional[_Iterable[_Union[NamedWeight, _Mapping]]] = ...) -> None: ...

class RestoreProfileRequest(_message.Message):
    __slots__ = ("user_id", "questions", "lasting_interests")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    QUESTIONS_FIELD_NUMBER: _ClassVar[int]
    LASTING_INTERESTS_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    questions: _containers.RepeatedCompositeFieldContainer[CountedQuestion]
    lasting_interests: _containers.RepeatedCompositeFieldContainer[NamedWeight]
    def __init__(self, user_id: _Optional[str] = ..., questions: _Optional[_Iterable[_Union[CountedQuestion, _Mapping]]] = ..., lasting_interests: _Optional[_Iterable[_Union[NamedWeight, _Mapping]]] = ...) -> None: ...

class RestoreProfileResponse(_message.Message):
    __slots__ = ("questions", "interests")
    QUESTIONS_FIELD_NUMBER: _ClassVar[int]
    INTERESTS_FIELD_NUMBER: _ClassVar[int]
    questions: int
    interests: int
    def __init__(self, questions: _Optional[int] = ..., interests: _Optional[int] = ...) -> None: ...

class DropProfileRequest(_message.Message):
    __slots__ = ("user_id",)
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    def __init__(self, user_id: _Optional[str] = ...) -> None: ...

class DropProfileResponse(_message.Message):
    __slots__ = ("dropped",)
    DROPPED_FIELD_NUMBER: _ClassVar[int]
    dropped: bool
    def __init__(self, dropped: _Optional[bool] = ...) -> None: ...
