"""Saving what changes on blocks without their text, safely beside another replica.

A change that a reader would see has raised the block's version: it raises the user's write version too, so that no
prepared answer shows the block as it was (R-54).
"""

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
        visible = False
        for one in next_ones:
            if one.block.id not in lost:
                visible = visible or _version(vault, one.block.id) != one.block.version
                vault.change(one)
        if visible:
            await self.announce_change(vault)
        if lost:
            raise Fault(Reason.VERSION_CONFLICT, f"{len(lost)} blocks were changed meanwhile: try again")

    async def announce_change(self, vault: Vault) -> None:
        """Raise the write version: what was prepared before is compared with the blocks again."""
        vault.write_version = await self._index.raise_version(vault.user_id, vault.write_version + 1)

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


def _version(vault: Vault, block_id: str) -> int:
    stored = vault.get(block_id)
    return 0 if stored is None else stored.block.version
