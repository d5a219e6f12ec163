"""Filling the next index beside the one that answers: what it lacks is encoded, what it has is kept.

There is no list of what is done: each passage bears a hash of what it was built from, and is built when that differs.
So a run that was cut off goes on where it stopped, and a further round finds just what was written meanwhile.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from memvault_search.domain.block import StoredBlock
from memvault_search.domain.contexts import Contexts
from memvault_search.domain.vault import Vault
from memvault_search.ports import BlockIndex, NextIndex
from memvault_search.settings import SearchSettings
from memvault_search.usecases.encoding import Encoder
from memvault_search.usecases.vaults import Vaults


@dataclass
class Progress:
    """Blocks looked at in the round that runs, of how many; passages built in all rounds."""

    done: int = 0
    total: int = 0
    built: int = 0


class Reindexing:
    """One run from one index to the next."""

    def __init__(
        self, vaults: Vaults, index: BlockIndex, following: NextIndex, encoder: Encoder, settings: SearchSettings
    ) -> None:
        """`vaults` and `index` are those that answer; `encoder` makes what `following` holds."""
        self._vaults = vaults
        self._index = index
        self._following = following
        self._encoder = encoder
        self._batch = settings.writing.batch
        self._max_chars = settings.writing.context_max_chars
        self._seen: dict[str, int] = {}
        self.progress = Progress()

    async def round(self) -> set[str]:
        """Bring over all that changed since the last round; the users of whom something did.

        Questions and writes go on meanwhile: a user's lock is held only while what was encoded is stored.
        """
        changed: set[str] = set()
        users = await self._index.users()
        self.progress.done = self.progress.total = 0
        for user_id in users:
            self.progress.total += len(await self._vaults.of(user_id))
        for user_id in users:
            vault = await self._vaults.of(user_id)
            version = vault.write_version
            if self._seen.get(user_id) != version:
                changed.add(user_id)
                await self._user(user_id)
                self._seen[user_id] = version
            else:
                self.progress.done += len(vault)
        return changed

    async def _user(self, user_id: str) -> None:
        known = await self._following.sources(user_id)
        vault = await self._vaults.of(user_id)
        ids = [one.block.id for one in vault.blocks()]
        for start in range(0, len(ids), self._batch):
            names = ids[start : start + self._batch]
            vault = await self._vaults.of(user_id)
            contexts = self._contexts(vault)
            stale = [
                stored
                for stored in map(vault.get, names)
                if stored is not None
                and any(known.get(id_) != source for id_, source in self._encoder.sources(stored, contexts).items())
            ]
            if stale:
                await self._build(vault, stale, contexts)
            self.progress.done += len(names)
            await asyncio.sleep(0)
        async with self._vaults.locked(user_id) as held:
            gone = [one for one in await self._following.sources(user_id) if one not in held.places]
            await self._following.drop_orphans(user_id, gone)

    async def _build(self, vault: Vault, stale: Sequence[StoredBlock], contexts: Contexts) -> None:
        passages = await self._encoder.passages(vault, stale, contexts)
        sources = {id_: source for one in stale for id_, source in self._encoder.sources(one, contexts).items()}
        async with self._vaults.locked(vault.user_id) as held:
            # What was written or forgotten while this was encoded is no longer so; a write comes in the next round.
            now = self._contexts(held)
            current = {
                id_: source
                for stored in (held.get(one.block.id) for one in stale)
                if stored is not None
                for id_, source in self._encoder.sources(stored, now).items()
            }
            whole = [one for one in passages if current.get(one.passage.point_id) == sources[one.passage.point_id]]
            await self._following.build(vault.user_id, whole, sources)
            self.progress.built += len(whole)

    def _contexts(self, vault: Vault) -> Contexts:
        return Contexts(vault.get, vault.sessions, self._max_chars)
