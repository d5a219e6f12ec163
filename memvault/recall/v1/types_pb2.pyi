import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Source(_message.Message):
    __slots__ = ("kind", "uri")
    KIND_FIELD_NUMBER: _ClassVar[int]
    URI_FIELD_NUMBER: _ClassVar[int]
    kind: str
    uri: str
    def __init__(self, kind: _Optional[str] = ..., uri: _Optional[str] = ...) -> None: ...

class Triple(_message.Message):
    __slots__ = ("subject", "predicate", "object")
    SUBJECT_FIELD_NUMBER: _ClassVar[int]
    PREDICATE_FIELD_NUMBER: _ClassVar[int]
    OBJECT_FIELD_NUMBER: _ClassVar[int]
    subject: str
    predicate: str
    object: str
    def __init__(self, subject: _Optional[str] = ..., predicate: _Optional[str] = ..., object: _Optional[str] = ...) -> None: ...

class Block(_message.Message):
    __slots__ = ("id", "user_id", "service", "text", "summary", "title", "heading_path", "speaker", "conversation_id", "session_id", "position", "event_time", "recorded_at", "source", "trust", "confidence", "tags", "quarantine", "ups", "downs", "access_count", "last_accessed_at", "centrality", "tier", "frozen", "superseded_by", "valid_from", "valid_to", "screened_version", "version", "triples", "unsafe_rules")
    ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    SERVICE_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    HEADING_PATH_FIELD_NUMBER: _ClassVar[int]
    SPEAKER_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    EVENT_TIME_FIELD_NUMBER: _ClassVar[int]
    RECORDED_AT_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    TRUST_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    QUARANTINE_FIELD_NUMBER: _ClassVar[int]
    UPS_FIELD_NUMBER: _ClassVar[int]
    DOWNS_FIELD_NUMBER: _ClassVar[int]
    ACCESS_COUNT_FIELD_NUMBER: _ClassVar[int]
    LAST_ACCESSED_AT_FIELD_NUMBER: _ClassVar[int]
    CENTRALITY_FIELD_NUMBER: _ClassVar[int]
    TIER_FIELD_NUMBER: _ClassVar[int]
    FROZEN_FIELD_NUMBER: _ClassVar[int]
    SUPERSEDED_BY_FIELD_NUMBER: _ClassVar[int]
    VALID_FROM_FIELD_NUMBER: _ClassVar[int]
    VALID_TO_FIELD_NUMBER: _ClassVar[int]
    SCREENED_VERSION_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    TRIPLES_FIELD_NUMBER: _ClassVar[int]
    UNSAFE_RULES_FIELD_NUMBER: _ClassVar[int]
    id: str
    user_id: str
    service: str
    text: str
    summary: str
    title: str
    heading_path: _containers.RepeatedScalarFieldContainer[str]
    speaker: str
    conversation_id: str
    session_id: str
    position: int
    event_time: _timestamp_pb2.Timestamp
    recorded_at: _timestamp_pb2.Timestamp
    source: Source
    trust: float
    confidence: float
    tags: _containers.RepeatedScalarFieldContainer[str]
    quarantine: _containers.RepeatedScalarFieldContainer[str]
    ups: int
    downs: int
    access_count: int
    last_accessed_at: _timestamp_pb2.Timestamp
    centrality: float
    tier: str
    frozen: bool
    superseded_by: str
    valid_from: _timestamp_pb2.Timestamp
    valid_to: _timestamp_pb2.Timestamp
    screened_version: str
    version: int
    triples: _containers.RepeatedCompositeFieldContainer[Triple]
    unsafe_rules: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, id: _Optional[str] = ..., user_id: _Optional[str] = ..., service: _Optional[str] = ..., text: _Optional[str] = ..., summary: _Optional[str] = ..., title: _Optional[str] = ..., heading_path: _Optional[_Iterable[str]] = ..., speaker: _Optional[str] = ..., conversation_id: _Optional[str] = ..., session_id: _Optional[str] = ..., position: _Optional[int] = ..., event_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., recorded_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., source: _Optional[_Union[Source, _Mapping]] = ..., trust: _Optional[float] = ..., confidence: _Optional[float] = ..., tags: _Optional[_Iterable[str]] = ..., quarantine: _Optional[_Iterable[str]] = ..., ups: _Optional[int] = ..., downs: _Optional[int] = ..., access_count: _Optional[int] = ..., last_accessed_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., centrality: _Optional[float] = ..., tier: _Optional[str] = ..., frozen: _Optional[bool] = ..., superseded_by: _Optional[str] = ..., valid_from: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., valid_to: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., screened_version: _Optional[str] = ..., version: _Optional[int] = ..., triples: _Optional[_Iterable[_Union[Triple, _Mapping]]] = ..., unsafe_rules: _Optional[_Iterable[str]] = ...) -> None: ...

class Utterance(_message.Message):
    __slots__ = ("speaker", "text", "event_time")
    SPEAKER_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    EVENT_TIME_FIELD_NUMBER: _ClassVar[int]
    speaker: str
    text: str
    event_time: _timestamp_pb2.Timestamp
    def __init__(self, speaker: _Optional[str] = ..., text: _Optional[str] = ..., event_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class TimeRange(_message.Message):
    __slots__ = ("start", "end")
    START_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    start: _timestamp_pb2.Timestamp
    end: _timestamp_pb2.Timestamp
    def __init__(self, start: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., end: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class Filters(_message.Message):
    __slots__ = ("services", "tags", "time_range", "source_kinds", "conversation_ids")
    SERVICES_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    TIME_RANGE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_KINDS_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_IDS_FIELD_NUMBER: _ClassVar[int]
    services: _containers.RepeatedScalarFieldContainer[str]
    tags: _containers.RepeatedScalarFieldContainer[str]
    time_range: TimeRange
    source_kinds: _containers.RepeatedScalarFieldContainer[str]
    conversation_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, services: _Optional[_Iterable[str]] = ..., tags: _Optional[_Iterable[str]] = ..., time_range: _Optional[_Union[TimeRange, _Mapping]] = ..., source_kinds: _Optional[_Iterable[str]] = ..., conversation_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class Degradation(_message.Message):
    __slots__ = ("part", "reason", "detail")
    PART_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    part: str
    reason: str
    detail: str
    def __init__(self, part: _Optional[str] = ..., reason: _Optional[str] = ..., detail: _Optional[str] = ...) -> None: ...

class RankerPlace(_message.Message):
    __slots__ = ("ranker", "rank", "score", "contribution")
    RANKER_FIELD_NUMBER: _ClassVar[int]
    RANK_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    CONTRIBUTION_FIELD_NUMBER: _ClassVar[int]
    ranker: str
    rank: int
    score: float
    contribution: float
    def __init__(self, ranker: _Optional[str] = ..., rank: _Optional[int] = ..., score: _Optional[float] = ..., contribution: _Optional[float] = ...) -> None: ...

class StageEffect(_message.Message):
    __slots__ = ("stage", "factor", "kept", "note")
    STAGE_FIELD_NUMBER: _ClassVar[int]
    FACTOR_FIELD_NUMBER: _ClassVar[int]
    KEPT_FIELD_NUMBER: _ClassVar[int]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    stage: str
    factor: float
    kept: bool
    note: str
    def __init__(self, stage: _Optional[str] = ..., factor: _Optional[float] = ..., kept: _Optional[bool] = ..., note: _Optional[str] = ...) -> None: ...

class CardExplanation(_message.Message):
    __slots__ = ("places", "fused_score", "base_score", "stages", "scoring_score", "scoring_rank", "rerank_score", "final_score", "similarity", "reason")
    PLACES_FIELD_NUMBER: _ClassVar[int]
    FUSED_SCORE_FIELD_NUMBER: _ClassVar[int]
    BASE_SCORE_FIELD_NUMBER: _ClassVar[int]
    STAGES_FIELD_NUMBER: _ClassVar[int]
    SCORING_SCORE_FIELD_NUMBER: _ClassVar[int]
    SCORING_RANK_FIELD_NUMBER: _ClassVar[int]
    RERANK_SCORE_FIELD_NUMBER: _ClassVar[int]
    FINAL_SCORE_FIELD_NUMBER: _ClassVar[int]
    SIMILARITY_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    places: _containers.RepeatedCompositeFieldContainer[RankerPlace]
    fused_score: float
    base_score: float
    stages: _containers.RepeatedCompositeFieldContainer[StageEffect]
    scoring_score: float
    scoring_rank: int
    rerank_score: float
    final_score: float
    similarity: float
    reason: str
    def __init__(self, places: _Optional[_Iterable[_Union[RankerPlace, _Mapping]]] = ..., fused_score: _Optional[float] = ..., base_score: _Optional[float] = ..., stages: _Optional[_Iterable[_Union[StageEffect, _Mapping]]] = ..., scoring_score: _Optional[float] = ..., scoring_rank: _Optional[int] = ..., rerank_score: _Optional[float] = ..., final_score: _Optional[float] = ..., similarity: _Optional[float] = ..., reason: _Optional[str] = ...) -> None: ...

class PathStep(_message.Message):
    __slots__ = ("subject", "predicate", "object")
    SUBJECT_FIELD_NUMBER: _ClassVar[int]
    PREDICATE_FIELD_NUMBER: _ClassVar[int]
    OBJECT_FIELD_NUMBER: _ClassVar[int]
    subject: str
    predicate: str
    object: str
    def __init__(self, subject: _Optional[str] = ..., predicate: _Optional[str] = ..., object: _Optional[str] = ...) -> None: ...

class Card(_message.Message):
    __slots__ = ("block_id", "kind", "title", "text", "score", "service", "source", "speaker", "conversation_id", "event_time", "recorded_at", "trust", "confidence", "tags", "summarised", "expand", "redacted", "frozen", "superseded_by", "highlight", "path", "supports", "explanation", "tokens")
    BLOCK_ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    SERVICE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    SPEAKER_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    EVENT_TIME_FIELD_NUMBER: _ClassVar[int]
    RECORDED_AT_FIELD_NUMBER: _ClassVar[int]
    TRUST_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    SUMMARISED_FIELD_NUMBER: _ClassVar[int]
    EXPAND_FIELD_NUMBER: _ClassVar[int]
    REDACTED_FIELD_NUMBER: _ClassVar[int]
    FROZEN_FIELD_NUMBER: _ClassVar[int]
    SUPERSEDED_BY_FIELD_NUMBER: _ClassVar[int]
    HIGHLIGHT_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    SUPPORTS_FIELD_NUMBER: _ClassVar[int]
    EXPLANATION_FIELD_NUMBER: _ClassVar[int]
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    block_id: str
    kind: str
    title: str
    text: str
    score: float
    service: str
    source: Source
    speaker: str
    conversation_id: str
    event_time: _timestamp_pb2.Timestamp
    recorded_at: _timestamp_pb2.Timestamp
    trust: float
    confidence: float
    tags: _containers.RepeatedScalarFieldContainer[str]
    summarised: bool
    expand: str
    redacted: bool
    frozen: bool
    superseded_by: str
    highlight: str
    path: _containers.RepeatedCompositeFieldContainer[PathStep]
    supports: _containers.RepeatedScalarFieldContainer[str]
    explanation: CardExplanation
    tokens: int
    def __init__(self, block_id: _Optional[str] = ..., kind: _Optional[str] = ..., title: _Optional[str] = ..., text: _Optional[str] = ..., score: _Optional[float] = ..., service: _Optional[str] = ..., source: _Optional[_Union[Source, _Mapping]] = ..., speaker: _Optional[str] = ..., conversation_id: _Optional[str] = ..., event_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., recorded_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., trust: _Optional[float] = ..., confidence: _Optional[float] = ..., tags: _Optional[_Iterable[str]] = ..., summarised: _Optional[bool] = ..., expand: _Optional[str] = ..., redacted: _Optional[bool] = ..., frozen: _Optional[bool] = ..., superseded_by: _Optional[str] = ..., highlight: _Optional[str] = ..., path: _Optional[_Iterable[_Union[PathStep, _Mapping]]] = ..., supports: _Optional[_Iterable[str]] = ..., explanation: _Optional[_Union[CardExplanation, _Mapping]] = ..., tokens: _Optional[int] = ...) -> None: ...

class TraceSpan(_message.Message):
    __slots__ = ("span_id", "parent_id", "name", "service", "start_ns", "took_ms", "status", "attributes")
    class AttributesEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    SPAN_ID_FIELD_NUMBER: _ClassVar[int]
    PARENT_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    SERVICE_FIELD_NUMBER: _ClassVar[int]
    START_NS_FIELD_NUMBER: _ClassVar[int]
    TOOK_MS_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    ATTRIBUTES_FIELD_NUMBER: _ClassVar[int]
    span_id: str
    parent_id: str
    name: str
    service: str
    start_ns: str
    took_ms: float
    status: str
    attributes: _containers.ScalarMap[str, str]
    def __init__(self, span_id: _Optional[str] = ..., parent_id: _Optional[str] = ..., name: _Optional[str] = ..., service: _Optional[str] = ..., start_ns: _Optional[str] = ..., took_ms: _Optional[float] = ..., status: _Optional[str] = ..., attributes: _Optional[_Mapping[str, str]] = ...) -> None: ...
