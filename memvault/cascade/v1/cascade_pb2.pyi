import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from memvault.recall.v1 import recall_pb2 as _recall_pb2
from memvault.recall.v1 import types_pb2 as _types_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Seed(_message.Message):
    __slots__ = ("block_id", "score")
    BLOCK_ID_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    block_id: str
    score: float
    def __init__(self, block_id: _Optional[str] = ..., score: _Optional[float] = ...) -> None: ...

class WalkRequest(_message.Message):
    __slots__ = ("user_id", "query", "query_vector", "seeds", "retrieval_mode", "as_of", "now", "profile", "limit")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    QUERY_VECTOR_FIELD_NUMBER: _ClassVar[int]
    SEEDS_FIELD_NUMBER: _ClassVar[int]
    RETRIEVAL_MODE_FIELD_NUMBER: _ClassVar[int]
    AS_OF_FIELD_NUMBER: _ClassVar[int]
    NOW_FIELD_NUMBER: _ClassVar[int]
    PROFILE_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    query: str
    query_vector: bytes
    seeds: _containers.RepeatedCompositeFieldContainer[Seed]
    retrieval_mode: str
    as_of: _timestamp_pb2.Timestamp
    now: _timestamp_pb2.Timestamp
    profile: str
    limit: int
    def __init__(self, user_id: _Optional[str] = ..., query: _Optional[str] = ..., query_vector: _Optional[bytes] = ..., seeds: _Optional[_Iterable[_Union[Seed, _Mapping]]] = ..., retrieval_mode: _Optional[str] = ..., as_of: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., now: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., profile: _Optional[str] = ..., limit: _Optional[int] = ...) -> None: ...

class WalkedTriple(_message.Message):
    __slots__ = ("triple_id", "triple", "weight", "block_ids", "path", "valid_from", "valid_to")
    TRIPLE_ID_FIELD_NUMBER: _ClassVar[int]
    TRIPLE_FIELD_NUMBER: _ClassVar[int]
    WEIGHT_FIELD_NUMBER: _ClassVar[int]
    BLOCK_IDS_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    VALID_FROM_FIELD_NUMBER: _ClassVar[int]
    VALID_TO_FIELD_NUMBER: _ClassVar[int]
    triple_id: str
    triple: _types_pb2.Triple
    weight: float
    block_ids: _containers.RepeatedScalarFieldContainer[str]
    path: _containers.RepeatedCompositeFieldContainer[_types_pb2.PathStep]
    valid_from: _timestamp_pb2.Timestamp
    valid_to: _timestamp_pb2.Timestamp
    def __init__(self, triple_id: _Optional[str] = ..., triple: _Optional[_Union[_types_pb2.Triple, _Mapping]] = ..., weight: _Optional[float] = ..., block_ids: _Optional[_Iterable[str]] = ..., path: _Optional[_Iterable[_Union[_types_pb2.PathStep, _Mapping]]] = ..., valid_from: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., valid_to: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class WalkedBlock(_message.Message):
    __slots__ = ("block_id", "weight", "path")
    BLOCK_ID_FIELD_NUMBER: _ClassVar[int]
    WEIGHT_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    block_id: str
    weight: float
    path: _containers.RepeatedCompositeFieldContainer[_types_pb2.PathStep]
    def __init__(self, block_id: _Optional[str] = ..., weight: _Optional[float] = ..., path: _Optional[_Iterable[_Union[_types_pb2.PathStep, _Mapping]]] = ...) -> None: ...

class WalkedCommunity(_message.Message):
    __slots__ = ("community_id", "members", "similarity", "summary", "block_ids", "summary_kind")
    COMMUNITY_ID_FIELD_NUMBER: _ClassVar[int]
    MEMBERS_FIELD_NUMBER: _ClassVar[int]
    SIMILARITY_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    BLOCK_IDS_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_KIND_FIELD_NUMBER: _ClassVar[int]
    community_id: str
    members: _containers.RepeatedScalarFieldContainer[str]
    similarity: float
    summary: str
    block_ids: _containers.RepeatedScalarFieldContainer[str]
    summary_kind: str
    def __init__(self, community_id: _Optional[str] = ..., members: _Optional[_Iterable[str]] = ..., similarity: _Optional[float] = ..., summary: _Optional[str] = ..., block_ids: _Optional[_Iterable[str]] = ..., summary_kind: _Optional[str] = ...) -> None: ...

class WalkResponse(_message.Message):
    __slots__ = ("triples", "blocks", "communities", "entities", "degraded", "times", "graph_version")
    TRIPLES_FIELD_NUMBER: _ClassVar[int]
    BLOCKS_FIELD_NUMBER: _ClassVar[int]
    COMMUNITIES_FIELD_NUMBER: _ClassVar[int]
    ENTITIES_FIELD_NUMBER: _ClassVar[int]
    DEGRADED_FIELD_NUMBER: _ClassVar[int]
    TIMES_FIELD_NUMBER: _ClassVar[int]
    GRAPH_VERSION_FIELD_NUMBER: _ClassVar[int]
    triples: _containers.RepeatedCompositeFieldContainer[WalkedTriple]
    blocks: _containers.RepeatedCompositeFieldContainer[WalkedBlock]
    communities: _containers.RepeatedCompositeFieldContainer[WalkedCommunity]
    entities: _containers.RepeatedScalarFieldContainer[str]
    degraded: _containers.RepeatedCompositeFieldContainer[_types_pb2.Degradation]
    times: _containers.RepeatedCompositeFieldContainer[_recall_pb2.HopTime]
    graph_version: int
    def __init__(self, triples: _Optional[_Iterable[_Union[WalkedTriple, _Mapping]]] = ..., blocks: _Optional[_Iterable[_Union[WalkedBlock, _Mapping]]] = ..., communities: _Optional[_Iterable[_Union[WalkedCommunity, _Mapping]]] = ..., entities: _Optional[_Iterable[str]] = ..., degraded: _Optional[_Iterable[_Union[_types_pb2.Degradation, _Mapping]]] = ..., times: _Optional[_Iterable[_Union[_recall_pb2.HopTime, _Mapping]]] = ..., graph_version: _Optional[int] = ...) -> None: ...

class LinkEntitiesRequest(_message.Message):
    __slots__ = ("user_id", "text", "neighbours")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    NEIGHBOURS_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    text: str
    neighbours: int
    def __init__(self, user_id: _Optional[str] = ..., text: _Optional[str] = ..., neighbours: _Optional[int] = ...) -> None: ...

class LinkedEntity(_message.Message):
    __slots__ = ("name", "confidence", "specificity", "neighbours")
    NAME_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    SPECIFICITY_FIELD_NUMBER: _ClassVar[int]
    NEIGHBOURS_FIELD_NUMBER: _ClassVar[int]
    name: str
    confidence: float
    specificity: float
    neighbours: _containers.RepeatedCompositeFieldContainer[_types_pb2.PathStep]
    def __init__(self, name: _Optional[str] = ..., confidence: _Optional[float] = ..., specificity: _Optional[float] = ..., neighbours: _Optional[_Iterable[_Union[_types_pb2.PathStep, _Mapping]]] = ...) -> None: ...

class LinkEntitiesResponse(_message.Message):
    __slots__ = ("entities",)
    ENTITIES_FIELD_NUMBER: _ClassVar[int]
    entities: _containers.RepeatedCompositeFieldContainer[LinkedEntity]
    def __init__(self, entities: _Optional[_Iterable[_Union[LinkedEntity, _Mapping]]] = ...) -> None: ...

class ListTriplesRequest(_message.Message):
    __slots__ = ("user_id",)
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    def __init__(self, user_id: _Optional[str] = ...) -> None: ...

class ListTriplesResponse(_message.Message):
    __slots__ = ("triples",)
    TRIPLES_FIELD_NUMBER: _ClassVar[int]
    triples: _containers.RepeatedCompositeFieldContainer[WalkedTriple]
    def __init__(self, triples: _Optional[_Iterable[_Union[WalkedTriple, _Mapping]]] = ...) -> None: ...

class ForgetGraphRequest(_message.Message):
    __slots__ = ("user_id", "block_ids")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    BLOCK_IDS_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    block_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, user_id: _Optional[str] = ..., block_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class ForgetGraphResponse(_message.Message):
    __slots__ = ("triples",)
    TRIPLES_FIELD_NUMBER: _ClassVar[int]
    triples: int
    def __init__(self, triples: _Optional[int] = ...) -> None: ...

class GetGraphRequest(_message.Message):
    __slots__ = ("user_id",)
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    def __init__(self, user_id: _Optional[str] = ...) -> None: ...

class GetGraphResponse(_message.Message):
    __slots__ = ("entities", "triples", "communities", "graph_version", "community_version")
    ENTITIES_FIELD_NUMBER: _ClassVar[int]
    TRIPLES_FIELD_NUMBER: _ClassVar[int]
    COMMUNITIES_FIELD_NUMBER: _ClassVar[int]
    GRAPH_VERSION_FIELD_NUMBER: _ClassVar[int]
    COMMUNITY_VERSION_FIELD_NUMBER: _ClassVar[int]
    entities: int
    triples: int
    communities: int
    graph_version: int
    community_version: int
    def __init__(self, entities: _Optional[int] = ..., triples: _Optional[int] = ..., communities: _Optional[int] = ..., graph_version: _Optional[int] = ..., community_version: _Optional[int] = ...) -> None: ...
