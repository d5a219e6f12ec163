"""The block index on a vector store: passages with their vectors, blocks as head points, token vectors apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import uuid4

import numpy as np

from memvault.faults import Fault, Reason
from memvault.vectors import (
    And,
    Condition,
    Eq,
    Point,
    Record,
    TimeRange,
    VectorStore,
)
from memvault_search.adapters.collections import PASSAGES, TOKENS, named, passages_spec
from memvault_search.adapters.head_payload import SUMMARY, from_payload, state_payload, to_payload
from memvault_search.adapters.index_filter import condition_of
from memvault_search.adapters.pointer import BLOCKS, Generation
from memvault_search.adapters.points import (
    FORGOTTEN,
    forgotten_mark,
    loaded_passage,
    moment_of,
    passage_point,
    same_state,
    to_query,
    tokens_of,
)
from memvault_search.adapters.token_store import TokenStore
from memvault_search.domain.block import StoredBlock
from memvault_search.domain.embedding import TokenVectors
from memvault_search.domain.made import Made
from memvault_search.domain.moment import Moment
from memvault_search.domain.passages import encoder_point_id, head_id, user_tombstone_id, vault_id
from memvault_search.domain.selection import Selection
from memvault_search.domain.views import View
from memvault_search.ports import LoadedPassage, LoadedUser, PassageVectors, RankedPoints, Ranker

_LARGEST_LOOKED_AT = 100  # users; marks of what was forgotten are points, too, though few and not for long


class StoredIndex:
    """A `BlockIndex` on any `VectorStore`: blocks, and one generation of their vectors."""

    def __init__(self, store: VectorStore, tokens: TokenStore, *, dimension: int, page: int) -> None:
        """Nothing is opened before `use`.

        `next` is a generation that is being built: what is forgotten goes from there as well.

        Args:
            store: of blocks and passages, not opened yet.
            tokens: of the passages' token vectors, not opened yet.
            dimension: of the encoder's vectors.
            page: points read at once while a user is loaded.
        """
        self._store = store
        self._token_store = tokens
        self._dimension = dimension
        self._page = page
        self._generation = Generation(0, Made("", ""))
        self._retired = False
        self.next: StoredIndex | None = None

    @property
    def made(self) -> Made:
        """What made the generation that is open."""
        return self._generation.made

    @property
    def _passages(self) -> str:
        return named(PASSAGES, self._generation.number)

    @property
    def _tokens(self) -> str:
        return named(TOKENS, self._generation.number)

    async def use(self, generation: Generation) -> None:
        """Open or create the collections of a generation; all that is asked and written is there from now on."""
        self._generation = generation
        await self._store.ensure(passages_spec(self._dimension, generation.number))
        await self._token_store.ensure(self._tokens)

    def beside(self, generation: Generation) -> StoredIndex:
        """The same on other collections of vectors, not opened yet."""
        return StoredIndex(self._store, self._token_store, dimension=generation.made.dimension, page=self._page)

    def retire(self) -> None:
        """Let those who still read finish, though another generation took over."""
        self._retired = True

    async def sources(self, user_id: str) -> dict[str, str]:
        """Of each passage what it was built from, as `build` noted it; empty where a write took its place."""
        found = await self._all(self._passages, Eq("user_id", user_id))
        return {one.id: one.payload.get("source", "") for one in found}

    async def build(self, user_id: str, passages: Sequence[PassageVectors], sources: Mapping[str, str]) -> None:
        """Write passages with a note of what they were built from; their blocks stay as they are."""
        points = [passage_point(one) for one in passages]
        for point in points:
            point.payload["source"] = sources[point.id]
        # token vectors first: a passage with its note is whole
        await self._token_store.write(self._tokens, user_id, tokens_of(passages))
        await self._store.upsert(self._passages, points)

    async def users(self) -> list[str]:
        """All users with a vault point."""
        return sorted({one.payload["user_id"] for one in await self._all(BLOCKS, Eq("kind", "vault"))})

    async def load(self, user_id: str) -> LoadedUser:
        """Read heads and passages page by page and put them together."""
        own = Eq("user_id", user_id)
        heads = await self._all(BLOCKS, own)
        passages = {one.id: one for one in await self._all(self._passages, own, with_vectors=True)}
        tombstone = await self._store.retrieve(BLOCKS, [user_tombstone_id(user_id)])
        version = max((one.payload["write_version"] for one in tombstone), default=0)
        forgotten: dict[str, Moment] = {}
        blocks: list[tuple[StoredBlock, Sequence[LoadedPassage]]] = []
        for head in heads:
            match head.payload["kind"]:
                case "vault":
                    version = max(version, head.payload["write_version"])
                case "forgotten":
                    forgotten[head.payload["head"]] = moment_of(head.payload)
                case "block":
                    stored = from_payload(head.payload)
                    found = [passages.pop(one.point_id, None) for one in stored.passages]
                    whole = [loaded_passage(one) for one in found if one is not None and "self" in one.dense]
                    if len(whole) == len(found):
                        blocks.append((stored, whole))
        return LoadedUser(version, blocks, forgotten)

    async def orphans(self, user_id: str) -> list[str]:
        """Compare the passages with what the heads name, without reading vectors."""
        own = Eq("user_id", user_id)
        passages = await self._all(self._passages, own)  # first: a head is written after its passages
        heads = [one.payload for one in await self._all(BLOCKS, own) if one.payload["kind"] == "block"]
        named = {point_id for head in heads for point_id, _, _ in head["passages"]}
        return [one.id for one in passages if one.id not in named]

    async def find(self, user_id: str, rankers: Sequence[Ranker], selection: Selection) -> dict[str, RankedPoints]:
        """Ask all rankers in one batch, without payloads: what the points are is known from memory."""
        condition = condition_of(user_id, selection)
        found = await self._store.query_batch(self._passages, [to_query(one, condition) for one in rankers])
        return {
            name: RankedPoints(
                tuple(hit.id for hit in hits),
                np.fromiter((hit.score for hit in hits), np.float64, len(hits)),
            )
            for name, hits in found.items()
        }

    async def write(
        self,
        user_id: str,
        stored: Sequence[StoredBlock],
        passages: Sequence[PassageVectors],
        *,
        stale_points: Sequence[str],
        write_version: int,
    ) -> int:
        """Passages first, the head last: what has a head is whole."""
        await self._store.upsert(self._passages, [passage_point(one) for one in passages])
        await self._token_store.write(self._tokens, user_id, tokens_of(passages))
        heads = [Point(head_id(user_id, one.block.id), to_payload(one)) for one in stored]
        await self._store.upsert(BLOCKS, heads)
        await self.drop_points(stale_points)
        return await self.raise_version(user_id, write_version)

    async def rewrite(self, user_id: str, passages: Sequence[PassageVectors]) -> None:
        """Write whole points again; token vectors of views that have none now stay."""
        await self._store.upsert(self._passages, [passage_point(one) for one in passages])
        held = {point: views for point, views in tokens_of(passages).items() if views}
        if held:
            await self._token_store.amend(self._tokens, user_id, held)

    async def averages(self, user_id: str, point_ids: Sequence[str]) -> dict[str, Mapping[View, float]]:
        """Read payloads only: vectors take ten times as long."""
        found = await self._store.retrieve(self._passages, point_ids)
        return {one.id: one.payload["averages"] for one in found if one.payload["user_id"] == user_id}

    async def passages(self, user_id: str, point_ids: Sequence[str]) -> dict[str, LoadedPassage]:
        """Read passages back with all their vectors."""
        found = await self._store.retrieve(self._passages, point_ids, with_vectors=True)
        return {one.id: loaded_passage(one) for one in found if one.payload["user_id"] == user_id}

    async def save(self, user_id: str, stored: Sequence[StoredBlock]) -> list[str]:
        """Compare and set on the revision, then look whether it was ours that was written."""
        ids = {head_id(user_id, one.block.id): one for one in stored}
        for id_, one in ids.items():
            unchanged = Eq("revision", one.revision - 1)
            await self._store.set_payload(BLOCKS, [id_], state_payload(one), only_if=unchanged)
        written = {one.id: one.payload for one in await self._store.retrieve(BLOCKS, list(ids))}
        return [one.block.id for id_, one in ids.items() if id_ not in written or not same_state(written[id_], one)]

    async def remove(
        self,
        user_id: str,
        stored: Sequence[StoredBlock],
        *,
        named: Sequence[str],
        forgotten: Moment,
        write_version: int,
    ) -> int:
        """Tombstones first: a write that is delivered again meanwhile must find them."""
        marks = [forgotten_mark(user_id, block_id, forgotten) for block_id in named]
        await self._store.upsert(BLOCKS, marks)
        await self._store.delete(BLOCKS, [head_id(user_id, one.block.id) for one in stored])
        await self.drop_points([one.point_id for block in stored for one in block.passages])
        await self._token_store.flush()  # what was forgotten leaves the write-ahead log, too
        return await self.raise_version(user_id, write_version)

    async def write_version(self, user_id: str) -> int:
        """Read the vault point, or what a forgotten user left.

        Raises:
            Fault: EMBEDDER_CHANGED when another replica moved on to the next generation.
        """
        wanted = [vault_id(user_id), user_tombstone_id(user_id), encoder_point_id()]
        points = {one.id: one.payload for one in await self._store.retrieve(BLOCKS, wanted)}
        pointer = points.pop(encoder_point_id(), {})
        if pointer.get("generation", 0) > self._generation.number and not self._retired:
            raise Fault(Reason.EMBEDDER_CHANGED, "another replica renewed the index: restart this one")
        return max((one["write_version"] for one in points.values()), default=0)

    async def raise_version(self, user_id: str, at_least: int) -> int:
        """Count a write by compare-and-set, so that two replicas never share a version."""
        id_, ticket = vault_id(user_id), uuid4().hex
        while True:
            known = await self._store.retrieve(BLOCKS, [id_])
            before = known[0].payload["write_version"] if known else 0
            version = max(at_least, before + 1)
            payload = {
                "kind": "vault",
                "user_id": user_id,
                "write_version": version,
                "ticket": ticket,
            }
            if known:
                unchanged = Eq("write_version", before)
                await self._store.set_payload(BLOCKS, [id_], payload, only_if=unchanged)
            else:
                await self._store.upsert(BLOCKS, [Point(id_, payload)])
            (written,) = await self._store.retrieve(BLOCKS, [id_])
            if written.payload["ticket"] == ticket:
                return version

    async def remove_user(self, user_id: str, *, forgotten: Moment, write_version: int) -> None:
        """Remove by the user's name."""
        await self.mark_user_forgotten(user_id, forgotten, write_version=write_version)
        await self._store.delete(BLOCKS, Eq("user_id", user_id))
        await self.drop_vectors(user_id)
        await self._store.flush()
        await self._token_store.flush()

    async def mark_user_forgotten(self, user_id: str, forgotten: Moment, *, write_version: int) -> None:
        """Write the mark, which bears a hash only."""
        mark = {
            "kind": "forgotten_user",
            "at": forgotten.time.isoformat(),
            "sequence": forgotten.sequence,
            "write_version": write_version,
        }
        await self._store.upsert(BLOCKS, [Point(user_tombstone_id(user_id), mark)])

    async def user_forgotten(self, user_id: str) -> Moment | None:
        """Read the mark of `remove_user`."""
        found = await self._store.retrieve(BLOCKS, [user_tombstone_id(user_id)])
        return moment_of(found[0].payload) if found else None

    async def drop_tombstones(self, before: datetime) -> None:
        """Remove marks of single forgotten blocks older than `before`."""
        old = And((Eq("kind", FORGOTTEN), TimeRange("at", end=before)))
        await self._store.delete(BLOCKS, old)

    async def drop_orphans(self, user_id: str, point_ids: Sequence[str]) -> None:
        """Remove passages that belong to no block."""
        found = await self._store.retrieve(self._passages, point_ids)
        await self.drop_points([one.id for one in found if one.payload["user_id"] == user_id])

    async def token_vectors(self, user_id: str, point_ids: Sequence[str]) -> dict[str, tuple[TokenVectors, ...]]:
        """Read them from their own store."""
        return await self._token_store.read(self._tokens, user_id, point_ids)

    async def count(self) -> tuple[int, int, int]:
        """Count points of both collections."""
        blocks = await self._store.count(BLOCKS, Eq("kind", "block"))
        frozen = await self._store.count(BLOCKS, Eq("holds", SUMMARY))
        return blocks, await self._store.count(self._passages), frozen

    async def largest(self) -> int:
        """Count the blocks of those users only who have so many points that they may have most."""
        most = 0
        for user_id, points in await self._store.commonest(BLOCKS, "user_id", _LARGEST_LOOKED_AT):
            if points <= most:
                break
            most = max(most, await self._store.count(BLOCKS, And((Eq("kind", "block"), Eq("user_id", user_id)))))
        return most

    async def _all(self, collection: str, condition: Condition, *, with_vectors: bool = False) -> list[Record]:
        records: list[Record] = []
        offset: str | None = None
        while True:
            page, offset = await self._store.scroll(
                collection, condition, limit=self._page, offset=offset, with_vectors=with_vectors
            )
            records += page
            if offset is None:
                return records

    async def drop_vectors(self, user_id: str) -> None:
        """Remove all vectors of a user, here and in the next generation; blocks stay."""
        await self._store.delete(self._passages, Eq("user_id", user_id))
        await self._token_store.delete_user(self._tokens, user_id)
        if self.next is not None:
            await self.next.drop_vectors(user_id)

    async def drop_points(self, point_ids: Sequence[str]) -> None:
        """Remove passages, here and in the next generation."""
        if self.next is not None:
            await self.next.drop_points(point_ids)
        await self._store.delete(self._passages, list(point_ids))
        await self._token_store.delete(self._tokens, point_ids)
