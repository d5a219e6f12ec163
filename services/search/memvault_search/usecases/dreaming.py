"""Search's part of the nightly loop (R-36): freezing, tiers, BM25 averages, near-copies, old marks of the forgotten."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from time import perf_counter

from memvault_search.domain.block import NEAR_COPY_TAG, StoredBlock
from memvault_search.domain.contexts import Contexts
from memvault_search.domain.vault import Vault
from memvault_search.ports import Announcer, BlockIndex, Clock
from memvault_search.settings import SearchSettings
from memvault_search.usecases.encoding import Encoder
from memvault_search.usecases.freezing import Freezing
from memvault_search.usecases.saving import Saving
from memvault_search.usecases.succession import Succession
from memvault_search.usecases.vaults import Vaults
from memvault_search.usecases.writing import tier_of


@dataclass(frozen=True)
class Changing:
    """What the nightly loop changes blocks with."""

    freezing: Freezing
    succession: Succession
    saving: Saving


@dataclass
class _Night:
    """A run that is not at its end: the users that are done, and what changed of theirs."""

    done: set[str] = field(default_factory=set)
    changes: Counter[str] = field(
        default_factory=lambda: Counter(frozen=0, retiered=0, near_copies=0, reweighted=0, orphans=0)
    )


class Dreaming:
    """The use case. It works in small steps under the user's lock, and rests between them: questions go first."""

    def __init__(
        self,
        vaults: Vaults,
        index: BlockIndex,
        encoder: Encoder,
        changing: Changing,
        announcer: Announcer,
        clock: Clock,
        settings: SearchSettings,
    ) -> None:
        self._vaults = vaults
        self._index = index
        self._encoder = encoder
        self._freezing = changing.freezing
        self._succession = changing.succession
        self._saving = changing.saving
        self._announcer = announcer
        self._clock = clock
        self._settings = settings
        self._nights: dict[str, _Night] = {}

    async def dream(self, run_id: str, user_id: str) -> Mapping[str, int]:
        """Do the whole part for one user, or for all when `user_id` is empty, and announce what changed.

        Every step can be repeated. A run that was cut off goes on with the users that were not done when it is
        delivered again: a thousand of them may take longer than one delivery has. Another process begins anew.
        """
        began = perf_counter()
        night = self._nights.setdefault(run_id, _Night())
        for user in [user_id] if user_id else await self._index.users():
            if user not in night.done:
                night.changes.update(await self._of_user(user, run_id))
                night.done.add(user)
        keep = timedelta(days=self._settings.index.forgotten_kept_days)
        await self._index.drop_tombstones(self._clock.now() - keep)
        await self._announcer.dream_finished(run_id, night.changes, (perf_counter() - began) * 1000.0)
        self._nights.pop(run_id, None)
        return night.changes

    async def _of_user(self, user_id: str, run_id: str) -> Counter[str]:
        changes: Counter[str] = Counter()
        step = self._settings.writing.batch
        in_use = user_id in self._vaults.loaded()
        vault = await self._vaults.of(user_id)
        ids = [one.block.id for one in vault.blocks()]
        given_up = self._clock.now() - timedelta(days=self._settings.index.successor_wait_days)
        for start in range(0, len(ids), step):
            began = perf_counter()
            async with self._vaults.changing(user_id) as held:
                names = ids[start : start + step]
                left = self._settings.freezing.a_night - changes["frozen"]
                changes["frozen"] += await self._freezing.freeze(held, _present(held, names), run_id, most=left)
                await self._succession.give_up(held, _present(held, names), given_up)
                chunk = _present(held, names)
                changes.update(await self._of_blocks(held, chunk))
            await asyncio.sleep(self._settings.index.night_rest * (perf_counter() - began))
        changes["orphans"] += await self._drop_orphans(user_id)
        if not in_use:  # those who ask shall find their vaults in memory in the morning
            await self._put_back(user_id)
        return changes

    async def _of_blocks(self, vault: Vault, chunk: list[StoredBlock]) -> Counter[str]:
        changes: Counter[str] = Counter()
        changed: list[StoredBlock] = []
        for stored, tags in zip(chunk, self._tags(vault, chunk), strict=True):
            tier = tier_of(stored.block.confidence or 0.0, self._settings.scoring.tiers)
            changes["retiered"] += tier != stored.block.tier
            changes["near_copies"] += set(tags) != set(stored.block.tags)
            if tier != stored.block.tier or tags != stored.block.tags:
                changed.append(replace(stored, block=replace(stored.block, tier=tier, tags=tags)))
        await self._saving.save(vault, changed)
        contexts = Contexts(vault.get, vault.sessions, self._settings.writing.context_max_chars)
        places = [(stored, passage.number) for stored in chunk for passage in stored.passages]
        drift = self._settings.writing.average_drift
        again = await self._encoder.reweighted(vault, places, contexts, drift=drift)
        await self._index.rewrite(vault.user_id, again)
        changes["reweighted"] += len(again)
        return changes

    def _tags(self, vault: Vault, chunk: list[StoredBlock]) -> list[tuple[str, ...]]:
        """The tags of each block, with that of near-copies where it is one."""
        ids = [stored.block.id for stored in chunk]
        slots = [vault.slots_of(vault.require_row(one))[0] for one in ids]
        found = vault.nearest(vault.vectors_of(slots), ids)
        return [self._tags_of(vault, stored, *near) for stored, near in zip(chunk, found, strict=True)]

    def _tags_of(self, vault: Vault, stored: StoredBlock, close: float, name: str) -> tuple[str, ...]:
        tags = tuple(tag for tag in stored.block.tags if tag != NEAR_COPY_TAG)
        other = vault.get(name)
        is_later = other is not None and _is_later(stored, other)
        is_copy = is_later and close > self._settings.writing.near_copy_cosine
        if is_copy and NEAR_COPY_TAG in stored.block.tags:
            return stored.block.tags
        return (*tags, NEAR_COPY_TAG) if is_copy else tags

    async def _drop_orphans(self, user_id: str) -> int:
        """Passages that a write cut off in the middle left behind."""
        async with self._vaults.changing(user_id):
            orphans = await self._index.orphans(user_id)
            await self._index.drop_orphans(user_id, orphans)
        return len(orphans)

    async def _put_back(self, user_id: str) -> None:
        """Let go of a vault, when nobody is changing it."""
        async with self._vaults.changing(user_id):
            self._vaults.drop(user_id)


def _present(vault: Vault, block_ids: list[str]) -> list[StoredBlock]:
    return [one for one in map(vault.get, block_ids) if one is not None]


def _is_later(stored: StoredBlock, other: StoredBlock) -> bool:
    """Which of two is the copy. What was decided stays: an export comes back in another order (R-63)."""
    tagged = NEAR_COPY_TAG in stored.block.tags
    if tagged != (NEAR_COPY_TAG in other.block.tags):
        return tagged
    return _order(other) < _order(stored)


def _order(stored: StoredBlock) -> tuple[int, str]:
    return stored.written.sequence, stored.block.id
