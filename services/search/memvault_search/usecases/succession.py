"""Marks statements that newer ones contradict (R-17a)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from datetime import datetime

from memvault_search.domain.block import Block, StoredBlock
from memvault_search.domain.vault import Vault
from memvault_search.usecases.saving import Saving


class Succession:
    """Keeps `superseded_by` and `valid_to` right around blocks that were written."""

    def __init__(self, saving: Saving, single_valued: AbstractSet[str]) -> None:
        """`single_valued`: folded predicates that have one object at a time."""
        self._saving = saving
        self._single_valued = single_valued

    async def settle(self, vault: Vault, block_ids: Iterable[str]) -> int:
        """Look at all blocks that share a topic with these, and save the marks that changed.

        Returns how many changed. Done again it changes nothing, so a write cut off in the middle is mended
        when it is delivered again.
        """
        affected: set[str] = set()
        for block_id in block_ids:
            stored = vault.get(block_id)
            if stored is not None:
                affected |= vault.statements.sharing(stored.block, self._single_valued)
        changed = [
            replaced for block_id in sorted(affected) if (replaced := self._settled(vault, block_id)) is not None
        ]
        await self._saving.save(vault, changed)
        return len(changed)

    async def settle_affected(self, vault: Vault, gone: Iterable[StoredBlock]) -> int:
        """The same for the blocks that were marked with one that is gone now."""
        names = {one.block.id for one in gone}
        marked = [one for one in vault.blocks() if one.block.superseded_by in names]
        await self._saving.save(vault, [_marked(one, "", None) for one in marked])
        return len(marked) + await self.settle(vault, [one.block.id for one in marked])

    async def give_up(self, vault: Vault, blocks: Sequence[StoredBlock], written_before: datetime) -> int:
        """Take away marks of blocks that never came, or were forgotten while nobody looked; returns how many.

        A block that was written later may still see its successor come.
        """
        stale = [one for one in blocks if awaits_its_successor(vault, one.block) and one.written.time < written_before]
        await self._saving.save(vault, [_marked(one, "", None) for one in stale])
        await self.settle(vault, [one.block.id for one in stale])
        return len(stale)

    def _settled(self, vault: Vault, block_id: str) -> StoredBlock | None:
        stored = vault.get(block_id)
        if stored is None or awaits_its_successor(vault, stored.block):
            return None
        found = vault.statements.succession(stored.block, self._single_valued)
        if found.superseded_by == stored.block.superseded_by:
            return None
        return _marked(stored, found.superseded_by, found.valid_to)


def awaits_its_successor(vault: Vault, block: Block) -> bool:
    """Whether a block is marked with one that is not here: it came out of an export, and its successor will follow.

    A mark of a block that was forgotten is taken away at once (`settle_affected`), and one that nobody came for by the
    nightly loop (`give_up`).
    """
    return bool(block.superseded_by) and vault.get(block.superseded_by) is None


def _marked(stored: StoredBlock, superseded_by: str, valid_to: datetime | None) -> StoredBlock:
    block = replace(
        stored.block,
        superseded_by=superseded_by,
        valid_to=valid_to,
        version=stored.block.version + 1,
    )
    return replace(stored, block=block)
