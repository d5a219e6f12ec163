"""Vectors of archetypes and facet passages: made once per encoder, cached by content."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextvars import copy_context

import numpy as np
import structlog

from memvault.faults import Fault
from memvault_router.domain.operators.embedding import Archetype, ArchetypeIndex, centred, content_hash
from memvault_router.domain.state import Vector
from memvault_router.ports import ArchetypeCache, Encoder
from memvault_router.settings import Waits

_BATCH = 64
log = structlog.get_logger("memvault.router")


class ArchetypeShelf:
    """Holds what is encoded ahead for the encoder in use; empty until it could be made.

    `passages` are raw unit vectors, facet to the mean of its statements.
    """

    def __init__(
        self,
        archetypes: Sequence[Archetype],
        passages: Mapping[str, Sequence[str]],
        encoder: Encoder,
        cache: ArchetypeCache,
        waits: Waits,
    ) -> None:
        self._archetypes = tuple(archetypes)
        self._statements = passages
        self._encoder = encoder
        self._cache = cache
        self._waits = waits
        self._task: asyncio.Task[None] | None = None
        # what is begun by a question outlives it, and so must not have its deadline
        self._own = copy_context()
        self.index: ArchetypeIndex | None = None
        self.query_mean: Vector | None = None
        self.passages: Mapping[str, Vector] = {}

    async def start(self) -> None:
        """Make the index within the warm-up time; after that go on in the background."""
        self._task = asyncio.create_task(self._until_made(), name="router-archetypes")
        await asyncio.wait({self._task}, timeout=self._waits.warm_up_s)

    async def stop(self) -> None:
        """Stop trying."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def seen(self, encoder_id: str) -> None:
        """Start over when vectors arrive from another encoder than the index was made with."""
        outdated = self.index is not None and self.index.encoder_id != encoder_id
        if outdated and (self._task is None or self._task.done()):
            self.index = None
            self._task = asyncio.create_task(self._until_made(), name="router-archetypes", context=self._own)

    async def _until_made(self) -> None:
        while True:
            try:
                await self._make()
            except Fault as fault:
                log.info("archetypes_not_ready", reason=fault.reason, retry_s=self._waits.warm_up_retry_s)
                await asyncio.sleep(self._waits.warm_up_retry_s)
            else:
                return

    async def _make(self) -> None:
        facts = await self._encoder.describe()
        texts = [archetype.text for archetype in self._archetypes]
        rows = await self._vectors(facts.vectors_id, "query", texts)
        means = {}
        for facet, statements in self._statements.items():
            mean = (await self._vectors(facts.vectors_id, "passage", statements)).mean(axis=0)
            means[facet] = np.asarray(mean / np.linalg.norm(mean), np.float32)
        self.query_mean, self.passages = facts.query_mean, means
        self.index = ArchetypeIndex(facts.encoder_id, self._archetypes, centred(rows, facts.query_mean))
        log.info("archetypes_ready", encoder=facts.encoder_id, archetypes=len(self._archetypes))

    async def _vectors(self, vectors_id: str, kind: str, texts: Sequence[str]) -> Vector:
        """Return one raw row per text, from the cache where it has them."""
        wanted = {content_hash(kind, text): text for text in texts}
        known = await self._cached(vectors_id, list(wanted))
        missing = [key for key in wanted if key not in known]
        for start in range(0, len(missing), _BATCH):
            keys = missing[start : start + _BATCH]
            made = await self._encoder.encode([wanted[key] for key in keys], kind)
            fresh = dict(zip(keys, made.vectors, strict=True))
            known.update(fresh)
            await self._keep(vectors_id, fresh)
        return np.stack([known[content_hash(kind, text)] for text in texts])

    async def _cached(self, vectors_id: str, keys: list[str]) -> dict[str, Vector]:
        try:
            return dict(await self._cache.load(vectors_id, keys))
        except Fault as fault:
            log.info("archetype_cache_unreachable", reason=fault.reason)
            return {}

    async def _keep(self, vectors_id: str, vectors: dict[str, Vector]) -> None:
        try:
            await self._cache.keep(vectors_id, vectors)
        except Fault as fault:
            log.info("archetype_cache_unreachable", reason=fault.reason)
