"""A Qdrant server or cluster by its address: the same store for many processes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np
from qdrant_client import AsyncQdrantClient, models

from memvault.vectors.filters import And, AnyOf, Condition, Eq, Ids, Not, Range, TimeRange
from memvault.vectors.model import Hit, Payload, Point, RankerQuery, Record, SparseVector
from memvault.vectors.store import SpecMismatchError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from memvault.vectors.model import CollectionSpec

_FIELD_TYPES = {
    "keyword": models.PayloadSchemaType.KEYWORD,
    "integer": models.PayloadSchemaType.INTEGER,
    "float": models.PayloadSchemaType.FLOAT,
    "bool": models.PayloadSchemaType.BOOL,
    "datetime": models.PayloadSchemaType.DATETIME,
}


def connect(url: str, *, timeout_s: int) -> ServerStore:
    """Open a client for `url`; calls wait at most `timeout_s` seconds."""
    return ServerStore(AsyncQdrantClient(url=url, prefer_grpc=True, timeout=timeout_s))


class ServerStore:
    """A `VectorStore` on a Qdrant client; writes wait until they are applied."""

    folder = None

    def __init__(self, client: AsyncQdrantClient) -> None:
        """Take a connected client and close it in `close`."""
        self._client = client

    async def ensure(self, collection: CollectionSpec) -> None:
        """Create the collection and its indexes, or check the existing one."""
        if await self._client.collection_exists(collection.name):
            await self._check(collection)
            return
        await self._client.create_collection(
            collection.name,
            vectors_config={
                name: models.VectorParams(size=vector.size, distance=models.Distance.COSINE)
                for name, vector in collection.dense.items()
            },
            sparse_vectors_config={name: models.SparseVectorParams() for name in collection.sparse},
        )
        for name, kind in collection.fields.items():
            await self._client.create_payload_index(collection.name, name, _FIELD_TYPES[kind])

    async def _check(self, spec: CollectionSpec) -> None:
        params = (await self._client.get_collection(spec.name)).config.params
        vectors = cast("Mapping[str, models.VectorParams]", params.vectors or {})
        stored = {name: vector.size for name, vector in vectors.items()}
        asked = {name: vector.size for name, vector in spec.dense.items()}
        sparse = set(params.sparse_vectors or {})
        if stored != asked or sparse != set(spec.sparse):
            text = (
                f"collection {spec.name} holds vectors {stored} and {sorted(sparse)}, "
                f"but the settings ask for {asked} and {sorted(spec.sparse)}: "
                "set the former encoder again, or export, remove the collection and import"
            )
            raise SpecMismatchError(text)

    async def upsert(self, collection: str, points: Sequence[Point]) -> None:
        """Write points and wait for them."""
        if points:
            await self._client.upsert(collection, [_to_point(point) for point in points], wait=True)

    async def query_batch(self, collection: str, rankers: Sequence[RankerQuery]) -> dict[str, list[Hit]]:
        """Answer all rankers in one request."""
        asked = [ranker for ranker in rankers if ranker.can_match]
        found: dict[str, list[Hit]] = {ranker.name: [] for ranker in rankers}
        if not asked:
            return found
        requests = [_to_query(ranker) for ranker in asked]
        answers = await self._client.query_batch_points(collection, requests)
        for ranker, answer in zip(asked, answers, strict=True):
            hits = [Hit(str(point.id), point.score, point.payload or {}) for point in answer.points]
            found[ranker.name] = sorted(hits, key=lambda hit: (-hit.score, hit.id))
        return found

    async def retrieve(self, collection: str, ids: Sequence[str], *, with_vectors: bool = False) -> list[Record]:
        """Read points by id."""
        if not ids:
            return []
        answer = await self._client.retrieve(collection, list(ids), with_payload=True, with_vectors=with_vectors)
        by_id = {str(record.id): _to_record(record) for record in answer}
        return [by_id[id_] for id_ in ids if id_ in by_id]

    async def scroll(
        self,
        collection: str,
        condition: Condition | None,
        *,
        limit: int,
        offset: str | None = None,
        with_vectors: bool = False,
    ) -> tuple[list[Record], str | None]:
        """Read one page of points."""
        records, following = await self._client.scroll(
            collection,
            scroll_filter=_to_filter(condition),
            limit=limit,
            offset=offset,
            with_payload=True,
            with_vectors=with_vectors,
        )
        return [_to_record(record) for record in records], (None if following is None else str(following))

    async def count(self, collection: str, condition: Condition | None = None) -> int:
        """Count points exactly."""
        answer = await self._client.count(collection, count_filter=_to_filter(condition), exact=True)
        return answer.count

    async def commonest(self, collection: str, field: str, limit: int) -> list[tuple[str, int]]:
        """Ask the server for the field's facet."""
        answer = await self._client.facet(collection, field, limit=limit, exact=True)
        return [(str(hit.value), hit.count) for hit in answer.hits]

    async def set_payload(
        self,
        collection: str,
        ids: Sequence[str],
        payload: Payload,
        *,
        only_if: Condition | None = None,
    ) -> None:
        """Merge fields into the chosen points; the server applies updates of a shard one after another."""
        if not ids:
            return
        chosen: Condition = Ids(tuple(ids))
        if only_if is not None:
            chosen = And((chosen, only_if))
        await self._client.set_payload(collection, payload, cast("models.Filter", _to_filter(chosen)), wait=True)

    async def delete(self, collection: str, selection: Sequence[str] | Condition) -> None:
        """Remove points by id or condition."""
        if isinstance(selection, (list, tuple)):
            if selection:
                ids = models.PointIdsList(points=list(selection))
                await self._client.delete(collection, ids, wait=True)
            return
        wanted = _to_filter(cast("Condition", selection))
        if wanted is not None:
            await self._client.delete(collection, models.FilterSelector(filter=wanted), wait=True)

    async def drop(self, collection: str) -> None:
        """Remove the collection."""
        if await self._client.collection_exists(collection):
            await self._client.delete_collection(collection)

    async def flush(self) -> None:
        """Nothing to do: a write is acknowledged after the server stored it."""

    async def close(self) -> None:
        """Close the connection."""
        await self._client.close()


def _to_sparse(vector: SparseVector) -> models.SparseVector:
    return models.SparseVector(indices=vector.indices.tolist(), values=vector.values.tolist())


def _to_point(point: Point) -> models.PointStruct:
    vectors: dict[str, Any] = {name: vector.tolist() for name, vector in point.dense.items()}
    vectors |= {name: _to_sparse(v) for name, v in point.sparse.items() if len(v.indices)}
    return models.PointStruct(id=point.id, vector=vectors, payload=point.payload)


def _to_query(ranker: RankerQuery) -> models.QueryRequest:
    vector: Any = ranker.vector
    named = _to_sparse(vector) if isinstance(vector, SparseVector) else vector.tolist()
    return models.QueryRequest(
        query=models.NearestQuery(nearest=named),
        using=ranker.using,
        filter=_to_filter(ranker.filter),
        limit=ranker.limit,
        with_payload=ranker.with_payload,
    )


def _to_record(record: models.Record) -> Record:
    dense: dict[str, NDArray[np.float32]] = {}
    sparse: dict[str, SparseVector] = {}
    for name, vector in cast("Mapping[str, Any]", record.vector or {}).items():
        if isinstance(vector, models.SparseVector):
            sparse[name] = SparseVector(np.asarray(vector.indices, np.uint32), np.asarray(vector.values, np.float32))
        else:
            dense[name] = np.asarray(vector, np.float32)
    return Record(str(record.id), record.payload or {}, dense, sparse)


def _to_filter(condition: Condition | None) -> models.Filter | None:
    if condition is None:
        return None
    return models.Filter(must=[_token(condition)])


def _token(condition: Condition) -> Any:  # noqa: ANN401 - the client's union has no name; one return per kind
    match condition:
        case Eq(field, value):
            return models.FieldCondition(key=field, match=models.MatchValue(value=value))
        case AnyOf(field, values):
            if not values:
                return models.HasIdCondition(has_id=[])
            any_of = models.MatchAny(any=cast("Any", list(values)))
            return models.FieldCondition(key=field, match=any_of)
        case Range(field, gte, gt, lte, lt):
            limits = models.Range(gte=gte, gt=gt, lte=lte, lt=lt)
            return models.FieldCondition(key=field, range=limits)
        case TimeRange(field, start, end):
            times = models.DatetimeRange(gte=start, lt=end)
            return models.FieldCondition(key=field, range=times)
        case Ids(ids):
            return models.HasIdCondition(has_id=list(ids))
        case Not(inner):
            return models.Filter(must_not=[_token(inner)])
        case And(conditions):
            return models.Filter(must=[_token(inner) for inner in conditions])
