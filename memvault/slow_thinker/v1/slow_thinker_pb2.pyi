import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class GetFiguresRequest(_message.Message):
    __slots__ = ("user_id",)
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    def __init__(self, user_id: _Optional[str] = ...) -> None: ...

class PreparedQuestion(_message.Message):
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

class GetFiguresResponse(_message.Message):
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
    prepared: _containers.RepeatedCompositeFieldContainer[PreparedQuestion]
    def __init__(self, counts: _Optional[_Mapping[str, int]] = ..., saved_ms: _Optional[float] = ..., prepared: _Optional[_Iterable[_Union[PreparedQuestion, _Mapping]]] = ...) -> None: ...

class ForgetPreparedRequest(_message.Message):
    __slots__ = ("user_id", "block_ids")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    BLOCK_IDS_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    block_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, user_id: _Optional[str] = ..., block_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class ForgetPreparedResponse(_message.Message):
    __slots__ = ("entries", "utterances")
    ENTRIES_FIELD_NUMBER: _ClassVar[int]
    UTTERANCES_FIELD_NUMBER: _ClassVar[int]
    entries: int
    utterances: int
    def __init__(self, entries: _Optional[int] = ..., utterances: _Optional[int] = ...) -> None: ...
