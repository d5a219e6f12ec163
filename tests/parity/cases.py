"""The cases that adapters are compared on, and what the reference says of them."""

from pathlib import Path

import numpy as np

from memvault.runtime.settings import load
from memvault_search.settings import EmbedderSettings
from tests.parity.reference import Tiny, clipped, embedding, listwise, yes_share

FOLDER = Path(__file__).parent / "tiny_qwen3"
EXPECTED = Path(__file__).parent / "expected.npz"

LONGEST = 512  # tokens that the embedder and the pointwise reranker read
DIMENSIONS = (32, 8)
BLOCK, DOCUMENT_TOKENS, QUERY_TOKENS = 16, 256, 64
SENTENCE = "Ann 上週把 OCR 模組改完了，week 3 的報表 is still open. "
QUERIES = ("上週那個 OCR 做到哪了", "Where did I put the spare key?", "")
DOCUMENTS = (
    "OCR 模組上週已經可以辨識直排中文。",
    "The spare key is under the blue flower pot.",
    "",
    "Résumé, naïve, 全形ＡＢＣ and an emoji 🙂",
    "a\n\nb  \t c",
    (SENTENCE * 300)[:10_000],
)


def numbers(home: Path, dimension: int = 32, batch_tokens: int = 4096) -> EmbedderSettings:
    """Section `search.embedder` for the tiny model."""
    settings = load("search.embedder", EmbedderSettings, home=home, environ={})
    own = {"dimension": dimension, "longest": LONGEST, "batch_tokens": batch_tokens}
    return settings.model_copy(update={"kind": "qwen3", "qwen3": settings.qwen3.model_copy(update=own)})


def many(count: int) -> list[str]:
    """That many short documents, each different."""
    return [f"note {number}: {'金鑰' if number % 3 else 'key'} {number * 7 % 11}" for number in range(count)]


def blocks_of(documents: list[str], size: int) -> list[list[str]]:
    """Documents in blocks of at most `size`."""
    return [documents[begin : begin + size] for begin in range(0, len(documents), size)]


LISTS = {"one": many(1), "block": many(BLOCK), "block_and_one": many(BLOCK + 1), "two_hundred": many(200)}


def computed(tiny: Tiny) -> dict[str, np.ndarray]:
    """Everything that is stored, by the reference."""
    values: dict[str, np.ndarray] = {}
    for dimension in DIMENSIONS:
        for kind, texts in (("query", QUERIES), ("passage", DOCUMENTS)):
            rows = [embedding(text, kind, tiny, dimension=dimension, longest=LONGEST) for text in texts]
            values[f"embedding_{kind}_{dimension}"] = np.stack(rows)
    values["yes"] = np.array(
        [[yes_share(query, text, tiny, longest=LONGEST) for text in DOCUMENTS] for query in QUERIES]
    )
    short = [clipped(text, DOCUMENT_TOKENS, tiny) for text in DOCUMENTS]
    values["listwise_mixed"] = np.stack([listwise(query, [short], tiny) for query in QUERIES])
    long_query = clipped(DOCUMENTS[-1], QUERY_TOKENS, tiny)
    values["listwise_long_query"] = listwise(long_query, [short], tiny)
    for name, documents in LISTS.items():
        values[f"listwise_{name}"] = listwise(QUERIES[1], blocks_of(documents, BLOCK), tiny)
    return values
