from memvault.recall.v1 import types_pb2 as _types_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class WriteOptions(_message.Message):
    __slots__ = ("wait", "on_unsafe", "wait_ms", "restore")
    WAIT_FIELD_NUMBER: _ClassVar[int]
    ON_UNSAFE_FIELD_NUMBER: _ClassVar[int]
    WAIT_MS_FIELD_NUMBER: _ClassVar[int]
    RESTORE_FIELD_NUMBER: _ClassVar[int]
    wait: str
    on_unsafe: str
    wait_ms: int
    restore: bool
    def __init__(self, wait: _Optional[str] = ..., on_unsafe: _Optional[str] = ..., wait_ms: _Optional[int] = ..., restore: _Optional[bool] = ...) -> None: ...

class WriteOutcome(_message.Message):
    __slots__ = ("block_id", "status", "reason", "detail")
    BLOCK_ID_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    block_id: str
    status: str
    reason: str
    detail: str
    def __init__(self, block_id: _Optional[str] = ..., status: _Optional[str] = ..., reason: _Optional[str] = ..., detail: _Optional[str] = ...) -> None: ...

class WriteBlockRequest(_message.Message):
    __slots__ = ("block", "options")
    BLOCK_FIELD_NUMBER: _ClassVar[int]
    OPTIONS_FIELD_NUMBER: _ClassVar[int]
    block: _types_pb2.Block
    options: WriteOptions
    def __init__(self, block: _Optional[_Union[_types_pb2.Block, _Mapping]] = ..., options: _Optional[_Union[WriteOptions, _Mapping]] = ...) -> None: ...

class WriteBlockResponse(_message.Message):
    __slots__ = ("outcome",)
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    outcome: WriteOutcome
    def __init__(self, outcome: _Optional[_Union[WriteOutcome, _Mapping]] = ...) -> None: ...

class WriteBlocksRequest(_message.Message):
    __slots__ = ("user_id", "blocks", "options")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    BLOCKS_FIELD_NUMBER: _ClassVar[int]
    OPTIONS_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    blocks: _containers.RepeatedCompositeFieldContainer[_types_pb2.Block]
    options: WriteOptions
    def __init__(self, user_id: _Optional[str] = ..., blocks: _Optional[_Iterable[_Union[_types_pb2.Block, _Mapping]]] = ..., options: _Optional[_Union[WriteOptions, _Mapping]] = ...) -> None: ...

class WriteBlocksResponse(_message.Message):
    __slots__ = ("outcomes",)
    OUTCOMES_FIELD_NUMBER: _ClassVar[int]
    outcomes: _containers.RepeatedCompositeFieldContainer[WriteOutcome]
    def __init__(self, outcomes: _Optional[_Iterable[_Union[WriteOutcome, _Mapping]]] = ...) -> None: ...

class GetBlockRequest(_message.Message):
    __slots__ = ("user_id", "block_id")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    BLOCK_ID_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    block_id: str
    def __init__(self, user_id: _Optional[str] = ..., block_id: _Optional[str] = ...) -> None: ...

class GetBlockResponse(_message.Message):
    __slots__ = ("block", "redacted")
    BLOCK_FIELD_NUMBER: _ClassVar[int]
    REDACTED_FIELD_NUMBER: _ClassVar[int]
    block: _types_pb2.Block
    redacted: bool
    def __init__(self, block: _Optional[_Union[_types_pb2.Block, _Mapping]] = ..., redacted: _Optional[bool] = ...) -> None: ...

class ExportBlocksRequest(_message.Message):
    __slots__ = ("user_id", "after", "limit")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    AFTER_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    after: str
    limit: int
    def __init__(self, user_id: _Optional[str] = ..., after: _Optional[str] = ..., limit: _Optional[int] = ...) -> None: ...

class ExportBlocksResponse(_message.Message):
    __slots__ = ("block",)
    BLOCK_FIELD_NUMBER: _ClassVar[int]
    block: _types_pb2.Block
    def __init__(self, block: _Optional[_Union[_types_pb2.Block, _Mapping]] = ...) -> None: ...

class ForgetRequest(_message.Message):
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

class ForgetResponse(_message.Message):
    __slots__ = ("block_ids", "blocks", "degraded")
    BLOCK_IDS_FIELD_NUMBER: _ClassVar[int]
    BLOCKS_FIELD_NUMBER: _ClassVar[int]
    DEGRADED_FIELD_NUMBER: _ClassVar[int]
    block_ids: _containers.RepeatedScalarFieldContainer[str]
    blocks: int
    degraded: _containers.RepeatedCompositeFieldContainer[_types_pb2.Degradation]
    def __init__(self, block_ids: _Optional[_Iterable[str]] = ..., blocks: _Optional[int] = ..., degraded: _Optional[_Iterable[_Union[_types_pb2.Degradation, _Mapping]]] = ...) -> None: ...

class RecordFeedbackRequest(_message.Message):
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

class RecordFeedbackResponse(_message.Message):
    __slots__ = ("event_id",)
    EVENT_ID_FIELD_NUMBER: _ClassVar[int]
    event_id: str
    def __init__(self, event_id: _Optional[str] = ...) -> None: ...

class AppendUtteranceRequest(_message.Message):
    __slots__ = ("user_id", "conversation_id", "utterance", "event_id")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    UTTERANCE_FIELD_NUMBER: _ClassVar[int]
    EVENT_ID_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    conversation_id: str
    utterance: _types_pb2.Utterance
    event_id: str
    def __init__(self, user_id: _Optional[str] = ..., conversation_id: _Optional[str] = ..., utterance: _Optional[_Union[_types_pb2.Utterance, _Mapping]] = ..., event_id: _Optional[str] = ...) -> None: ...

class AppendUtteranceResponse(_message.Message):
    __slots__ = ("event_id",)
    EVENT_ID_FIELD_NUMBER: _ClassVar[int]
    event_id: str
    def __init__(self, event_id: _Optional[str] = ...) -> None: ...
