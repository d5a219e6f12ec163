"""Graphs in a vector store: every part of a graph is a point, triples and entities with a vector (dual projection.

R-34).

Each point carries its user, and every query and deletion names the user: tenant isolation is this file's duty.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from memvault.vectors import And, CollectionSpec, DenseSpec, Eq, FieldKind, Hit, Point, RankerQuery, Record, VectorStore
from memvault_cascade.adapters import records
from memvault_cascade.adapters.name_table import NameTable, NameTables
from memvault_cascade.domain.graph.model import GraphChange, Synonym, UserGraph
from memvault_cascade.ports import GraphState, Kind, Nearest, Totals

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from memvault_cascade.domain.graph.model import Community

COLLECTION: Final = "cascade_graph"
_VECTOR: Final = "text"
_PAGE: Final = 1000
_BLOCK, _SYNONYM, _META, _TOMB = "block", "synonym", "meta", "tomb"
_META_ID = "graph"


class VectorGraphStore:
    """A `GraphStore` on a `VectorStore`; one collection for all users."""

    def __init__(self, store: VectorStore, *, names_in_memory: int = 50_000, at_once: int = 8) -> None:
        """Nothing is opened before `start`.

        `names_in_memory` bounds what is kept to compare new names with; `at_once` questions are asked in one visit to
        the store, which serves others in between.
        """
        self._at_once = at_once
        self._store = store
        self._most_names = names_in_memory
        self._names = NameTables(names_in_memory)

    async def start(self, dimension: int) -> None:
        """Open the collection for vectors of the encoder's `dimension`.

        Raises:
            SpecMismatchError: The collection holds vectors of another encoder.
        """
        fields = {"user": FieldKind.KEYWORD, "kind": FieldKind.KEYWORD}
        await self._store.ensure(CollectionSpec(COLLECTION, {_VECTOR: DenseSpec(dimension)}, fields=fields))

    async def stop(self) -> None:
        """Close the store."""
        await self._store.close()

    async def version(self, user_id: str) -> int:
        """See `GraphStore.version`."""
        return int((await self._meta(user_id)).get("version", 0))

    async def community_version(self, user_id: str) -> int:
        """See `GraphStore.community_version`."""
        return int((await self._meta(user_id)).get("community_version", 0))

    async def load(self, user_id: str) -> GraphState:
        """See `GraphStore.load`."""
        meta = await self._meta(user_id)
        if not meta:
            return GraphState(UserGraph(user_id))
        parts: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
        offset: str | None = None
        while True:
            page, offset = await self._store.scroll(COLLECTION, Eq("user", user_id), limit=_PAGE, offset=offset)
            for record in page:
                parts[record.payload["kind"]].append(record.payload)
            if offset is None:
                return _state(user_id, meta, parts)

    async def write(
        self, user_id: str, change: GraphChange, vectors: Mapping[str, NDArray[np.float32]], version: int
    ) -> None:
        """See `GraphStore.write`. Blocks go last: a block that is there proves that its facts are."""
        await self._put_with_vectors(user_id, change, vectors)
        synonyms = [
            self._point(user_id, _SYNONYM, f"{s.first_id}\x1f{s.second_id}", records.synonym_payload(s))
            for s in change.synonyms
        ]
        await self._store.upsert(COLLECTION, synonyms)
        gone = [(Kind.ENTITY.value, i) for i in change.gone_entities]
        gone += [(Kind.TRIPLE.value, i) for i in change.gone_triples]
        gone += [(_BLOCK, i) for i in change.gone_blocks]
        await self._store.delete(COLLECTION, [records.point_id(user_id, kind, i) for kind, i in gone])
        names = {e.id: vectors[e.id] for e in change.entities if e.id in vectors}
        blocks = [self._point(user_id, _BLOCK, b.id, records.block_payload(b)) for b in change.blocks]
        await self._store.upsert(COLLECTION, [*blocks, await self._meta_point(user_id, {"version": version})])
        self._names.written(user_id, version, names, change.gone_entities)

    async def _put_with_vectors(
        self, user_id: str, change: GraphChange, vectors: Mapping[str, NDArray[np.float32]]
    ) -> None:
        parts = [(Kind.ENTITY.value, e.id, records.entity_payload(e)) for e in change.entities]
        parts += [(Kind.TRIPLE.value, t.id, records.triple_payload(t)) for t in change.triples]
        fresh = [self._point(user_id, kind, i, payload, vectors[i]) for kind, i, payload in parts if i in vectors]
        await self._store.upsert(COLLECTION, fresh)
        for kind, identity, payload in parts:
            if identity not in vectors:
                await self._store.set_payload(COLLECTION, [records.point_id(user_id, kind, identity)], payload)

    async def write_communities(
        self,
        user_id: str,
        communities: Sequence[Community],
        vectors: Mapping[str, NDArray[np.float32]],
        gone: Sequence[str],
        graph_version: int,
    ) -> None:
        """See `GraphStore.write_communities`."""
        kind = Kind.COMMUNITY.value
        points = [
            self._point(user_id, kind, c.id, records.community_payload(c), vectors.get(c.id)) for c in communities
        ]
        await self._store.upsert(COLLECTION, points)
        await self._store.delete(COLLECTION, [records.point_id(user_id, kind, i) for i in gone])
        await self._store.upsert(COLLECTION, [await self._meta_point(user_id, {"community_version": graph_version})])

    async def bury(self, user_id: str, block_ids: Sequence[str], sequence: int) -> None:
        """See `GraphStore.bury`."""
        points = [self._point(user_id, _TOMB, block, {"sequence": sequence}) for block in block_ids]
        await self._store.upsert(COLLECTION, points)

    async def forget_user(self, user_id: str, sequence: int) -> None:
        """See `GraphStore.forget_user`.

        The version goes on counting, so that no cache takes the new graph for the old one.
        """
        meta = await self._meta(user_id)
        version, through = int(meta.get("version", 0)) + 1, max(sequence, int(meta.get("forgotten_through", 0)))
        self._names.forget(user_id)
        await self._store.delete(COLLECTION, Eq("user", user_id))
        note = {"version": version, "community_version": version, "forgotten_through": through}
        await self._store.upsert(COLLECTION, [self._point(user_id, _META, _META_ID, note)])

    async def forget_through(self, user_id: str, sequence: int) -> None:
        """See `GraphStore.forget_through`."""
        through = max(sequence, int((await self._meta(user_id)).get("forgotten_through", 0)))
        await self._store.upsert(COLLECTION, [await self._meta_point(user_id, {"forgotten_through": through})])

    async def nearest(self, user_id: str, questions: Sequence[Nearest]) -> dict[str, list[tuple[str, float]]]:
        """See `GraphStore.nearest`."""
        table = await self._table(user_id) if all(q.kind is Kind.ENTITY for q in questions) else None
        if table is not None:
            hits = await asyncio.to_thread(table.nearest, [(q.vector, q.limit) for q in questions])
            return {q.name: found for q, found in zip(questions, hits, strict=True)}
        rankers = [
            RankerQuery(
                q.name,
                _VECTOR,
                q.vector,
                q.limit,
                And((Eq("user", user_id), Eq("kind", q.kind.value))),
                with_payload=True,
            )
            for q in questions
        ]
        found: dict[str, list[Hit]] = {}
        for start in range(0, len(rankers), self._at_once):
            found |= await self._store.query_batch(COLLECTION, rankers[start : start + self._at_once])
        return {
            name: [(str(hit.payload["ref"]), min(1.0, max(0.0, hit.score))) for hit in hits]
            for name, hits in found.items()
        }

    async def _table(self, user_id: str) -> NameTable | None:
        """Names of a graph that is being written; None when there are too many, or somebody else writes it too."""
        version = await self.version(user_id)
        table = self._names.at(user_id, version)
        if table is not None or await self._count(user_id, Kind.ENTITY) > self._most_names:
            return table
        table, offset = NameTable(version), None
        names = And((Eq("user", user_id), Eq("kind", Kind.ENTITY.value)))
        while True:
            page, offset = await self._store.scroll(COLLECTION, names, limit=_PAGE, offset=offset, with_vectors=True)
            table.put({str(one.payload["ref"]): one.dense[_VECTOR] for one in page if _VECTOR in one.dense})
            if offset is None:
                break
        if await self.version(user_id) != version:
            return None
        self._names.keep(user_id, table)
        return table

    async def totals(self, user_id: str) -> Totals:
        """See `GraphStore.totals`."""
        counts = [await self._count(user_id, kind) for kind in (Kind.ENTITY, Kind.TRIPLE, Kind.COMMUNITY)]
        metas = [await self._meta(user_id)] if user_id else await self._metas()
        versions = [int(meta.get("version", 0)) for meta in metas]
        behind = [int(meta.get("community_version", 0)) for meta in metas]
        return Totals(counts[0], counts[1], counts[2], max(versions, default=0), min(behind, default=0))

    async def users(self) -> list[str]:
        """See `GraphStore.users`."""
        return sorted(str(meta["user"]) for meta in await self._metas())

    async def _count(self, user_id: str, kind: Kind) -> int:
        of_kind = Eq("kind", kind.value)
        return await self._store.count(COLLECTION, And((Eq("user", user_id), of_kind)) if user_id else of_kind)

    async def _metas(self) -> list[Mapping[str, Any]]:
        metas: list[Mapping[str, Any]] = []
        offset: str | None = None
        while True:
            page, offset = await self._store.scroll(COLLECTION, Eq("kind", _META), limit=_PAGE, offset=offset)
            metas += [record.payload for record in page]
            if offset is None:
                return metas

    async def _meta(self, user_id: str) -> Mapping[str, Any]:
        found: list[Record] = await self._store.retrieve(COLLECTION, [records.point_id(user_id, _META, _META_ID)])
        return found[0].payload if found else {}

    async def _meta_point(self, user_id: str, update: Mapping[str, int]) -> Point:
        known = {k: v for k, v in (await self._meta(user_id)).items() if k not in {"user", "kind", "ref"}}
        return self._point(user_id, _META, _META_ID, {**known, **update})

    @staticmethod
    def _point(
        user_id: str,
        kind: str,
        identity: str,
        payload: Mapping[str, Any],
        vector: NDArray[np.float32] | None = None,
    ) -> Point:
        dense = {} if vector is None else {_VECTOR: vector}
        return Point(
            records.point_id(user_id, kind, identity),
            {**payload, "user": user_id, "kind": kind, "ref": identity},
            dense,
        )


def _state(user_id: str, meta: Mapping[str, Any], parts: Mapping[str, list[Mapping[str, Any]]]) -> GraphState:
    synonyms: dict[str, list[Synonym]] = defaultdict(list)
    for payload in parts[_SYNONYM]:
        synonym = records.to_synonym(payload)
        synonyms[synonym.first_id].append(synonym)
    version = int(meta.get("version", 0))
    graph = UserGraph(
        user_id,
        str(version),
        {p["ref"]: records.to_entity(p["ref"], p) for p in parts[Kind.ENTITY.value]},
        {p["ref"]: records.to_triple(p["ref"], p) for p in parts[Kind.TRIPLE.value]},
        {p["ref"]: records.to_block(p["ref"], p) for p in parts[_BLOCK]},
        {first_id: tuple(some) for first_id, some in synonyms.items()},
    )
    return GraphState(
        graph,
        tuple(records.to_community(p["ref"], p) for p in sorted(parts[Kind.COMMUNITY.value], key=lambda p: p["ref"])),
        version,
        int(meta.get("community_version", 0)),
        {p["ref"]: int(p["sequence"]) for p in parts[_TOMB]},
        int(meta.get("forgotten_through", 0)),
    )
