"""Reading blocks as they are stored, and counting them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from itertools import islice

from memvault_search.domain.block import Block
from memvault_search.domain.intake import checked_user
from memvault_search.domain.selection import Selection
from memvault_search.ports import BlockIndex
from memvault_search.usecases.vaults import Vaults


@dataclass(frozen=True)
class Counts:
    """How much there is of one user, or of all; `largest`: blocks of the user who has most."""

    blocks: int
    passages: int
    users: int
    conversations: int
    write_version: int
    frozen: int
    largest: int


class Reading:
    """The use case; one object serves all users."""

    def __init__(self, vaults: Vaults, index: BlockIndex) -> None:
        self._vaults = vaults
        self._index = index

    async def read(self, user_id: str, block_ids: Sequence[str]) -> tuple[list[Block], int]:
        """The blocks of these ids, in the order asked for, unknown ones left out; and the write version."""
        vault = await self._vaults.of(checked_user(user_id))
        found = (vault.get(block_id) for block_id in block_ids)
        return [one.block for one in found if one is not None], vault.write_version

    async def pages(
        self, user_id: str, selection: Selection, size: int, *, after: str = "", limit: int | None = None
    ) -> AsyncIterator[list[Block]]:
        """Blocks of the selection in pages, ordered by id: those behind `after`, `limit` at most, None: all."""
        vault = await self._vaults.of(checked_user(user_id))
        behind = (one.block for one in vault.blocks(after=after) if selection.holds(one.block))
        chosen = list(islice(behind, limit))
        for start in range(0, len(chosen), size):
            yield chosen[start : start + size]

    async def count(self, user_id: str) -> Counts:
        """Count what is stored; an empty user means all."""
        if not user_id:
            blocks, passages, frozen = await self._index.count()
            users = len(await self._index.users())
            return Counts(blocks, passages, users, 0, 0, frozen, await self._index.largest())
        vault = await self._vaults.of(checked_user(user_id))
        held = [one.block for one in vault.blocks()]
        conversations = {one.conversation_id for one in held} - {""}
        frozen = sum(one.frozen for one in held)
        return Counts(len(vault), vault.passages, 1, len(conversations), vault.write_version, frozen, len(vault))
