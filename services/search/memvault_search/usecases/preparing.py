"""Which blocks a prepared answer is scored over again (R-54): its candidates, and what was written since."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memvault_search.domain.intake import checked_user
from memvault_search.usecases.vaults import Vaults


class Preparing:
    """The use case; one object serves all users."""

    def __init__(self, vaults: Vaults, *, newer_at_most: int) -> None:
        """`newer_at_most`: blocks written since that join, the newest first."""
        self._vaults = vaults
        self._newer_at_most = newer_at_most

    async def pool(
        self, user_id: str, block_ids: Sequence[str], kept: Mapping[str, int], *, since: int
    ) -> tuple[list[str], list[str]]:
        """Ids to score, and ids of kept candidates whose block changed or is gone.

        `kept` maps a prepared answer's candidates to the versions they had; without any, nothing joins.
        """
        if not kept:
            return list(block_ids), []
        vault = await self._vaults.of(checked_user(user_id))
        changed: list[str] = []
        for block_id, version in kept.items():
            stored = vault.get(block_id)
            if stored is None or stored.block.version != version:
                changed.append(block_id)
        newer = [one for one in vault.blocks() if one.write_version >= since] if vault.write_version > since else []
        newer.sort(key=lambda one: (-one.write_version, one.block.id))
        joined = [one.block.id for one in newer[: self._newer_at_most]]
        return list(dict.fromkeys([*block_ids, *kept, *joined])), changed
