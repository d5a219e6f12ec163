import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from memvault.slow_thinker.v1 import prefetch_pb2 as _prefetch_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class RerankDocument(_message.Message):
    __slots__ = ("id", "text", "signals", "tokens")
    class SignalsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: float
        def __init__(self, key: _Optional[str] = ..., value: _Optional[float] = ...) -> None: ...
    ID_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    SIGNALS_FIELD_NUMBER: _ClassVar[int]
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    id: str
    text: str
    signals: _containers.ScalarMap[str, float]
    tokens: _containers.RepeatedCompositeFieldContainer[_prefetch_pb2.TokenVectors]
    def __init__(self, id: _Optional[str] = ..., text: _Optional[str] = ..., signals: _Optional[_Mapping[str, float]] = ..., tokens: _Optional[_Iterable[_Union[_prefetch_pb2.TokenVectors, _Mapping]]] = ...) -> None: ...

class RerankRequest(_message.Message):
    __slots__ = ("query", "documents", "query_tokens", "encoder_id")
    QUERY_FIELD_NUMBER: _ClassVar[int]
    DOCUMENTS_FIELD_NUMBER: _ClassVar[int]
    QUERY_TOKENS_FIELD_NUMBER: _ClassVar[int]
    ENCODER_ID_FIELD_NUMBER: _ClassVar[int]
    query: str
    documents: _containers.RepeatedCompositeFieldContainer[RerankDocument]
    query_tokens: _prefetch_pb2.TokenVectors
    encoder_id: str
    def __init__(self, query: _Optional[str] = ..., documents: _Optional[_Iterable[_Union[RerankDocument, _Mapping]]] = ..., query_tokens: _Optional[_Union[_prefetch_pb2.TokenVectors, _Mapping]] = ..., encoder_id: _Optional[str] = ...) -> None: ...

class RerankScore(_message.Message):
    __slots__ = ("id", "score", "relevance")
    ID_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    RELEVANCE_FIELD_NUMBER: _ClassVar[int]
    id: str
    score: float
    relevance: float
    def __init__(self, id: _Optional[str] = ..., score: _Optional[float] = ..., relevance: _Optional[float] = ...) -> None: ...

class RerankResponse(_message.Message):
    __slots__ = ("status", "scores", "model", "model_ms", "breaker", "detail")
    STATUS_FIELD_NUMBER: _ClassVar[int]
    SCORES_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    MODEL_MS_FIELD_NUMBER: _ClassVar[int]
    BREAKER_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    status: str
    scores: _containers.RepeatedCompositeFieldContainer[RerankScore]
    model: str
    model_ms: float
    breaker: str
    detail: str
    def __init__(self, status: _Optional[str] = ..., scores: _Optional[_Iterable[_Union[RerankScore, _Mapping]]] = ..., model: _Optional[str] = ..., model_ms: _Optional[float] = ..., breaker: _Optional[str] = ..., detail: _Optional[str] = ...) -> None: ...

class GetBreakerRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class GetBreakerResponse(_message.Message):
    __slots__ = ("state", "consecutive_failures", "retry_at", "opened", "bypassed", "model", "readings", "batches")
    STATE_FIELD_NUMBER: _ClassVar[int]
    CONSECUTIVE_FAILURES_FIELD_NUMBER: _ClassVar[int]
    RETRY_AT_FIELD_NUMBER: _ClassVar[int]
    OPENED_FIELD_NUMBER: _ClassVar[int]
    BYPASSED_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    READINGS_FIELD_NUMBER: _ClassVar[int]
    BATCHES_FIELD_NUMBER: _ClassVar[int]
    state: str
    consecutive_failures: int
    retry_at: _timestamp_pb2.Timestamp
    opened: int
    bypassed: int
    model: str
    readings: int
    batches: int
    def __init__(self, state: _Optional[str] = ..., consecutive_failures: _Optional[int] = ..., retry_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., opened: _Optional[int] = ..., bypassed: _Optional[int] = ..., model: _Optional[str] = ..., readings: _Optional[int] = ..., batches: _Optional[int] = ...) -> None: ...
