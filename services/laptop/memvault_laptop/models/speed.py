"""How fast models are on this machine, beside the packaged encoder. Whatever else runs here is measured too."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from memvault_laptop.models.sanity import WITHIN_S, reading_of
from memvault_rerank.app import RunningModel
from memvault_search.adapters.embedder_means import generic_texts
from memvault_search.ports import RunningEmbedder

LANGUAGES = ("en", "zh")


@dataclass(frozen=True, slots=True)
class EmbedderSpeed:
    """Figures of one encoder: per second, and milliseconds of single queries."""

    id: str
    load_s: float
    documents_per_s: float
    queries_per_s: float
    query_p50_ms: float
    query_p95_ms: float


@dataclass(frozen=True, slots=True)
class RerankerSpeed:
    """Figures of one reranker over lists of `documents`: milliseconds of a list, and documents per second."""

    name: str
    load_s: float
    documents: int
    list_p50_ms: float
    list_p95_ms: float
    documents_per_s: float


async def embedder_speed(embedder: RunningEmbedder, *, documents: int, queries: int) -> EmbedderSpeed:
    """Embed `documents` everyday sentences in one call, then `queries` one by one; starts and stops the embedder."""
    begin = time.perf_counter()
    await embedder.start()
    try:
        load_s = time.perf_counter() - begin
        begin = time.perf_counter()
        await embedder.embed(_repeated("passage", documents), "passage")
        documents_per_s = documents / (time.perf_counter() - begin)
        waits = [await _timed(embedder, query) for query in _repeated("query", queries)]
    finally:
        await embedder.stop()
    p50, p95 = np.percentile(waits, (50, 95)) * 1000.0
    return EmbedderSpeed(embedder.id, load_s, documents_per_s, queries / sum(waits), float(p50), float(p95))


async def reranker_speed(
    model: RunningModel, embedder: RunningEmbedder | None, *, documents: int, lists: int
) -> RerankerSpeed:
    """Score `lists` lists one by one; `embedder` makes token vectors where the model reads those."""
    if embedder is not None:
        await embedder.start()
    try:
        queries, texts = _repeated("query", lists), _repeated("passage", documents)
        readings = [await reading_of(query, texts, embedder) for query in queries]
    finally:
        if embedder is not None:
            await embedder.stop()
    begin = time.perf_counter()
    await model.start()
    try:
        load_s = time.perf_counter() - begin
        waits: list[float] = []
        for reading in readings:
            begin = time.perf_counter()
            await model.score(reading, within_s=WITHIN_S)
            waits.append(time.perf_counter() - begin)
    finally:
        await model.stop()
    p50, p95 = np.percentile(waits, (50, 95)) * 1000.0
    return RerankerSpeed(model.name, load_s, documents, float(p50), float(p95), documents * lists / sum(waits))


async def _timed(embedder: RunningEmbedder, query: str) -> float:
    begin = time.perf_counter()
    await embedder.embed([query], "query")
    return time.perf_counter() - begin


def _repeated(kind: str, count: int) -> Sequence[str]:
    """That many texts, both languages in turn; repeated ones get a number, so that none is the same."""
    own = [generic_texts("query" if kind == "query" else "passage", language) for language in LANGUAGES]
    turns = [text for pair in zip(*own, strict=True) for text in pair]
    return [f"{turns[at % len(turns)]} {at // len(turns)}" for at in range(count)]
