import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from memvault.recall.v1 import types_pb2 as _types_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class UtteranceAppended(_message.Message):
    __slots__ = ("user_id", "conversation_id", "speaker", "text", "event_time")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    SPEAKER_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    EVENT_TIME_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    conversation_id: str
    speaker: str
    text: str
    event_time: _timestamp_pb2.Timestamp
    def __init__(self, user_id: _Optional[str] = ..., conversation_id: _Optional[str] = ..., speaker: _Optional[str] = ..., text: _Optional[str] = ..., event_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class BlockUpserted(_message.Message):
    __slots__ = ("block", "on_unsafe", "restore")
    BLOCK_FIELD_NUMBER: _ClassVar[int]
    ON_UNSAFE_FIELD_NUMBER: _ClassVar[int]
    RESTORE_FIELD_NUMBER: _ClassVar[int]
    block: _types_pb2.Block
    on_unsafe: str
    restore: bool
    def __init__(self, block: _Optional[_Union[_types_pb2.Block, _Mapping]] = ..., on_unsafe: _Optional[str] = ..., restore: _Optional[bool] = ...) -> None: ...

class BlockIndexed(_message.Message):
    __slots__ = ("block", "upsert_event_id", "write_version", "changed")
    BLOCK_FIELD_NUMBER: _ClassVar[int]
    UPSERT_EVENT_ID_FIELD_NUMBER: _ClassVar[int]
    WRITE_VERSION_FIELD_NUMBER: _ClassVar[int]
    CHANGED_FIELD_NUMBER: _ClassVar[int]
    block: _types_pb2.Block
    upsert_event_id: str
    write_version: int
    changed: bool
    def __init__(self, block: _Optional[_Union[_types_pb2.Block, _Mapping]] = ..., upsert_event_id: _Optional[str] = ..., write_version: _Optional[int] = ..., changed: _Optional[bool] = ...) -> None: ...

class BlockRefused(_message.Message):
    __slots__ = ("user_id", "block_id", "upsert_event_id", "reason", "detail")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    BLOCK_ID_FIELD_NUMBER: _ClassVar[int]
    UPSERT_EVENT_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    block_id: str
    upsert_event_id: str
    reason: str
    detail: str
    def __init__(self, user_id: _Optional[str] = ..., block_id: _Optional[str] = ..., upsert_event_id: _Optional[str] = ..., reason: _Optional[str] = ..., detail: _Optional[str] = ...) -> None: ...

class BlockAccessed(_message.Message):
    __slots__ = ("user_id", "block_ids", "recall_id", "accessed_at", "kind", "topics")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    BLOCK_IDS_FIELD_NUMBER: _ClassVar[int]
    RECALL_ID_FIELD_NUMBER: _ClassVar[int]
    ACCESSED_AT_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    TOPICS_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    block_ids: _containers.RepeatedScalarFieldContainer[str]
    recall_id: str
    accessed_at: _timestamp_pb2.Timestamp
    kind: str
    topics: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, user_id: _Optional[str] = ..., block_ids: _Optional[_Iterable[str]] = ..., recall_id: _Optional[str] = ..., accessed_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., kind: _Optional[str] = ..., topics: _Optional[_Iterable[str]] = ...) -> None: ...

class BlockForgotten(_message.Message):
    __slots__ = ("user_id", "block_ids", "whole_user", "tags")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    BLOCK_IDS_FIELD_NUMBER: _ClassVar[int]
    WHOLE_USER_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    block_ids: _containers.RepeatedScalarFieldContainer[str]
    whole_user: bool
    tags: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, user_id: _Optional[str] = ..., block_ids: _Optional[_Iterable[str]] = ..., whole_user: _Optional[bool] = ..., tags: _Optional[_Iterable[str]] = ...) -> None: ...

class BlockAnnotation(_message.Message):
    __slots__ = ("block_id", "centrality", "quarantine_set", "quarantine_unset", "superseded_by", "summary", "screened_version")
    BLOCK_ID_FIELD_NUMBER: _ClassVar[int]
    CENTRALITY_FIELD_NUMBER: _ClassVar[int]
    QUARANTINE_SET_FIELD_NUMBER: _ClassVar[int]
    QUARANTINE_UNSET_FIELD_NUMBER: _ClassVar[int]
    SUPERSEDED_BY_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    SCREENED_VERSION_FIELD_NUMBER: _ClassVar[int]
    block_id: str
    centrality: float
    quarantine_set: _containers.RepeatedScalarFieldContainer[str]
    quarantine_unset: _containers.RepeatedScalarFieldContainer[str]
    superseded_by: str
    summary: str
    screened_version: str
    def __init__(self, block_id: _Optional[str] = ..., centrality: _Optional[float] = ..., quarantine_set: _Optional[_Iterable[str]] = ..., quarantine_unset: _Optional[_Iterable[str]] = ..., superseded_by: _Optional[str] = ..., summary: _Optional[str] = ..., screened_version: _Optional[str] = ...) -> None: ...

class BlockAnnotated(_message.Message):
    __slots__ = ("user_id", "annotations")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    ANNOTATIONS_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    annotations: _containers.RepeatedCompositeFieldContainer[BlockAnnotation]
    def __init__(self, user_id: _Optional[str] = ..., annotations: _Optional[_Iterable[_Union[BlockAnnotation, _Mapping]]] = ...) -> None: ...

class TripleUpserted(_message.Message):
    __slots__ = ("user_id", "triple", "block_ids", "valid_from")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    TRIPLE_FIELD_NUMBER: _ClassVar[int]
    BLOCK_IDS_FIELD_NUMBER: _ClassVar[int]
    VALID_FROM_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    triple: _types_pb2.Triple
    block_ids: _containers.RepeatedScalarFieldContainer[str]
    valid_from: _timestamp_pb2.Timestamp
    def __init__(self, user_id: _Optional[str] = ..., triple: _Optional[_Union[_types_pb2.Triple, _Mapping]] = ..., block_ids: _Optional[_Iterable[str]] = ..., valid_from: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class FeedbackRecorded(_message.Message):
    __slots__ = ("user_id", "block_id", "verdict", "recall_id")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    BLOCK_ID_FIELD_NUMBER: _ClassVar[int]
    VERDICT_FIELD_NUMBER: _ClassVar[int]
    RECALL_ID_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    block_id: str
    verdict: str
    recall_id: str
    def __init__(self, user_id: _Optional[str] = ..., block_id: _Optional[str] = ..., verdict: _Optional[str] = ..., recall_id: _Optional[str] = ...) -> None: ...

class IntentClassified(_message.Message):
    __slots__ = ("user_id", "intent", "facet", "confidence", "asked_at", "recall_id")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    INTENT_FIELD_NUMBER: _ClassVar[int]
    FACET_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    ASKED_AT_FIELD_NUMBER: _ClassVar[int]
    RECALL_ID_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    intent: str
    facet: str
    confidence: float
    asked_at: _timestamp_pb2.Timestamp
    recall_id: str
    def __init__(self, user_id: _Optional[str] = ..., intent: _Optional[str] = ..., facet: _Optional[str] = ..., confidence: _Optional[float] = ..., asked_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., recall_id: _Optional[str] = ...) -> None: ...

class PrefetchStored(_message.Message):
    __slots__ = ("user_id", "conversation_id", "query_hash", "refused_by", "utterance_event_id", "questions", "left_out")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    QUERY_HASH_FIELD_NUMBER: _ClassVar[int]
    REFUSED_BY_FIELD_NUMBER: _ClassVar[int]
    UTTERANCE_EVENT_ID_FIELD_NUMBER: _ClassVar[int]
    QUESTIONS_FIELD_NUMBER: _ClassVar[int]
    LEFT_OUT_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    conversation_id: str
    query_hash: str
    refused_by: str
    utterance_event_id: str
    questions: int
    left_out: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, user_id: _Optional[str] = ..., conversation_id: _Optional[str] = ..., query_hash: _Optional[str] = ..., refused_by: _Optional[str] = ..., utterance_event_id: _Optional[str] = ..., questions: _Optional[int] = ..., left_out: _Optional[_Iterable[str]] = ...) -> None: ...

class InjectionRedacted(_message.Message):
    __slots__ = ("user_id", "block_id", "rule", "ruleset_version", "where", "time", "recall_id", "ingest_version")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    BLOCK_ID_FIELD_NUMBER: _ClassVar[int]
    RULE_FIELD_NUMBER: _ClassVar[int]
    RULESET_VERSION_FIELD_NUMBER: _ClassVar[int]
    WHERE_FIELD_NUMBER: _ClassVar[int]
    TIME_FIELD_NUMBER: _ClassVar[int]
    RECALL_ID_FIELD_NUMBER: _ClassVar[int]
    INGEST_VERSION_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    block_id: str
    rule: str
    ruleset_version: str
    where: str
    time: _timestamp_pb2.Timestamp
    recall_id: str
    ingest_version: str
    def __init__(self, user_id: _Optional[str] = ..., block_id: _Optional[str] = ..., rule: _Optional[str] = ..., ruleset_version: _Optional[str] = ..., where: _Optional[str] = ..., time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., recall_id: _Optional[str] = ..., ingest_version: _Optional[str] = ...) -> None: ...

class DreamRequested(_message.Message):
    __slots__ = ("run_id", "user_id", "now")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    NOW_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    user_id: str
    now: _timestamp_pb2.Timestamp
    def __init__(self, run_id: _Optional[str] = ..., user_id: _Optional[str] = ..., now: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class DreamFinished(_message.Message):
    __slots__ = ("run_id", "owner", "changes", "took_ms")
    class ChangesEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    OWNER_FIELD_NUMBER: _ClassVar[int]
    CHANGES_FIELD_NUMBER: _ClassVar[int]
    TOOK_MS_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    owner: str
    changes: _containers.ScalarMap[str, int]
    took_ms: float
    def __init__(self, run_id: _Optional[str] = ..., owner: _Optional[str] = ..., changes: _Optional[_Mapping[str, int]] = ..., took_ms: _Optional[float] = ...) -> None: ...
