"""Remembers recent vectors by content, in front of any embedder."""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from memvault_search.domain.embedding import EmbeddedTexts, FloatArray, TextKind, TokenVectors, content_key
from memvault_search.ports import Embedder

ENTRY_OVERHEAD = 300  # bytes of Python objects around an entry, roughly


@dataclass(frozen=True, slots=True, eq=False)
class _Entry:
    vector: FloatArray
    tokens: TokenVectors | None

    @property
    def size(self) -> int:
        return ENTRY_OVERHEAD + self.vector.nbytes + (self.tokens.values.nbytes if self.tokens else 0)


class CachedEmbedder:
    """Least recently used texts are forgotten when the bytes are used up."""

    def __init__(self, inner: Embedder, *, max_bytes: int) -> None:
        self._inner, self._max_bytes = inner, max_bytes
        self.id, self.prefix_version = inner.id, inner.prefix_version
        self.dimension, self.means = inner.dimension, inner.means
        self._entries: OrderedDict[bytes, _Entry] = OrderedDict()
        self._bytes = 0
        self.hits = 0

    async def embed(
        self, texts: Sequence[str], kind: TextKind, *, token_vectors: bool = False, soon: bool = False
    ) -> EmbeddedTexts:
        """Embed only what is not remembered; equal texts of one call are embedded once."""
        keys = [content_key(text, kind) for text in texts]
        found = {key: entry for key in keys if (entry := self._recall(key, token_vectors=token_vectors))}
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in found}
        if missing:
            # a query's token vectors are small and nearly always wanted a moment later, by the reranker
            wanted = token_vectors or kind == "query"
            made = await self._inner.embed(list(missing.values()), kind, token_vectors=wanted, soon=soon)
            for key, vector, tokens in zip(missing, made.vectors, made.tokens, strict=True):
                found[key] = _Entry(vector.copy(), tokens)
                self._remember(key, found[key])
        if not keys:
            return EmbeddedTexts(np.zeros((0, self.dimension), np.float32), ())
        return EmbeddedTexts(
            np.stack([found[key].vector for key in keys]),
            tuple(found[key].tokens if token_vectors else None for key in keys),
        )

    def _recall(self, key: bytes, *, token_vectors: bool) -> _Entry | None:
        entry = self._entries.get(key)
        if entry is None or (token_vectors and entry.tokens is None):
            return None
        self._entries.move_to_end(key)
        self.hits += 1
        return entry

    def _remember(self, key: bytes, entry: _Entry) -> None:
        previous = self._entries.pop(key, None)
        self._bytes += entry.size - (previous.size if previous else 0)
        self._entries[key] = entry
        while self._bytes > self._max_bytes and self._entries:
            _, oldest = self._entries.popitem(last=False)
            self._bytes -= oldest.size
