"""The protocol that both engines fulfil, under one contract suite."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from memvault.vectors.filters import Condition
    from memvault.vectors.model import CollectionSpec, Hit, Payload, Point, RankerQuery, Record


class StoreLockedError(RuntimeError):
    """Another process owns the folder: two writers would corrupt it, so the second is refused."""


class SpecMismatchError(RuntimeError):
    """The stored collection has other vectors than the code asks for, for example of another encoder."""


class VectorStore(Protocol):
    """Named-vector points with payloads; every method is safe to call from one event loop."""

    @property
    def folder(self) -> Path | None:
        """Where an embedded store lies, with a folder for each collection; None of a server."""

    async def ensure(self, collection: CollectionSpec) -> None:
        """Create the collection and its field indexes, or open it.

        Raises:
            StoreLockedError: another process has it open.
            SpecMismatchError: it exists with other vector names or sizes.
        """

    async def upsert(self, collection: str, points: Sequence[Point]) -> None:
        """Write points, replacing those with the same id; returns after the write survives a kill."""

    async def query_batch(self, collection: str, rankers: Sequence[RankerQuery]) -> dict[str, list[Hit]]:
        """Answer several rankers in one round trip, by name; best first, ties in the order of ids."""

    async def retrieve(self, collection: str, ids: Sequence[str], *, with_vectors: bool = False) -> list[Record]:
        """Read points by id, in the order asked for; unknown ids are left out."""

    async def scroll(
        self,
        collection: str,
        condition: Condition | None,
        *,
        limit: int,
        offset: str | None = None,
        with_vectors: bool = False,
    ) -> tuple[list[Record], str | None]:
        """Read a page of points in the order of ids; the second value is the next offset, None at the end."""

    async def count(self, collection: str, condition: Condition | None = None) -> int:
        """Count points exactly."""

    async def commonest(self, collection: str, field: str, limit: int) -> list[tuple[str, int]]:
        """The values of an indexed keyword field that most points have, with the number of points, most first."""

    async def set_payload(
        self,
        collection: str,
        ids: Sequence[str],
        payload: Payload,
        *,
        only_if: Condition | None = None,
    ) -> None:
        """Merge fields into the payload of points that exist and fulfil `only_if`, in one atomic step."""

    async def delete(self, collection: str, selection: Sequence[str] | Condition) -> None:
        """Remove points by id or by condition; ids that are not there are no error."""

    async def drop(self, collection: str) -> None:
        """Remove a collection with everything in it, opened or not; one that is not there is no error."""

    async def flush(self) -> None:
        """Write everything to the disk."""

    async def close(self) -> None:
        """Flush and let go; may be called twice."""
