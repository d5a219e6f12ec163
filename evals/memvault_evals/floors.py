"""What a recall cannot do without, measured in this process: encoding the question, and one raw hybrid query."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from memvault.runtime.settings import load
from memvault.text import search_tokens
from memvault.vectors import CollectionSpec, DenseSpec, Eq, FieldKind, Point, RankerQuery, SparseVector
from memvault.vectors.edge import EdgeStore
from memvault_search.adapters.embedder_e5 import open_embedder
from memvault_search.ports import RunningEmbedder
from memvault_search.settings import EmbedderSettings

FloatArray = NDArray[np.float32]
_COLLECTION = "floor"
_DEPTH = 100
_FLUSH_S = 3600.0
_BATCH = 64
_USER = "floor"
_VIEWS = ("self", "context")


class Floor:
    """The product's own encoder without a cache, and the product's own engine holding the same vectors."""

    def __init__(self, encoder: RunningEmbedder, store: EdgeStore) -> None:
        self._encoder, self._store = encoder, store

    @classmethod
    async def build(cls, folder: Path, models: Path, blocks: Sequence[Mapping[str, Any]]) -> Floor:
        """Encode the blocks and fill the store; takes about 15 ms a block on an idle core."""
        settings = load("search.embedder", EmbedderSettings, environ={})
        encoder = open_embedder(settings.model_copy(update={"models": str(models)}), folder)
        await encoder.start()
        store = EdgeStore(folder, flush_every_s=_FLUSH_S)
        await store.ensure(
            CollectionSpec(
                _COLLECTION,
                dense={view: DenseSpec(encoder.dimension) for view in _VIEWS},
                sparse=tuple(f"{view}_words" for view in _VIEWS),
                fields={"user_id": FieldKind.KEYWORD},
            )
        )
        texts = [str(block["text"]) for block in blocks]
        vectors = np.concatenate(
            [(await encoder.embed(texts[at : at + _BATCH], "passage")).vectors for at in range(0, len(texts), _BATCH)]
        )
        await store.upsert(_COLLECTION, [_point(number, texts, vectors) for number in range(len(texts))])
        await store.flush()
        return cls(encoder, store)

    async def stop(self) -> None:
        """Let go of both."""
        await self._encoder.stop()
        await self._store.close()

    async def embed(self, question: str) -> FloatArray:
        """Encode a question: float32 [dimension]."""
        found: FloatArray = (await self._encoder.embed([question], "query")).vectors[0]
        return found

    async def query(self, question: str, vector: FloatArray, views: Sequence[str] = ("self",)) -> int:
        """Ask for the best 100 by meaning and the best 100 by words, per view; returns how many were found."""
        words = _words([question])
        own = Eq("user_id", _USER)
        rankers = [
            RankerQuery(f"{kind}_{view}", name, asked, _DEPTH, own)
            for view in views
            for kind, name, asked in (("dense", view, vector), ("sparse", f"{view}_words", words))
        ]
        return sum(len(hits) for hits in (await self._store.query_batch(_COLLECTION, rankers)).values())


def _point(number: int, texts: Sequence[str], vectors: FloatArray) -> Point:
    near = slice(max(0, number - 1), number + 2)
    around = vectors[near].mean(axis=0)
    return Point(
        str(uuid.uuid5(uuid.NAMESPACE_OID, str(number))),
        {"user_id": _USER},
        dense={"self": vectors[number], "context": around / np.linalg.norm(around)},
        sparse={"self_words": _words([texts[number]]), "context_words": _words(texts[near])},
    )


def _words(texts: Sequence[str]) -> SparseVector:
    counts = Counter(crc32(token.encode()) for text in texts for token in search_tokens(text))
    terms = sorted(counts)
    return SparseVector(np.array(terms, np.uint32), np.array([counts[one] for one in terms], np.float32))
