"""Token vectors as points of the store: base64 in payloads, which every replica can read."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from memvault.vectors import CollectionSpec, Eq, FieldKind, Point, VectorStore
from memvault_search.domain.embedding import TokenVectors
from memvault_search.domain.views import VIEWS

if TYPE_CHECKING:
    from memvault_search.adapters.token_store import TokensByView


class TokenPoints:
    """A `TokenStore` on a `VectorStore`; what was read lately stays in memory."""

    def __init__(self, store: VectorStore, *, cached: int) -> None:
        """Nothing is opened before `ensure`; `cached`: passages whose vectors stay in memory, about 15 KB each."""
        self._store = store
        self._cached = cached
        self._cache: dict[tuple[str, str], tuple[TokenVectors, ...]] = {}

    async def ensure(self, table: str) -> None:
        """Create or open the collection."""
        await self._store.ensure(CollectionSpec(table, fields={"user_id": FieldKind.KEYWORD}))

    async def write(self, table: str, user_id: str, vectors: Mapping[str, TokensByView]) -> None:
        """Replace whole points."""
        points = [Point(point, _payload(user_id, views)) for point, views in vectors.items() if views]
        await self._store.upsert(table, points)
        await self._store.delete(table, [point for point, views in vectors.items() if not views])
        self._let_go(table, vectors)

    async def amend(self, table: str, user_id: str, vectors: Mapping[str, TokensByView]) -> None:
        """Merge views into the payloads of points."""
        for point, views in vectors.items():
            await self._store.set_payload(table, [point], _payload(user_id, views), only_if=Eq("user_id", user_id))
        self._let_go(table, vectors)

    async def read(self, table: str, user_id: str, point_ids: Sequence[str]) -> dict[str, tuple[TokenVectors, ...]]:
        """Read from memory, and what is not there from the store."""
        # taken before the wait: meanwhile other questions fill the cache, and what lay in it makes room
        found = {one: self._cache[table, one] for one in point_ids if (table, one) in self._cache}
        missing = [one for one in point_ids if one not in found]
        for record in await self._store.retrieve(table, missing):
            if record.payload["user_id"] == user_id:
                found[record.id] = _vectors(record.payload)
                self._keep((table, record.id), found[record.id])
        return found

    async def delete(self, table: str, point_ids: Sequence[str]) -> None:
        """Remove points by id."""
        await self._store.delete(table, list(point_ids))
        self._let_go(table, point_ids)

    async def delete_user(self, table: str, user_id: str) -> None:
        """Remove by the user's name."""
        await self._store.delete(table, Eq("user_id", user_id))
        self._cache.clear()

    async def drop(self, table: str) -> None:
        """Drop the collection."""
        await self._store.drop(table)
        self._cache.clear()

    async def flush(self) -> None:
        """Leave it to the store, which is flushed by whoever opened it."""

    async def close(self) -> None:
        """Leave the store open."""

    def _let_go(self, table: str, points: Sequence[str] | Mapping[str, TokensByView]) -> None:
        for point in points:
            self._cache.pop((table, point), None)

    def _keep(self, key: tuple[str, str], tokens: tuple[TokenVectors, ...]) -> None:
        self._cache.pop(key, None)
        while len(self._cache) >= max(1, self._cached):
            self._cache.pop(next(iter(self._cache)))
        self._cache[key] = tokens


def _payload(user_id: str, views: TokensByView) -> dict[str, Any]:
    return {"user_id": user_id, **{view: _encoded(tokens) for view, tokens in views.items()}}


def _encoded(tokens: TokenVectors) -> dict[str, Any]:
    rows, columns = tokens.values.shape
    return {
        "rows": rows,
        "columns": columns,
        "values": base64.b64encode(np.ascontiguousarray(tokens.values).tobytes()).decode(),
    }


def _vectors(payload: Mapping[str, Any]) -> tuple[TokenVectors, ...]:
    views = [payload[view] for view in VIEWS if view in payload]
    return tuple(
        TokenVectors(np.frombuffer(base64.b64decode(view["values"]), np.int8).reshape(view["rows"], view["columns"]))
        for view in views
    )
