"""A vault that was made when token vectors were points of the embedded store: they stay there until a reindex."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from memvault_search.adapters.token_file import TokenFile
from memvault_search.adapters.token_points import TokenPoints

if TYPE_CHECKING:
    from memvault_search.adapters.token_store import TokensByView
    from memvault_search.domain.embedding import TokenVectors


class FormerTokens:
    """A `TokenStore` that writes to the file, reads from both, and removes from both."""

    def __init__(self, file: TokenFile, points: TokenPoints, folder: Path) -> None:
        """`folder`: of the embedded store, where each collection has a folder of its own."""
        self._file = file
        self._points = points
        self._folder = folder
        self._former: set[str] = set()

    async def ensure(self, table: str) -> None:
        """Open the file, and the collection where there is one."""
        await self._file.ensure(table)
        if (self._folder / table).exists():
            await self._points.ensure(table)
            self._former.add(table)

    async def write(self, table: str, user_id: str, vectors: Mapping[str, TokensByView]) -> None:
        """Write to the file; what the collection holds of the same points is of former."""
        await self._file.write(table, user_id, vectors)
        if table in self._former:
            await self._points.delete(table, list(vectors))

    async def amend(self, table: str, user_id: str, vectors: Mapping[str, TokensByView]) -> None:
        """Amend where the points are held."""
        await self._file.amend(table, user_id, vectors)
        if table in self._former:
            await self._points.amend(table, user_id, vectors)

    async def read(self, table: str, user_id: str, point_ids: Sequence[str]) -> dict[str, tuple[TokenVectors, ...]]:
        """Read the file, then what is missing from the collection."""
        found = await self._file.read(table, user_id, point_ids)
        if table in self._former and len(found) < len(point_ids):
            missing = [one for one in point_ids if one not in found]
            found |= await self._points.read(table, user_id, missing)
        return found

    async def delete(self, table: str, point_ids: Sequence[str]) -> None:
        """Remove from both."""
        await self._file.delete(table, point_ids)
        if table in self._former:
            await self._points.delete(table, point_ids)

    async def delete_user(self, table: str, user_id: str) -> None:
        """Remove from both."""
        await self._file.delete_user(table, user_id)
        if table in self._former:
            await self._points.delete_user(table, user_id)

    async def drop(self, table: str) -> None:
        """Remove both."""
        await self._file.drop(table)
        await self._points.drop(table)
        self._former.discard(table)

    async def flush(self) -> None:
        """Flush the file; the store is flushed by whoever opened it."""
        await self._file.flush()

    async def close(self) -> None:
        """Close the file; the store is closed by whoever opened it."""
        await self._file.close()
