"""Passages with invented vectors, queries with real ones: fills a vault of any size in little time, to measure speed.

What is found by meaning is left to chance; sizes, counts and the work of a recall are those of encoded passages. The
id says so, and an index made by another encoder refuses it: a real vault can never be mixed with invented vectors.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b

import numpy as np

from memvault_search.domain.embedding import (
    EmbeddedTexts,
    FloatArray,
    TextKind,
    TokenVectors,
    quantised_rows,
    unit_rows,
)
from memvault_search.ports import RunningEmbedder

PREFIX = "synthetic:"
CLUSTERS = 512
CLUSTER_SHARE = 0.6  # of a centred vector: two passages of a cluster have the cosine 0.36, of two clusters about 0
CHARS_PER_TOKEN = 2.75  # of the packaged encoder, over the invented vault of the bench


class SyntheticPassages:
    """Invents what a passage's content and a seed decide; asks the encoder behind for everything else."""

    def __init__(self, inner: RunningEmbedder, *, seed: int, token_limit: int) -> None:
        self._inner, self._seed, self._token_limit = inner, seed, token_limit
        self.id = f"{inner.id}+{PREFIX}{seed}"
        self.dimension = inner.dimension
        self.prefix_version = inner.prefix_version
        self.means = inner.means
        # as far from the encoder's mean as its own passages are on average
        self._spread = float(np.sqrt(1.0 - min(1.0, float(self.means.passage @ self.means.passage))))
        self._centre = lru_cache(maxsize=CLUSTERS)(self._made_centre)

    async def start(self) -> None:
        """Start the encoder behind, which embeds the queries."""
        await self._inner.start()

    async def stop(self) -> None:
        """Stop it."""
        await self._inner.stop()

    async def embed(
        self, texts: Sequence[str], kind: TextKind, *, token_vectors: bool = False, soon: bool = False
    ) -> EmbeddedTexts:
        """Embed queries for real; invent float32 [dimension] and, on request, token vectors for each passage.

        Raises:
            Fault: as the encoder behind, for queries only.
        """
        if kind == "query" or not texts:
            return await self._inner.embed(texts, kind, token_vectors=token_vectors, soon=soon)
        return await asyncio.to_thread(self._invented, texts, token_vectors)

    def _invented(self, texts: Sequence[str], token_vectors: bool) -> EmbeddedTexts:
        made = [self._one(text, token_vectors) for text in texts]
        return EmbeddedTexts(np.stack([vector for vector, _ in made]), tuple(tokens for _, tokens in made))

    def _one(self, text: str, token_vectors: bool) -> tuple[FloatArray, TokenVectors | None]:
        digest = blake2b(text.encode("utf-8", "surrogatepass"), key=str(self._seed).encode(), digest_size=16).digest()
        content = int.from_bytes(digest)
        chance = np.random.Generator(np.random.SFC64(content))
        own = unit_rows(chance.standard_normal(self.dimension, dtype=np.float32)[None, :])[0]
        around = CLUSTER_SHARE * self._centre(content % CLUSTERS) + np.sqrt(1.0 - CLUSTER_SHARE**2) * own
        vector: FloatArray = unit_rows((self.means.passage + self._spread * around)[None, :].astype(np.float32))[0]
        if not token_vectors:
            return vector, None
        count = int(np.clip(len(text) / CHARS_PER_TOKEN, 1, self._token_limit))
        noise = chance.standard_normal((count, self.dimension), dtype=np.float32)
        return vector, TokenVectors(quantised_rows(unit_rows(noise + around.astype(np.float32))))

    def _made_centre(self, cluster: int) -> FloatArray:
        chance = np.random.Generator(np.random.SFC64([self._seed, cluster]))
        centre: FloatArray = unit_rows(chance.standard_normal(self.dimension, dtype=np.float32)[None, :])[0]
        return centre
