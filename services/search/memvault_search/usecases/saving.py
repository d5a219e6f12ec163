"""Saving what changes on blocks without their text, safely beside another replica."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from memvault.faults import Fault, Reason
from memvault_search.domain.block import StoredBlock
from memvault_search.domain.vault import Vault
from memvault_search.ports import BlockIndex

Change = Callable[[StoredBlock], StoredBlock | None]
"""Returns the block as it shall be, or None when there is nothing to change."""


class Saving:
    """Writes the mutable part of blocks by compare-and-set on their revision."""

    def __init__(self, index: BlockIndex) -> None:
        self._index = index

    async def save(self, vault: Vault, changed: Sequence[StoredBlock]) -> None:
        """Save blocks that were made from the vault's own.

        Raises:
            Fault: VERSION_CONFLICT when another replica was faster; the vault is then read again by the
                retry, because the change that failed drops it.
        """
        if not changed:
            return
        next_ones = [replace(one, revision=one.revision + 1) for one in changed]
        lost = await self._index.save(vault.user_id, next_ones)
        for one in next_ones:
            if one.block.id not in lost:
                vault.change(one)
        if lost:
            raise Fault(Reason.VERSION_CONFLICT, f"{len(lost)} blocks were changed meanwhile: try again")

    async def apply(self, vault: Vault, block_ids: Iterable[str], change: Change) -> int:
        """Change those of the blocks that exist; returns how many changed."""
        changed: list[StoredBlock] = []
        for block_id in dict.fromkeys(block_ids):
            stored = vault.get(block_id)
            replaced = None if stored is None else change(stored)
            if replaced is not None:
                changed.append(replaced)
        await self.save(vault, changed)
        return len(changed)
