"""Putting blocks into the index: encoded in both views, stored with their passages, taken over by the vault.

What it is done for: a write, or freezing, which is a write of the summary in the place of the text.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

import numpy as np

from memvault_search.domain.block import NEAR_COPY_TAG, StoredBlock
from memvault_search.domain.contexts import Contexts, touched
from memvault_search.domain.vault import IndexedPassage, Vault
from memvault_search.ports import BlockIndex, PassageVectors
from memvault_search.settings import SearchSettings
from memvault_search.usecases.encoding import Encoder, terms_of
from memvault_search.usecases.vaults import Vaults


class Storing:
    """One object serves all users; the caller holds the user's lock."""

    def __init__(self, vaults: Vaults, index: BlockIndex, encoder: Encoder, settings: SearchSettings) -> None:
        self._vaults = vaults
        self._index = index
        self._encoder = encoder
        self._settings = settings

    async def store(self, vault: Vault, fresh: list[StoredBlock], *, tags_kept: AbstractSet[str] = frozenset()) -> None:
        """Store blocks that are new or have another text than before, and renew what their neighbours say of them.

        Passages of an older text are removed. It returns after all of it survives a kill.

        Args:
            vault: of their user.
            fresh: each id once.
            tags_kept: ids of blocks out of an export: whether they are near-copies was decided when their likes came,
                and not by the order in which they come back.
        """
        old = [one for one in (vault.get(stored.block.id) for stored in fresh) if one is not None]
        gone = [one.block for one in old]
        come = [one.block for one in fresh]
        sessions = vault.sessions.preview(gone, come)
        pending = {one.block.id: one for one in fresh}
        contexts = Contexts(
            lambda block_id: pending.get(block_id) or vault.get(block_id),
            sessions,
            self._settings.writing.context_max_chars,
        )
        neighbours = touched(vault.sessions, sessions, gone, come)
        passages = await self._encoder.passages(vault, fresh, contexts)
        refreshed = await self._encoder.contexts_again(vault, neighbours, contexts)
        judged = self._near_copies_tagged(vault, fresh, passages)
        fresh = [told if told.block.id in tags_kept else new for told, new in zip(fresh, judged, strict=True)]
        kept = {one.point_id for stored in fresh for one in stored.passages}
        stale = [one.point_id for stored in old for one in stored.passages if one.point_id not in kept]
        version = vault.write_version + 1
        await self._index.rewrite(vault.user_id, refreshed)
        vault.write_version = await self._index.write(
            vault.user_id, fresh, passages, stale_points=stale, write_version=version
        )
        self._remember(vault, fresh, passages, refreshed)
        self._vaults.keep(vault)

    def _remember(
        self,
        vault: Vault,
        fresh: Sequence[StoredBlock],
        passages: Sequence[PassageVectors],
        refreshed: Sequence[PassageVectors],
    ) -> None:
        indexed = {
            one.passage.point_id: IndexedPassage(
                self._vaults.indexed(one.views["self"].dense),
                {view: terms_of(vectors) for view, vectors in one.views.items()},
            )
            for one in passages
        }
        for stored in fresh:
            vault.put(stored, [indexed[one.point_id] for one in stored.passages])
        for one in refreshed:
            context = one.views.get("context")
            vault.change_context(one.passage.point_id, None if context is None else terms_of(context))

    def _near_copies_tagged(
        self, vault: Vault, fresh: list[StoredBlock], passages: Sequence[PassageVectors]
    ) -> list[StoredBlock]:
        """Tag a block whose first passage is close to another's; it is stored all the same (R-60a)."""
        limit = self._settings.writing.near_copy_cosine
        first = {one.block.id: one.views["self"].dense for one in passages if one.passage.number == 0}
        vectors = self._vaults.indexed(np.stack([first[stored.block.id] for stored in fresh]))
        close = vault.closest(vectors, [stored.block.id for stored in fresh])
        earlier = np.tril(vectors @ vectors.T, -1).max(axis=1)
        tagged: list[StoredBlock] = []
        for stored, cosine in zip(fresh, np.maximum(close, earlier), strict=True):
            tags = tuple(tag for tag in stored.block.tags if tag != NEAR_COPY_TAG)
            if cosine > limit:
                tags = (*tags, NEAR_COPY_TAG)
            tagged.append(replace(stored, block=replace(stored.block, tags=tags)))
        return tagged
