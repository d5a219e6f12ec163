"""Qdrant's engine in this process: the default store, one folder per collection.

Facts about the engine that shape this file: opening a folder twice corrupts it (hence `flock`); a query holds
the interpreter lock and a flush takes 0.1 to 0.3 s (hence one worker thread and a timer); an upsert is in the
write-ahead log when it returns, so that a kill loses nothing even without a flush.
"""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar, cast
from uuid import UUID

import numpy as np
import qdrant_edge as engine

from memvault.vectors.edge_filters import to_filter
from memvault.vectors.filters import And, Ids
from memvault.vectors.model import Hit, Payload, Point, RankerQuery, Record, SparseVector
from memvault.vectors.store import SpecMismatchError, StoreLockedError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from memvault.vectors.filters import Condition
    from memvault.vectors.model import CollectionSpec

T = TypeVar("T")

_UNUSED = "_unused"
"""The engine refuses a collection without any vector; this sparse one is never written."""

_STORED_AS = engine.VectorStorageDatatype.Turbo16
"""16 rotated bits a dimension: compared in half the time of 32, for errors of some millionths (docs/decisions/0032).
A folder keeps what it was made with."""

_COARSE = engine.TurboQuantQuantizationConfig(bits=engine.TurboQuantBitSize.Bits4)
"""Beside them 4 bits a dimension, which a query reads first: a third of the time on a large collection, of which
one in ten thousand of the best hundred is lost (docs/decisions/0037). A folder made without them is read whole."""

_RESCORED = 3.0
"""Times as many as are asked for are scored again by their 16 bits, so that scores are what they were."""

_PARAMS = engine.SearchParams(quantization=engine.QuantizationSearchParams(rescore=True, oversampling=_RESCORED))

_FIELD_TYPES = {
    "keyword": engine.PayloadSchemaType.Keyword,
    "integer": engine.PayloadSchemaType.Integer,
    "float": engine.PayloadSchemaType.Float,
    "bool": engine.PayloadSchemaType.Bool,
    "datetime": engine.PayloadSchemaType.Datetime,
}


@lru_cache(maxsize=1 << 16)
def _text_of(number: int) -> str:
    """Return the text of an id, which takes longer to make than a point takes to find.

    By its number and not by the `UUID` that the engine gives, whose hash and comparison are Python's.
    """
    return str(UUID(int=number))


class EdgeStore:
    """A `VectorStore` on folders below `root`; the process that opened it is its only user."""

    def __init__(self, root: Path, *, flush_every_s: float) -> None:
        """Remember where; nothing is opened before `ensure`.

        Args:
            root: folder of all collections, created when missing.
            flush_every_s: pause between two flushes of what changed, in seconds, above 0.
        """
        self.folder = root
        self._flush_every_s = flush_every_s
        self._shards: dict[str, engine.EdgeShard] = {}
        self._locks: dict[str, int] = {}
        self._dirty: set[str] = set()
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="edge")
        self._timer: asyncio.Task[None] | None = None

    async def _run(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._worker, work)

    async def ensure(self, collection: CollectionSpec) -> None:
        """Open or create the folder of the collection, under its lock."""
        if collection.name in self._shards:
            return
        await self._run(lambda: self._open(collection))
        if self._timer is None:
            self._timer = asyncio.get_running_loop().create_task(self._flush_on_time())

    def _open(self, spec: CollectionSpec) -> None:
        folder = self.folder / spec.name
        folder.mkdir(parents=True, exist_ok=True)
        self._lock(spec.name)
        try:
            if (folder / "edge_config.json").exists():
                _check(spec, folder)
                shard = engine.EdgeShard.load(str(folder))
            else:
                shard = engine.EdgeShard.create(str(folder), _config(spec))
        except BaseException:
            self._unlock(spec.name)
            raise
        self._index_fields(shard, spec)
        self._shards[spec.name] = shard

    def _index_fields(self, shard: engine.EdgeShard, spec: CollectionSpec) -> None:
        """Index the fields that are not indexed yet: each costs the engine 0.15 s, also when it is there."""
        note = self.folder / f"{spec.name}.fields.json"
        done = json.loads(note.read_text()) if note.exists() else {}
        for name, kind in spec.fields.items():
            if done.get(name) != kind:
                shard.update(engine.UpdateOperation.create_field_index(name, _FIELD_TYPES[kind]))
        if done != dict(spec.fields):
            shard.flush()
            note.write_text(json.dumps(dict(spec.fields)))

    def _lock(self, name: str) -> None:
        path = self.folder / f"{name}.lock"
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(descriptor)
            text = f"{self.folder / name} is in use by another process: stop that one first"
            raise StoreLockedError(text) from error
        self._locks[name] = descriptor

    def _unlock(self, name: str) -> None:
        os.close(self._locks.pop(name))

    async def _flush_on_time(self) -> None:
        while True:
            await asyncio.sleep(self._flush_every_s)
            await self.flush()

    async def upsert(self, collection: str, points: Sequence[Point]) -> None:
        """Write points through the write-ahead log."""
        if not points:
            return
        # Many points take long to convert: in the worker, where the loop need not wait for it.
        await self._update(collection, lambda: engine.UpdateOperation.upsert_points([_to_point(one) for one in points]))

    async def _update(self, collection: str, operation: Callable[[], engine.UpdateOperation]) -> None:
        shard = self._shards[collection]
        self._dirty.add(collection)
        await self._run(lambda: shard.update(operation()))

    async def query_batch(self, collection: str, rankers: Sequence[RankerQuery]) -> dict[str, list[Hit]]:
        """Answer all rankers in one visit to the worker thread."""
        asked = [ranker for ranker in rankers if ranker.can_match]
        found: dict[str, list[Hit]] = {ranker.name: [] for ranker in rankers}
        if not asked:
            return found
        shard = self._shards[collection]
        batch = engine.QueryBatchRequest([_to_query(ranker) for ranker in asked])
        answers = await self._run(lambda: shard.query_batch(batch))
        for ranker, answer in zip(asked, answers, strict=True):
            hits = [Hit(_text_of(cast("UUID", point.id).int), point.score, point.payload or {}) for point in answer]
            found[ranker.name] = sorted(hits, key=lambda hit: (-hit.score, hit.id))
        return found

    async def retrieve(self, collection: str, ids: Sequence[str], *, with_vectors: bool = False) -> list[Record]:
        """Read points by id."""
        if not ids:
            return []
        shard = self._shards[collection]
        wanted: list[int | UUID | str] = list(ids)
        answer = await self._run(lambda: shard.retrieve(wanted, with_payload=True, with_vector=with_vectors))
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
        shard = self._shards[collection]
        request = engine.ScrollRequest(
            limit=limit,
            offset=cast("Any", offset),
            filter=to_filter(condition),
            with_payload=True,
            with_vector=with_vectors,
        )
        records, following = await self._run(lambda: shard.scroll(request))
        return [_to_record(record) for record in records], (None if following is None else str(following))

    async def count(self, collection: str, condition: Condition | None = None) -> int:
        """Count points exactly."""
        shard = self._shards[collection]
        request = engine.CountRequest(exact=True, filter=to_filter(condition))
        return await self._run(lambda: shard.count(request))

    async def commonest(self, collection: str, field: str, limit: int) -> list[tuple[str, int]]:
        """Ask the engine for the field's facet: a millisecond for hundreds of values."""
        shard = self._shards[collection]
        request = engine.FacetRequest(field, limit=limit, exact=True)
        answer = await self._run(lambda: shard.facet(request))
        return [(str(hit.value), hit.count) for hit in answer.hits]

    async def set_payload(
        self,
        collection: str,
        ids: Sequence[str],
        payload: Payload,
        *,
        only_if: Condition | None = None,
    ) -> None:
        """Merge fields; by a filter also when unconditional, because an unknown id is an error to the engine."""
        chosen: Condition = Ids(tuple(ids))
        if only_if is not None:
            chosen = And((chosen, only_if))
        wanted = to_filter(chosen)
        if not ids or wanted is None:
            return
        await self._update(collection, lambda: engine.UpdateOperation.set_payload_by_filter(wanted, payload))

    async def delete(self, collection: str, selection: Sequence[str] | Condition) -> None:
        """Remove points by id or condition."""
        if isinstance(selection, (list, tuple)):
            if not selection:
                return
            ids = list(selection)
            await self._update(collection, lambda: engine.UpdateOperation.delete_points(ids))
            return
        wanted = to_filter(cast("Condition", selection))
        if wanted is not None:
            await self._update(collection, lambda: engine.UpdateOperation.delete_points_by_filter(wanted))

    async def drop(self, collection: str) -> None:
        """Close the shard and remove its folder."""
        shard = self._shards.pop(collection, None)
        self._dirty.discard(collection)
        await self._run(lambda: self._remove(collection, shard))

    def _remove(self, name: str, shard: engine.EdgeShard | None) -> None:
        folder, going = self.folder / name, self.folder / f"{name}.dropped"
        if shard is not None:
            shard.close()
        elif folder.exists():
            self._lock(name)  # another process may have it open
        if folder.exists():
            shutil.rmtree(going, ignore_errors=True)
            folder.rename(going)  # at once: half a folder must never be opened
        (self.folder / f"{name}.fields.json").unlink(missing_ok=True)
        shutil.rmtree(going, ignore_errors=True)
        if name in self._locks:
            self._unlock(name)

    async def flush(self) -> None:
        """Write what changed since the last flush to the disk."""
        for name in sorted(self._dirty):
            self._dirty.discard(name)
            shard = self._shards.get(name)  # None: dropped while another one was flushed
            if shard is not None:
                await self._run(shard.flush)

    async def close(self) -> None:
        """Flush, close all shards and let go of their locks."""
        if self._timer is not None:
            self._timer.cancel()
            with suppress(asyncio.CancelledError):
                await self._timer
            self._timer = None
        if not self._shards:
            return
        await self.flush()
        for name in list(self._shards):
            await self._run(self._shards.pop(name).close)
            self._unlock(name)
        self._worker.shutdown()


def _config(spec: CollectionSpec) -> engine.EdgeConfig:
    dense = {
        name: engine.EdgeVectorParams(size=vector.size, distance=engine.Distance.Cosine, datatype=_STORED_AS)
        for name, vector in spec.dense.items()
    }
    sparse = spec.sparse or (() if dense else (_UNUSED,))
    return engine.EdgeConfig(
        vectors=dense or None,
        quantization_config=_COARSE if dense else None,
        sparse_vectors={name: engine.EdgeSparseVectorParams() for name in sparse} or None,
    )


def _check(spec: CollectionSpec, folder: Path) -> None:
    config = json.loads((folder / "edge_config.json").read_text())
    stored = {name: vector["size"] for name, vector in (config.get("vectors") or {}).items()}
    asked = {name: vector.size for name, vector in spec.dense.items()}
    sparse = set(config.get("sparse_vectors") or {}) - {_UNUSED}
    if stored != asked or sparse != set(spec.sparse):
        text = (
            f"{folder} holds vectors {stored} and {sorted(sparse)}, "
            f"but the settings ask for {asked} and {sorted(spec.sparse)}: "
            "set the former encoder again, or export, remove the folder and import"
        )
        raise SpecMismatchError(text)


def _to_sparse(vector: SparseVector) -> engine.SparseVector:
    return engine.SparseVector(vector.indices.tolist(), vector.values.tolist())


def _to_point(point: Point) -> engine.Point:
    vectors: dict[str, Any] = {name: vector.tolist() for name, vector in point.dense.items()}
    vectors |= {name: _to_sparse(v) for name, v in point.sparse.items() if len(v.indices)}
    return engine.Point(cast("Any", point.id), vectors, point.payload)


def _to_query(ranker: RankerQuery) -> engine.QueryRequest:
    vector: Any = ranker.vector
    sparse = isinstance(vector, SparseVector)
    named = _to_sparse(vector) if sparse else vector.tolist()
    return engine.QueryRequest(
        limit=ranker.limit,
        query=engine.Query.Nearest(named, using=ranker.using),
        filter=to_filter(ranker.filter),
        with_payload=ranker.with_payload,
        params=None if sparse else _PARAMS,
    )


def _to_record(record: engine.Record) -> Record:
    dense: dict[str, NDArray[np.float32]] = {}
    sparse: dict[str, SparseVector] = {}
    for name, vector in cast("Mapping[str, Any]", record.vector or {}).items():
        if isinstance(vector, engine.SparseVector):
            sparse[name] = SparseVector(np.asarray(vector.indices, np.uint32), np.asarray(vector.values, np.float32))
        else:
            dense[name] = np.asarray(vector, np.float32)
    return Record(str(record.id), record.payload or {}, dense, sparse)
