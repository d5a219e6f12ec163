"""Forgetting (R-62): out of the vectors, the words, the neighbours' context views and the memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from memvault.faults import Fault, Reason
from memvault_search.domain.block import StoredBlock
from memvault_search.domain.contexts import Contexts, touched
from memvault_search.domain.intake import checked_user
from memvault_search.domain.moment import Moment
from memvault_search.domain.selection import Selection
from memvault_search.domain.vault import Vault
from memvault_search.ports import Announcer, BlockIndex, Clock, PassageVectors
from memvault_search.settings import SearchSettings
from memvault_search.usecases.encoding import Encoder, terms_of
from memvault_search.usecases.succession import Succession
from memvault_search.usecases.vaults import Vaults


@dataclass(frozen=True)
class Forgotten:
    """Ids of the blocks that were removed."""

    block_ids: tuple[str, ...]
    write_version: int


class Forgetting:
    """The use case; one object serves all users."""

    def __init__(
        self,
        vaults: Vaults,
        index: BlockIndex,
        encoder: Encoder,
        succession: Succession,
        announcer: Announcer,
        clock: Clock,
        settings: SearchSettings,
    ) -> None:
        self._vaults = vaults
        self._index = index
        self._encoder = encoder
        self._succession = succession
        self._announcer = announcer
        self._clock = clock
        self._max_chars = settings.writing.context_max_chars

    async def forget(
        self,
        user_id: str,
        *,
        block_ids: Sequence[str] = (),
        selection: Selection | None = None,
        whole_user: bool = False,
    ) -> Forgotten:
        """Remove blocks now; exactly one of the three ways to name them.

        The fact is published first: from then on every part of the house will remove them, also if this
        process dies before it did.
        """
        checked_user(user_id)
        if (bool(block_ids), selection is not None, whole_user).count(True) != 1:
            raise Fault(Reason.FIELD_INVALID, "give exactly one of block_ids, filters and whole_user")
        if selection is not None and selection.is_open:
            raise Fault(Reason.FIELD_INVALID, "an empty filter would forget everything: give whole_user instead")
        vault = await self._vaults.of(user_id)
        chosen = self._chosen(vault, block_ids, selection, whole_user=whole_user)
        held = [block_id for block_id in chosen if vault.get(block_id) is not None]
        tags = () if whole_user else _vanishing(vault, chosen, () if selection is None else selection.tags)
        sequence = await self._announcer.forgotten(user_id, chosen, tags, whole_user=whole_user)
        moment = Moment(sequence, self._clock.now())
        applied = await self.apply(user_id, chosen, moment, whole_user=whole_user)
        # The published fact may come back over the bus and be applied before this task goes on.
        left = await self._vaults.of(user_id)
        gone = {*applied.block_ids, *(block_id for block_id in held if left.get(block_id) is None)}
        return replace(applied, block_ids=tuple(block_id for block_id in chosen if block_id in gone))

    async def apply(self, user_id: str, block_ids: Sequence[str], moment: Moment, *, whole_user: bool) -> Forgotten:
        """Remove what a published fact names; blocks written after it stay."""
        async with self._vaults.changing(user_id) as vault:
            if whole_user:
                return await self._forget_user(vault, moment)
            named = (vault.get(block_id) for block_id in dict.fromkeys(block_ids))
            gone = [one for one in named if one is not None and not moment.is_before(one.written)]
            if gone or not await self._known(vault, block_ids, moment):
                self._vaults.mark_forgotten(user_id, block_ids, moment)
                await self._remove(vault, gone, block_ids, moment)
            return Forgotten(tuple(one.block.id for one in gone), vault.write_version)

    async def _known(self, vault: Vault, block_ids: Sequence[str], moment: Moment) -> bool:
        """Whether this fact was applied before, as search's own facts are when they come back over the bus."""
        whole = None if len(vault) else await self._index.user_forgotten(vault.user_id)
        marks = [whole or self._vaults.forgotten(vault.user_id, block_id) for block_id in block_ids]
        return all(mark is not None and mark.sequence >= moment.sequence for mark in marks)

    async def _forget_user(self, vault: Vault, moment: Moment) -> Forgotten:
        earlier = await self._index.user_forgotten(vault.user_id)
        blocks = vault.blocks()
        if earlier is not None and (moment.sequence == earlier.sequence or moment.is_before(earlier)):
            return Forgotten((), vault.write_version)
        newer = [one for one in blocks if moment.is_before(one.written)]
        if newer:
            gone = [one for one in blocks if not moment.is_before(one.written)]
            # What comes late of the time before must find the mark, though the user began anew meanwhile.
            await self._index.mark_user_forgotten(vault.user_id, moment, write_version=vault.write_version)
            await self._remove(vault, gone, [one.block.id for one in gone], moment)
            return Forgotten(tuple(one.block.id for one in gone), vault.write_version)
        version = vault.write_version + 1
        await self._index.remove_user(vault.user_id, forgotten=moment, write_version=version)
        self._vaults.drop(vault.user_id)
        return Forgotten(tuple(one.block.id for one in blocks), version)

    async def _remove(self, vault: Vault, gone: list[StoredBlock], named: Sequence[str], moment: Moment) -> None:
        blocks = [one.block for one in gone]
        names = {block.id for block in blocks}
        sessions = vault.sessions.preview(blocks, [])
        contexts = Contexts(
            lambda block_id: None if block_id in names else vault.get(block_id),
            sessions,
            self._max_chars,
        )
        neighbours = touched(vault.sessions, sessions, blocks, [])
        refreshed = await self._encoder.contexts_again(vault, neighbours, contexts)
        version = vault.write_version + 1 if gone else vault.write_version
        await self._index.rewrite(vault.user_id, refreshed)
        vault.write_version = await self._index.remove(
            vault.user_id, gone, named=named, forgotten=moment, write_version=version
        )
        for stored in gone:
            vault.remove(stored.block.id)
        _renew_contexts(vault, refreshed)
        await self._succession.settle_affected(vault, gone)

    @staticmethod
    def _chosen(vault: Vault, block_ids: Sequence[str], selection: Selection | None, *, whole_user: bool) -> list[str]:
        if selection is not None:
            return [one.block.id for one in vault.blocks() if selection.holds(one.block)]
        if whole_user:
            return [one.block.id for one in vault.blocks()]
        return list(dict.fromkeys(block_ids))


def _vanishing(vault: Vault, chosen: Sequence[str], named: Sequence[str]) -> list[str]:
    """Labels of the chosen blocks, and those they were named by, that no other block has: they go from the profile."""
    gone = set(chosen)
    held = (vault.get(block_id) for block_id in gone)
    going = {*named, *(tag for one in held if one is not None for tag in one.block.tags)}
    if going:  # or nobody else's labels need to be looked through
        going.difference_update(tag for one in vault.blocks() if one.block.id not in gone for tag in one.block.tags)
    return sorted(going)


def _renew_contexts(vault: Vault, refreshed: Sequence[PassageVectors]) -> None:
    for one in refreshed:
        context = one.views.get("context")
        vault.change_context(one.passage.point_id, None if context is None else terms_of(context))
