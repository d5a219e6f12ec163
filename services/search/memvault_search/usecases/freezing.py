"""Freezing (R-19), a part of the nightly loop: the summary is stored in the place of the text, then it is announced."""

from __future__ import annotations

from collections.abc import Sequence

from memvault_search.domain.block import StoredBlock
from memvault_search.domain.freezing import as_frozen, may_freeze
from memvault_search.domain.passages import PassageLimits, head_id
from memvault_search.domain.vault import Vault
from memvault_search.ports import Announcer, Clock
from memvault_search.settings import SearchSettings
from memvault_search.usecases.storing import Storing


class Freezing:
    """One object serves all users; the caller holds the user's lock."""

    def __init__(self, storing: Storing, announcer: Announcer, clock: Clock, settings: SearchSettings) -> None:
        self._storing = storing
        self._announcer = announcer
        self._clock = clock
        self._settings = settings
        self._limits = PassageLimits(settings.writing.passage_whole, settings.writing.passage_target)

    async def freeze(self, vault: Vault, chunk: Sequence[StoredBlock], run_id: str, *, most: int) -> int:
        """Freeze those of the blocks that may be, at most so many; returns how many.

        A block that this very run froze before it was cut off is announced again, so that nobody keeps its words.
        """
        numbers, now = self._settings.freezing, self._clock.now()
        chosen = [
            as_frozen(
                stored,
                numbers,
                self._limits,
                event_id=_event_id(run_id, stored),
                events_kept=self._settings.writing.event_ids_kept,
            )
            for stored in chunk
            if may_freeze(stored, numbers, self._settings.scoring, now)
        ][:most]
        if chosen:
            await self._storing.store(vault, chosen)
        again = [one for one in chunk if one.block.frozen and _event_id(run_id, one) in one.event_ids]
        for stored in [*chosen, *again]:
            await self._announcer.indexed(
                vault.get(stored.block.id) or stored,
                upsert_event_id=_event_id(run_id, stored),
                write_version=vault.write_version,
                changed=True,
            )
        return len(chosen)


def _event_id(run_id: str, stored: StoredBlock) -> str:
    """The same for the same block in the same night: what is told twice is stored once."""
    return f"{run_id}:frozen:{head_id(stored.block.user_id, stored.block.id)}"
