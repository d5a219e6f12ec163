from memvault.slow_thinker.v1 import prefetch_pb2 as _prefetch_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class EmbedRequest(_message.Message):
    __slots__ = ("texts", "kind", "token_vectors", "soon")
    TEXTS_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    TOKEN_VECTORS_FIELD_NUMBER: _ClassVar[int]
    SOON_FIELD_NUMBER: _ClassVar[int]
    texts: _containers.RepeatedScalarFieldContainer[str]
    kind: str
    token_vectors: bool
    soon: bool
    def __init__(self, texts: _Optional[_Iterable[str]] = ..., kind: _Optional[str] = ..., token_vectors: _Optional[bool] = ..., soon: _Optional[bool] = ...) -> None: ...

class Embedding(_message.Message):
    __slots__ = ("vector", "tokens")
    VECTOR_FIELD_NUMBER: _ClassVar[int]
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    vector: bytes
    tokens: _prefetch_pb2.TokenVectors
    def __init__(self, vector: _Optional[bytes] = ..., tokens: _Optional[_Union[_prefetch_pb2.TokenVectors, _Mapping]] = ...) -> None: ...

class EmbedResponse(_message.Message):
    __slots__ = ("embeddings", "encoder_id")
    EMBEDDINGS_FIELD_NUMBER: _ClassVar[int]
    ENCODER_ID_FIELD_NUMBER: _ClassVar[int]
    embeddings: _containers.RepeatedCompositeFieldContainer[Embedding]
    encoder_id: str
    def __init__(self, embeddings: _Optional[_Iterable[_Union[Embedding, _Mapping]]] = ..., encoder_id: _Optional[str] = ...) -> None: ...

class DescribeRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class DescribeResponse(_message.Message):
    __slots__ = ("encoder_id", "dimension", "prefix_version", "query_mean", "passage_mean")
    ENCODER_ID_FIELD_NUMBER: _ClassVar[int]
    DIMENSION_FIELD_NUMBER: _ClassVar[int]
    PREFIX_VERSION_FIELD_NUMBER: _ClassVar[int]
    QUERY_MEAN_FIELD_NUMBER: _ClassVar[int]
    PASSAGE_MEAN_FIELD_NUMBER: _ClassVar[int]
    encoder_id: str
    dimension: int
    prefix_version: str
    query_mean: bytes
    passage_mean: bytes
    def __init__(self, encoder_id: _Optional[str] = ..., dimension: _Optional[int] = ..., prefix_version: _Optional[str] = ..., query_mean: _Optional[bytes] = ..., passage_mean: _Optional[bytes] = ...) -> None: ...
