"""Qdrant's engine with its own reciprocal rank fusion of a dense and a sparse list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from zlib import crc32

import qdrant_edge as engine

from memvault_evals.peers.runners.e5 import Encoder
from memvault_evals.peers.runners.floor_words import saturated, words
from memvault_evals.peers.runners.serving import serve

DENSE, SPARSE = "dense", "words"
DEPTH = 100  # of each list
RANK_CONSTANT = 2  # what a Qdrant server takes when a query names none


class QdrantRrf:
    """A shard in this process; the engine counts the IDF, fuses the lists and ranks."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._encoder = Encoder(Path(settings["models"]), Path(settings["kept"]) if settings["kept"] else None)
        self._shard: engine.EdgeShard | None = None
        self._ids: list[str] = []

    def fill(self, folder: Path, blocks: Sequence[Mapping[str, str]]) -> None:
        """Write both vectors of every block into a new shard."""
        if self._shard is not None:
            self._shard.close()
        shard = engine.EdgeShard.create(str(folder), self._config())
        texts = [block["text"] for block in blocks]
        vectors = self._encoder.passages(texts)
        points = [
            engine.Point(number, {DENSE: vector.tolist(), **({SPARSE: _sparse(weights)} if weights else {})}, {})
            for number, (vector, weights) in enumerate(
                zip(vectors, saturated([words(text) for text in texts]), strict=True)
            )
        ]
        shard.update(engine.UpdateOperation.upsert_points(points))
        self._ids, self._shard = [block["id"] for block in blocks], shard

    def ask(self, question: str, depth: int) -> list[str]:
        """Let the engine fuse the best of both lists."""
        if self._shard is None:
            raise RuntimeError("fill comes before ask")
        vector = self._encoder.queries([question])[0]
        asked: list[tuple[Any, str]] = [(vector.tolist(), DENSE)]
        if told := dict.fromkeys(words(question), 1.0):
            asked.append((_sparse(told), SPARSE))
        lists = [engine.Prefetch(limit=DEPTH, query=engine.Query.Nearest(one, using=name)) for one, name in asked]
        fusion: Any = engine.Fusion.Rrf(RANK_CONSTANT)
        found = self._shard.query(engine.QueryRequest(limit=depth, prefetches=lists, query=fusion))
        return [self._ids[int(str(point.id))] for point in found]

    def _config(self) -> engine.EdgeConfig:
        return engine.EdgeConfig(
            vectors={DENSE: engine.EdgeVectorParams(size=self._encoder.dimension, distance=engine.Distance.Cosine)},
            sparse_vectors={SPARSE: engine.EdgeSparseVectorParams(modifier=engine.Modifier.Idf)},
        )


def _sparse(weights: Mapping[str, float]) -> engine.SparseVector:
    by_number: dict[int, float] = {}
    for word, weight in weights.items():
        number = crc32(word.encode())
        by_number[number] = by_number.get(number, 0.0) + weight
    terms = sorted(by_number)
    return engine.SparseVector(terms, [by_number[term] for term in terms])


if __name__ == "__main__":
    serve(QdrantRrf)
