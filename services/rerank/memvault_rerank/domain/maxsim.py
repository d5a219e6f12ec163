"""Late interaction over token vectors, the embedded default reranker.

score = l * D + (1 - l) * Q, where D is the mean over a document's tokens of the best cosine to a query token, Q the
mean over the query's tokens of the best cosine to a document token, and l = query tokens / (query tokens + median
document tokens): a short query cannot speak for a long document, so its own direction weighs more.

Source: O. Khattab, M. Zaharia, ColBERT, SIGIR 2020 (the query's direction); both directions with this weight were
chosen on development data. Documents without token vectors are not scored: nothing comparable could be said of them.
"""

from collections.abc import Sequence

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
    by_view = _both_directions(_unit(query), [view for _, view in views])
    owners = np.array([number for number, _ in views])
    totals = np.bincount(owners, weights=by_view, minlength=len(readable))
    means = totals / np.bincount(owners, minlength=len(readable))
    return [Score(document.id, float(mean)) for document, mean in zip(readable, means, strict=True)]


def _both_directions(query: FloatArray, documents: Sequence[Int8Array]) -> FloatArray:
    """Return float32 [documents]; none of them is empty."""
    lengths = np.array([len(document) for document in documents])
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    cosines = _unit(np.concatenate(documents)) @ query.T  # [all document tokens, query tokens]
    from_query = np.maximum.reduceat(cosines, starts, axis=0).mean(axis=1)
    from_document = np.add.reduceat(cosines.max(axis=1), starts) / lengths
    share = len(query) / (len(query) + float(np.median(lengths)))
    scores: FloatArray = (share * from_document + (1.0 - share) * from_query).astype(np.float32)
    return scores


def _unit(tokens: Int8Array) -> FloatArray:
    values = tokens.astype(np.float32)
    norms = np.linalg.norm(values, axis=1, keepdims=True)
    np.divide(values, norms, out=values, where=norms > 0)
    return values
