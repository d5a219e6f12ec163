"""The vector store that the section `stores` names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memvault.runtime.places import EMBEDDED
from memvault.runtime.settings import home

if TYPE_CHECKING:
    from memvault.vectors.store import VectorStore


def open_store(owner: str, qdrant: str, *, flush_every_s: float, timeout_s: int) -> VectorStore:
    """Return the store of one service, not connected yet.

    Args:
        owner: The service; an embedded store lies in its data folder.
        qdrant: `embedded`, or the address of a server.
        flush_every_s: Seconds between two writes of an embedded store to the disk.
        timeout_s: Seconds for one call to a server.
    """
    # imported here: neither kind of store need pay for the other's engine
    if qdrant == EMBEDDED:
        from memvault.vectors.edge import EdgeStore  # noqa: PLC0415

        return EdgeStore(home() / "data" / owner, flush_every_s=flush_every_s)
    from memvault.vectors.server import connect  # noqa: PLC0415

    return connect(qdrant, timeout_s=timeout_s)
