import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from memvault.recall.v1 import recall_pb2 as _recall_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class TokenVectors(_message.Message):
    __slots__ = ("values", "rows", "columns")
    VALUES_FIELD_NUMBER: _ClassVar[int]
    ROWS_FIELD_NUMBER: _ClassVar[int]
    COLUMNS_FIELD_NUMBER: _ClassVar[int]
    values: bytes
    rows: int
    columns: int
    def __init__(self, values: _Optional[bytes] = ..., rows: _Optional[int] = ..., columns: _Optional[int] = ...) -> None: ...

class PrefetchEntry(_message.Message):
    __slots__ = ("schema", "user_id", "query", "query_hash", "confidence", "made_at", "expires_at", "answer", "candidates", "query_vector", "write_version", "conditions", "ruleset_version", "conversation_id", "encoder_id", "fuel", "recall_ms", "made_for")
    SCHEMA_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    QUERY_HASH_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    MADE_AT_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    CANDIDATES_FIELD_NUMBER: _ClassVar[int]
    QUERY_VECTOR_FIELD_NUMBER: _ClassVar[int]
    WRITE_VERSION_FIELD_NUMBER: _ClassVar[int]
    CONDITIONS_FIELD_NUMBER: _ClassVar[int]
    RULESET_VERSION_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    ENCODER_ID_FIELD_NUMBER: _ClassVar[int]
    FUEL_FIELD_NUMBER: _ClassVar[int]
    RECALL_MS_FIELD_NUMBER: _ClassVar[int]
    MADE_FOR_FIELD_NUMBER: _ClassVar[int]
    schema: int
    user_id: str
    query: str
    query_hash: str
    confidence: float
    made_at: _timestamp_pb2.Timestamp
    expires_at: _timestamp_pb2.Timestamp
    answer: _recall_pb2.RecallResponse
    candidates: _containers.RepeatedCompositeFieldContainer[_recall_pb2.Candidate]
    query_vector: bytes
    write_version: int
    conditions: str
    ruleset_version: str
    conversation_id: str
    encoder_id: str
    fuel: str
    recall_ms: float
    made_for: _timestamp_pb2.Timestamp
    def __init__(self, schema: _Optional[int] = ..., user_id: _Optional[str] = ..., query: _Optional[str] = ..., query_hash: _Optional[str] = ..., confidence: _Optional[float] = ..., made_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., expires_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., answer: _Optional[_Union[_recall_pb2.RecallResponse, _Mapping]] = ..., candidates: _Optional[_Iterable[_Union[_recall_pb2.Candidate, _Mapping]]] = ..., query_vector: _Optional[bytes] = ..., write_version: _Optional[int] = ..., conditions: _Optional[str] = ..., ruleset_version: _Optional[str] = ..., conversation_id: _Optional[str] = ..., encoder_id: _Optional[str] = ..., fuel: _Optional[str] = ..., recall_ms: _Optional[float] = ..., made_for: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...
