"""BM25 split over a document and a query vector (R-11), so that their dot product is the score.

Score(q, d) = sum over t of idf(t) * tf (k1 + 1) / (tf + k1 (1 - b + b len/avgdl)); Robertson and Zaragoza
2009. The document side is written with the block, with the avgdl of the block's service; the idf side is
made for each question over the user's own blocks, because the store's would count everybody's.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b

SparseVector = tuple[tuple[int, ...], tuple[float, ...]]


@dataclass(frozen=True)
class Bm25Numbers:
    """`k1` >= 0: how late term frequency saturates. `b` in [0, 1]: how much length matters."""

    k1: float
    b: float

    def __post_init__(self) -> None:
        if self.k1 < 0.0 or not 0.0 <= self.b <= 1.0:
            message = f"k1 must be at least 0 and b lie in [0, 1]; got {self.k1} and {self.b}"
            raise ValueError(message)


@dataclass(frozen=True)
class Lengths:
    """How many documents of one user, service and view there are, and how many tokens they hold together."""

    documents: int = 0
    tokens: int = 0

    def average(self) -> float:
        """Return avgdl in tokens, 0 when there is no document."""
        return self.tokens / self.documents if self.documents else 0.0

    def plus(self, tokens: int) -> Lengths:
        """Return the lengths with one more document."""
        return Lengths(self.documents + 1, self.tokens + tokens)

    def minus(self, tokens: int) -> Lengths:
        """Return the lengths without one document; never below zero."""
        return Lengths(max(self.documents - 1, 0), max(self.tokens - tokens, 0))


def document_weights(tokens: Sequence[str], avgdl: float, numbers: Bm25Numbers) -> dict[str, float]:
    """Return the saturated, length-normalised term frequency of each token, in (0, k1 + 1).

    `avgdl` is that of the block's service; 0 (the first block) counts as this document's own length.
    """
    relative = len(tokens) / avgdl if avgdl > 0.0 else 1.0
    damping = numbers.k1 * (1.0 - numbers.b + numbers.b * relative)
    return {token: tf * (numbers.k1 + 1.0) / (tf + damping) for token, tf in Counter(tokens).items()}


def idf(document_frequency: int, documents: int) -> float:
    """Return ln(1 + (N - df + 0.5) / (df + 0.5)), always above 0."""
    known = min(max(document_frequency, 0), documents)
    return math.log1p((documents - known + 0.5) / (known + 0.5))


def query_weights(tokens: Sequence[str], document_frequency: Mapping[str, int], documents: int) -> dict[str, float]:
    """Return the idf of each of the query's tokens, times how often the query says it.

    `document_frequency` and `documents` count one user's blocks in one view; a token nobody wrote is
    left out, as it cannot match. Empty when the user has no block.
    """
    return {
        token: count * idf(document_frequency[token], documents)
        for token, count in Counter(tokens).items()
        if document_frequency.get(token, 0) > 0
    }


def coverage(
    query_tokens: Iterable[str],
    document_tokens: Iterable[str],
    document_frequency: Mapping[str, int],
    documents: int,
) -> float:
    """Return the share of the query's idf mass that a document has, in [0, 1] (for R-17).

    A token that none of the user's blocks holds counts with the highest idf: it is what was asked for
    and is not there. 0 for a query without tokens.
    """
    wanted = {token: idf(document_frequency.get(token, 0), documents) for token in set(query_tokens)}
    total = sum(wanted.values())
    present = set(document_tokens)
    return sum(weight for token, weight in wanted.items() if token in present) / total if total > 0.0 else 0.0


def term_id(token: str) -> int:
    """Return the 32-bit index of a token: the same on every machine and in every run."""
    return int.from_bytes(blake2b(token.encode("utf-8"), digest_size=4).digest(), "little")


def sparse_vector(weights: Mapping[str, float]) -> SparseVector:
    """Return (indices, values) by rising index; tokens that share an index are added up."""
    table: dict[int, float] = {}
    for token, weight in weights.items():
        index = term_id(token)
        table[index] = table.get(index, 0.0) + weight
    indices = tuple(sorted(table))
    return indices, tuple(table[index] for index in indices)
