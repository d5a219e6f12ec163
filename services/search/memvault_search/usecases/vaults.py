"""The users' vaults in memory: loaded from the index at first need, changed under one lock each."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import asynccontextmanager

import numpy as np

from memvault.faults import Fault, Reason
from memvault_search.domain.embedding import FloatArray
from memvault_search.domain.moment import Moment
from memvault_search.domain.passages import head_id
from memvault_search.domain.similarity import EncoderMeans, centred
from memvault_search.domain.vault import IndexedPassage, Vault
from memvault_search.ports import BlockIndex, LoadedUser
from memvault_search.usecases.lasting import Lasting
from memvault_search.usecases.write_barrier import WriteBarrier


class Vaults:
    """Hands out vaults. The index is the record: a vault that may be wrong is dropped and read again."""

    def __init__(
        self,
        index: BlockIndex,
        means: EncoderMeans,
        barrier: WriteBarrier,
        *,
        blocks_in_memory: int,
        lasting_blocks: int,
        shared: bool,
    ) -> None:
        """Nothing is loaded before it is asked for.

        Args:
            index: where blocks are kept for good.
            means: the encoder's mean vectors, for calibrated similarity.
            barrier: whoever changes a vault passes it.
            shared: other replicas write to the index too: each use asks it for the write version first.
            blocks_in_memory: over all users; beyond it the least recently used vaults are dropped.
            lasting_blocks: a vault of so many is kept away from Python's garbage collector.
        """
        self._index = index
        self._means = means
        self._barrier = barrier
        self._retired = False
        self._blocks_in_memory = blocks_in_memory
        self._lasting_blocks = lasting_blocks
        self._shared = shared
        self._vaults: dict[str, Vault] = {}
        self._forgotten: dict[str, dict[str, Moment]] = {}
        self._loading: dict[str, asyncio.Future[Vault]] = {}
        self._locks: dict[str, _CountedLock] = {}

    async def of(self, user_id: str) -> Vault:
        """The user's vault, for reading; an unknown user has an empty one."""
        if self._shared and user_id not in self._locks:  # a writer here knows best
            await self._drop_if_outdated(user_id)
        return await self._held_or_loaded(user_id)

    async def _held_or_loaded(self, user_id: str) -> Vault:
        vault = self._vaults.pop(user_id, None)
        if vault is not None:
            self._vaults[user_id] = vault
            return vault
        loading = self._loading.get(user_id)
        if loading is None:
            loading = asyncio.ensure_future(self._load(user_id))
            self._loading[user_id] = loading
        return await asyncio.shield(loading)

    @asynccontextmanager
    async def changing(self, user_id: str) -> AsyncIterator[Vault]:
        """The user's vault, for a change: one at a time; after a failure it is read again from the index.

        Raises:
            Fault: VERSION_CONFLICT when another index took the place of this one meanwhile.
        """
        async with self._barrier.passing():
            if self._retired:
                raise Fault(Reason.VERSION_CONFLICT, "the index was renewed meanwhile: try again")
            async with self.locked(user_id) as vault:
                yield vault

    @asynccontextmanager
    async def locked(self, user_id: str) -> AsyncIterator[Vault]:
        """The same for whoever holds the barrier, or changes something beside the vault only."""
        lock = self._locks.setdefault(user_id, _CountedLock())
        lock.users += 1
        try:
            async with lock.lock:
                if self._shared:
                    await self._drop_if_outdated(user_id)
                vault = await self._held_or_loaded(user_id)
                try:
                    yield vault
                except BaseException:
                    self.drop(user_id)
                    raise
        finally:
            lock.users -= 1
            if not lock.users:
                self._locks.pop(user_id, None)

    async def _drop_if_outdated(self, user_id: str) -> None:
        vault = self._vaults.get(user_id)
        if vault is None:
            return
        known = vault.write_version
        stored = await self._index.write_version(user_id)
        if stored > known and self._vaults.get(user_id) is vault and vault.write_version == known:
            self.drop(user_id)

    def retire(self) -> None:
        """Refuse changes from now on; questions that began may still read."""
        self._retired = True

    async def adopt(self, former: Vaults, anew: AbstractSet[str]) -> None:
        """Hold in memory the users that `former` holds, as they are there; the vectors are this index's own.

        Users `anew` are read from the index. Nobody may change anything meanwhile.
        """
        for user_id, theirs in list(former.loaded().items()):
            mine = self._vaults.get(user_id)
            if mine is None or user_id in anew or len(mine) != len(theirs):
                self.drop(user_id)
                await self._held_or_loaded(user_id)
                continue
            for stored in theirs.blocks():
                mine.change(stored)
            mine.write_version = theirs.write_version
            self._forgotten[user_id] = dict(former._forgotten.get(user_id, {}))

    def drop(self, user_id: str) -> None:
        """Let go of a vault; the next reader loads it anew."""
        self._vaults.pop(user_id, None)
        self._forgotten.pop(user_id, None)

    def forgotten(self, user_id: str, block_id: str) -> Moment | None:
        """When this block was forgotten, if that is still remembered; the user's vault must be loaded."""
        return self._forgotten.get(user_id, {}).get(head_id(user_id, block_id))

    def mark_forgotten(self, user_id: str, block_ids: Sequence[str], moment: Moment) -> None:
        """Remember that blocks were forgotten."""
        marks = self._forgotten.setdefault(user_id, {})
        marks |= {head_id(user_id, block_id): moment for block_id in block_ids}

    def loaded(self) -> Mapping[str, Vault]:
        """The vaults that are in memory."""
        return self._vaults

    def indexed(self, vectors: FloatArray) -> FloatArray:
        """Raw passage vectors [n, d] as they are kept in memory: centred, unit length."""
        return centred(vectors, self._means.passage)

    async def _load(self, user_id: str) -> Vault:
        try:
            with Lasting.loading():
                loaded = await self._index.load(user_id)
                if user_id in self._vaults:  # a writer was faster, and knows more
                    return self._vaults[user_id]
                vault = self._assembled(user_id, loaded)
            self._make_room(len(vault))
            if len(vault) or loaded.write_version:
                self._vaults[user_id] = vault
                self._forgotten[user_id] = dict(loaded.forgotten)
            del loaded  # before what is there now is kept for good
            if len(vault) >= self._lasting_blocks:
                Lasting.keep()
            return vault
        finally:
            self._loading.pop(user_id, None)

    def keep(self, vault: Vault) -> None:
        """Keep a vault that was empty until now."""
        self._vaults[vault.user_id] = vault

    def _assembled(self, user_id: str, loaded: LoadedUser) -> Vault:
        vault = Vault(user_id, len(self._means.passage), loaded.write_version)
        raw = [one.dense["self"] for _, passages in loaded.blocks for one in passages]
        vectors = iter(self.indexed(np.stack(raw)) if raw else ())  # all at once: each call costs 0.1 ms
        for stored, passages in loaded.blocks:
            vault.put(stored, [IndexedPassage(next(vectors), dict(one.terms)) for one in passages])
        return vault

    def _make_room(self, more: int) -> None:
        held = sum(len(vault) for vault in self._vaults.values())
        for user_id in list(self._vaults):
            if held + more <= self._blocks_in_memory:
                return
            if user_id not in self._locks:
                held -= len(self._vaults[user_id])
                self.drop(user_id)


class _CountedLock:
    """A lock that knows whether somebody holds or waits for it, so that it can be let go."""

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.users = 0
