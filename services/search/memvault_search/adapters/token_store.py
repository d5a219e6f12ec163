"""Token vectors of passages: what a file and points of a store have in common, under one contract suite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from memvault_search.domain.embedding import TokenVectors
    from memvault_search.domain.views import View

TokensByView = Mapping["View", "TokenVectors"]


class TokenStore(Protocol):
    """Token vectors by table, passage and view; a table is of one generation of the index."""

    async def ensure(self, table: str) -> None:
        """Create the table or open it.

        Raises:
            Fault: STORE_UNAVAILABLE when it cannot be read; every other method does the same.
        """

    async def write(self, table: str, user_id: str, vectors: Mapping[str, TokensByView]) -> None:
        """Put these in the place of all that is held of each point; returns after the write survives a kill."""

    async def amend(self, table: str, user_id: str, vectors: Mapping[str, TokensByView]) -> None:
        """Write views of points that are held; their other views stay, and what is not held stays away."""

    async def read(self, table: str, user_id: str, point_ids: Sequence[str]) -> dict[str, tuple[TokenVectors, ...]]:
        """Vectors by point, view `self` first; what is unknown, or another user's, is left out."""

    async def delete(self, table: str, point_ids: Sequence[str]) -> None:
        """Remove points; ids that are not there are no error."""

    async def delete_user(self, table: str, user_id: str) -> None:
        """Remove all that is held of a user."""

    async def drop(self, table: str) -> None:
        """Remove a table, opened or not; one that is not there is no error."""

    async def flush(self) -> None:
        """Write everything to the disk, and overwrite what was removed."""

    async def close(self) -> None:
        """Flush and let go; may be called twice. A store that was handed in stays open."""
