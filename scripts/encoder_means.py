"""Compute the mean vectors that calibrate the packaged encoder's similarities.

Half of the texts are Chinese, half English, everyday sentences written for this purpose (in search's data).
Run it when the encoder changes; it rewrites services/search/memvault_search/data/e5_means.json.
"""

import argparse
import json
from pathlib import Path

import numpy as np
import numpy.typing as npt

from memvault_search.adapters.e5_encoder import E5Encoder
from memvault_search.adapters.e5_tokenizer import E5Tokenizer
from memvault_search.adapters.e5_unpack import unpack
from memvault_search.adapters.embedder_means import LANGUAGES, generic_texts
from memvault_search.domain.embedding import TextKind

ROOT = Path(__file__).parent.parent
TARGET = ROOT / "services" / "search" / "memvault_search" / "data" / "e5_means.json"
Vector = npt.NDArray[np.float64]


def main() -> None:
    """Write the means of queries, passages and passage tokens."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--models", type=Path, default=ROOT / ".memvault" / "models", help="folder to unpack into")
    source = unpack(arguments.parse_args().models)
    encoder = E5Encoder(source.graph, source.weights, threads=1)
    tokenizer = source.tokenizer()
    query, _ = _means(encoder, tokenizer, "query")
    passage, token = _means(encoder, tokenizer, "passage")
    means = {"query": query, "passage": passage, "token": token}
    content = {"encoder_id": source.id} | {name: [round(float(x), 6) for x in mean] for name, mean in means.items()}
    TARGET.write_text(json.dumps(content) + "\n", encoding="utf-8")
    print(
        f"{TARGET.relative_to(ROOT)}: {source.id}, "
        + ", ".join(f"|{n}| {np.linalg.norm(m):.3f}" for n, m in means.items())
    )


def _means(encoder: E5Encoder, tokenizer: E5Tokenizer, kind: TextKind) -> tuple[Vector, Vector]:
    """Return the mean text vector and the mean token vector; both languages count the same."""
    texts, tokens = [], []
    for language in LANGUAGES:
        encoded = [encoder.encode([tokenizer.encode(line, kind)]) for line in generic_texts(kind, language)]
        texts.append(np.concatenate([vectors for vectors, _ in encoded]).mean(axis=0, dtype=np.float64))
        tokens.append(np.concatenate([rows for _, own in encoded for rows in own]).mean(axis=0, dtype=np.float64))
    return np.mean(texts, axis=0), np.mean(tokens, axis=0)


if __name__ == "__main__":
    main()
