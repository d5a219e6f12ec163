"""Whether this machine's processor rounds as those did on which answers and vectors were recorded."""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b
from pathlib import Path

from numpy._core._multiarray_umath import __cpu_features__

from memvault_search.adapters.e5_encoder import E5Encoder
from memvault_search.adapters.e5_unpack import unpack

TEXTS = (
    "The river rose two metres overnight.",
    "上週那個 OCR 做到哪了？",
    "我們把週會從星期一改到星期四，because half the team travels.",
    "Q3-報表 v2.4.1 at 10.0.0.5:8080 " * 8,
)
RECORDED = "d2eb14317a8ebb8a"
"""Of the vectors of `TEXTS`, the same on every x86-64 processor with AVX2 and FMA (docs/decisions/0038)."""

LIKE_RECORDED = bool(__cpu_features__.get("AVX2") and __cpu_features__.get("FMA3"))
ANOTHER = "without AVX2 and FMA processors round otherwise than where the answers were recorded (docs/decisions/0038)"


@lru_cache(maxsize=1)
def fingerprint(models: Path) -> str:
    """Return 16 hex digits over the vectors and token rows of `TEXTS`; `models`: where the encoder is unpacked."""
    source = unpack(models)
    encoder, tokenizer = E5Encoder(source.graph, source.weights, threads=1), source.tokenizer()
    digest = blake2b(digest_size=8)
    for text in TEXTS:
        vectors, rows = encoder.encode([tokenizer.encode(text, "passage")])
        digest.update(vectors.tobytes() + rows[0].tobytes())
    return digest.hexdigest()
