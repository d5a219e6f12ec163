import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class GetStatusRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class PartStatus(_message.Message):
    __slots__ = ("part", "state", "details")
    class DetailsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    PART_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    DETAILS_FIELD_NUMBER: _ClassVar[int]
    part: str
    state: str
    details: _containers.ScalarMap[str, str]
    def __init__(self, part: _Optional[str] = ..., state: _Optional[str] = ..., details: _Optional[_Mapping[str, str]] = ...) -> None: ...

class GetStatusResponse(_message.Message):
    __slots__ = ("parts", "version")
    PARTS_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    parts: _containers.RepeatedCompositeFieldContainer[PartStatus]
    version: str
    def __init__(self, parts: _Optional[_Iterable[_Union[PartStatus, _Mapping]]] = ..., version: _Optional[str] = ...) -> None: ...

class GetPrefetchRequest(_message.Message):
    __slots__ = ("user_id",)
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    def __init__(self, user_id: _Optional[str] = ...) -> None: ...

class PreparedAnswer(_message.Message):
    __slots__ = ("query", "confidence", "expires_at", "cards")
    QUERY_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    CARDS_FIELD_NUMBER: _ClassVar[int]
    query: str
    confidence: float
    expires_at: _timestamp_pb2.Timestamp
    cards: int
    def __init__(self, query: _Optional[str] = ..., confidence: _Optional[float] = ..., expires_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., cards: _Optional[int] = ...) -> None: ...

class GetPrefetchResponse(_message.Message):
    __slots__ = ("counts", "saved_ms", "prepared")
    class CountsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    COUNTS_FIELD_NUMBER: _ClassVar[int]
    SAVED_MS_FIELD_NUMBER: _ClassVar[int]
    PREPARED_FIELD_NUMBER: _ClassVar[int]
    counts: _containers.ScalarMap[str, int]
    saved_ms: float
    prepared: _containers.RepeatedCompositeFieldContainer[PreparedAnswer]
    def __init__(self, counts: _Optional[_Mapping[str, int]] = ..., saved_ms: _Optional[float] = ..., prepared: _Optional[_Iterable[_Union[PreparedAnswer, _Mapping]]] = ...) -> None: ...

class GetProfileRequest(_message.Message):
    __slots__ = ("user_id", "whole")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    WHOLE_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    whole: bool
    def __init__(self, user_id: _Optional[str] = ..., whole: _Optional[bool] = ...) -> None: ...

class ProfileQuestion(_message.Message):
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

class Weighted(_message.Message):
    __slots__ = ("name", "weight")
    NAME_FIELD_NUMBER: _ClassVar[int]
    WEIGHT_FIELD_NUMBER: _ClassVar[int]
    name: str
    weight: float
    def __init__(self, name: _Optional[str] = ..., weight: _Optional[float] = ...) -> None: ...

class GetProfileResponse(_message.Message):
    __slots__ = ("sample_count", "intents", "facets", "interests", "questions", "lasting_interests")
    SAMPLE_COUNT_FIELD_NUMBER: _ClassVar[int]
    INTENTS_FIELD_NUMBER: _ClassVar[int]
    FACETS_FIELD_NUMBER: _ClassVar[int]
    INTERESTS_FIELD_NUMBER: _ClassVar[int]
    QUESTIONS_FIELD_NUMBER: _ClassVar[int]
    LASTING_INTERESTS_FIELD_NUMBER: _ClassVar[int]
    sample_count: int
    intents: _containers.RepeatedCompositeFieldContainer[Weighted]
    facets: _containers.RepeatedCompositeFieldContainer[Weighted]
    interests: _containers.RepeatedCompositeFieldContainer[Weighted]
    questions: _containers.RepeatedCompositeFieldContainer[ProfileQuestion]
    lasting_interests: _containers.RepeatedCompositeFieldContainer[Weighted]
    def __init__(self, sample_count: _Optional[int] = ..., intents: _Optional[_Iterable[_Union[Weighted, _Mapping]]] = ..., facets: _Optional[_Iterable[_Union[Weighted, _Mapping]]] = ..., interests: _Optional[_Iterable[_Union[Weighted, _Mapping]]] = ..., questions: _Optional[_Iterable[_Union[ProfileQuestion, _Mapping]]] = ..., lasting_interests: _Optional[_Iterable[_Union[Weighted, _Mapping]]] = ...) -> None: ...

class RestoreProfileRequest(_message.Message):
    __slots__ = ("user_id", "questions", "lasting_interests")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    QUESTIONS_FIELD_NUMBER: _ClassVar[int]
    LASTING_INTERESTS_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    questions: _containers.RepeatedCompositeFieldContainer[ProfileQuestion]
    lasting_interests: _containers.RepeatedCompositeFieldContainer[Weighted]
    def __init__(self, user_id: _Optional[str] = ..., questions: _Optional[_Iterable[_Union[ProfileQuestion, _Mapping]]] = ..., lasting_interests: _Optional[_Iterable[_Union[Weighted, _Mapping]]] = ...) -> None: ...

class RestoreProfileResponse(_message.Message):
    __slots__ = ("questions", "interests")
    QUESTIONS_FIELD_NUMBER: _ClassVar[int]
    INTERESTS_FIELD_NUMBER: _ClassVar[int]
    questions: int
    interests: int
    def __init__(self, questions: _Optional[int] = ..., interests: _Optional[int] = ...) -> None: ...

class EraseProfileRequest(_message.Message):
    __slots__ = ("user_id",)
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    def __init__(self, user_id: _Optional[str] = ...) -> None: ...

class EraseProfileResponse(_message.Message):
    __slots__ = ("erased",)
    ERASED_FIELD_NUMBER: _ClassVar[int]
    erased: bool
    def __init__(self, erased: _Optional[bool] = ...) -> None: ...

class ListDeadLettersRequest(_message.Message):
    __slots__ = ("limit",)
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    limit: int
    def __init__(self, limit: _Optional[int] = ...) -> None: ...

class DeadLetter(_message.Message):
    __slots__ = ("id", "subject", "event_id", "consumer", "reason", "time", "body")
    ID_FIELD_NUMBER: _ClassVar[int]
    SUBJECT_FIELD_NUMBER: _ClassVar[int]
    EVENT_ID_FIELD_NUMBER: _ClassVar[int]
    CONSUMER_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    TIME_FIELD_NUMBER: _ClassVar[int]
    BODY_FIELD_NUMBER: _ClassVar[int]
    id: str
    subject: str
    event_id: str
    consumer: str
    reason: str
    time: _timestamp_pb2.Timestamp
    body: str
    def __init__(self, id: _Optional[str] = ..., subject: _Optional[str] = ..., event_id: _Optional[str] = ..., consumer: _Optional[str] = ..., reason: _Optional[str] = ..., time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., body: _Optional[str] = ...) -> None: ...

class ListDeadLettersResponse(_message.Message):
    __slots__ = ("dead_letters",)
    DEAD_LETTERS_FIELD_NUMBER: _ClassVar[int]
    dead_letters: _containers.RepeatedCompositeFieldContainer[DeadLetter]
    def __init__(self, dead_letters: _Optional[_Iterable[_Union[DeadLetter, _Mapping]]] = ...) -> None: ...

class ReplayDeadLetterRequest(_message.Message):
    __slots__ = ("id",)
    ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    def __init__(self, id: _Optional[str] = ...) -> None: ...

class ReplayDeadLetterResponse(_message.Message):
    __slots__ = ("replayed",)
    REPLAYED_FIELD_NUMBER: _ClassVar[int]
    replayed: int
    def __init__(self, replayed: _Optional[int] = ...) -> None: ...

class ListAuditRequest(_message.Message):
    __slots__ = ("user_id", "limit")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    limit: int
    def __init__(self, user_id: _Optional[str] = ..., limit: _Optional[int] = ...) -> None: ...

class AuditRecord(_message.Message):
    __slots__ = ("time", "block_id", "rule", "ruleset_version", "where", "recall_id", "ingest_version")
    TIME_FIELD_NUMBER: _ClassVar[int]
    BLOCK_ID_FIELD_NUMBER: _ClassVar[int]
    RULE_FIELD_NUMBER: _ClassVar[int]
    RULESET_VERSION_FIELD_NUMBER: _ClassVar[int]
    WHERE_FIELD_NUMBER: _ClassVar[int]
    RECALL_ID_FIELD_NUMBER: _ClassVar[int]
    INGEST_VERSION_FIELD_NUMBER: _ClassVar[int]
    time: _timestamp_pb2.Timestamp
    block_id: str
    rule: str
    ruleset_version: str
    where: str
    recall_id: str
    ingest_version: str
    def __init__(self, time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., block_id: _Optional[str] = ..., rule: _Optional[str] = ..., ruleset_version: _Optional[str] = ..., where: _Optional[str] = ..., recall_id: _Optional[str] = ..., ingest_version: _Optional[str] = ...) -> None: ...

class ListAuditResponse(_message.Message):
    __slots__ = ("records", "by_rule")
    class ByRuleEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    RECORDS_FIELD_NUMBER: _ClassVar[int]
    BY_RULE_FIELD_NUMBER: _ClassVar[int]
    records: _containers.RepeatedCompositeFieldContainer[AuditRecord]
    by_rule: _containers.ScalarMap[str, int]
    def __init__(self, records: _Optional[_Iterable[_Union[AuditRecord, _Mapping]]] = ..., by_rule: _Optional[_Mapping[str, int]] = ...) -> None: ...

class RequestDreamRequest(_message.Message):
    __slots__ = ("user_id",)
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    def __init__(self, user_id: _Optional[str] = ...) -> None: ...

class RequestDreamResponse(_message.Message):
    __slots__ = ("event_id",)
    EVENT_ID_FIELD_NUMBER: _ClassVar[int]
    event_id: str
    def __init__(self, event_id: _Optional[str] = ...) -> None: ...

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
