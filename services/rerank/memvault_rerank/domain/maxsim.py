"""Late interaction over token vectors, the embedded default reranker.

score = l * D + (1 - l) * Q, where D is the mean over a document's tokens of the best cosine to a query token, Q the
mean over the query's tokens of the best cosine to a document token, and l = query tokens / (query tokens + median
document tokens): a short query cannot speak for a long document, so its own direction weighs more.

Source: O. Khattab, M. Zaharia, ColBERT, SIGIR 2020 (the query's direction); both directions with this weight were
chosen on development data. Documents without token vectors are not scored: nothing comparable could be said of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from memvault_rerank.domain.reading import Document, Int8Array, Score

FloatArray = npt.NDArray[np.float32]


def late_interaction(query: Int8Array, documents: Sequence[Document]) -> list[Score]:
    """Score the documents that carry token vectors; one with several views gets the mean of its views.

    Args:
        query: int8 [tokens, dimension], at least one token.
        documents: candidates; their vectors must come from the query's encoder.

    Returns:
        Scores in [-1, 1], in the order of the documents.

    """
    readable = [document for document in documents if any(len(view) for view in document.tokens)]
    if not readable:
        return []
    views = [(number, view) for number, document in enumerate(readable) for view in document.tokens if len(view)]
    by_view = combined(directions_of(query, [view for _, view in views]), len(query))
    owners = np.array([number for number, _ in views])
    totals = np.bincount(owners, weights=by_view, minlength=len(readable))
    means = totals / np.bincount(owners, minlength=len(readable))
    return [Score(document.id, float(mean)) for document, mean in zip(readable, means, strict=True)]


@dataclass(frozen=True, slots=True, eq=False)
class Directions:
    """Both directions of late interaction, float32 [documents] each, and the documents' lengths in tokens."""

    from_query: FloatArray
    from_document: FloatArray
    lengths: npt.NDArray[np.int64]


def directions_of(query: Int8Array, documents: Sequence[Int8Array]) -> Directions:
    """Compare a query, int8 [tokens, dimension], with documents of the same form; none of them is empty."""
    lengths = np.array([len(document) for document in documents])
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    cosines = _cosines(np.concatenate(documents), query)
    from_query = np.maximum.reduceat(cosines, starts, axis=0).mean(axis=1)
    from_document = np.add.reduceat(cosines.max(axis=1), starts) / lengths
    return Directions(from_query, from_document, lengths)


def combined(both: Directions, query_tokens: int) -> FloatArray:
    """Weigh the directions by the length of the query against that of the documents, float32 [documents]."""
    share = query_tokens / (query_tokens + float(np.median(both.lengths)))
    scores: FloatArray = (share * both.from_document + (1.0 - share) * both.from_query).astype(np.float32)
    return scores


def _cosines(left: Int8Array, right: Int8Array) -> FloatArray:
    """Return float32 [left, right]; a zero row has cosine 0 with everything."""
    tall, wide = left.astype(np.float32), right.astype(np.float32)
    products: FloatArray = tall @ wide.T
    # dividing the few products is cheaper than scaling the long rows
    products /= np.maximum(_lengths(tall), 1.0)[:, None]
    products /= np.maximum(_lengths(wide), 1.0)
    return products


def _lengths(rows: FloatArray) -> FloatArray:
    """Return the lengths of rows of whole numbers, float32 [n]: 0, or at least 1."""
    lengths: FloatArray = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    return lengths
