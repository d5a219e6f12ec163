"""Where token vectors lie: in a file beside an embedded store, as points on a server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memvault_search.adapters.token_file import TokenFile
from memvault_search.adapters.token_former import FormerTokens
from memvault_search.adapters.token_points import TokenPoints

if TYPE_CHECKING:
    from memvault.vectors import VectorStore
    from memvault_search.adapters.token_store import TokenStore


def tokens_beside(store: VectorStore, *, cached: int) -> TokenStore:
    """Return the place for token vectors that goes with a store.

    Args:
        store: of the passages.
        cached: passages whose token vectors stay in memory when they come from points.
    """
    points = TokenPoints(store, cached=cached)
    return points if store.folder is None else FormerTokens(TokenFile(store.folder), points, store.folder)
