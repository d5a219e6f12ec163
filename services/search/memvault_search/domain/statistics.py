"""What BM25 must know of a user's own blocks (R-11): counted per service and view, exact after every change.

A passage is one document of a view. The counts live in memory; what they are counted from (term numbers
and lengths of every passage) is stored with the passages, so that they can be counted again at any time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from memvault_search.domain.bm25 import term_id

TermArray = npt.NDArray[np.uint32]

_CACHED_TERMS = 200_000


term_number = lru_cache(maxsize=_CACHED_TERMS)(term_id)
"""Dimension of a term in the sparse vectors, remembered: hashing the words of a query costs more than the query."""


@dataclass(frozen=True, slots=True, eq=False)
class Terms:
    """The words of one view of one passage: distinct numbers (uint32 [t]) and the length in words."""

    numbers: TermArray
    length: int


@dataclass(slots=True)
class _Counts:
    documents: int = 0
    length: int = 0
    containing: Counter[int] = field(default_factory=Counter)


class WordStatistics:
    """Documents, lengths and document frequencies of one user, by service and view."""

    def __init__(self) -> None:
        self._counts: dict[tuple[str, str], _Counts] = {}

    def add(self, service: str, view: str, terms: TermArray, length: int) -> None:
        """Count one document in."""
        counts = self._counts.setdefault((service, view), _Counts())
        counts.documents += 1
        counts.length += length
        counts.containing.update(terms.tolist())

    def remove(self, service: str, view: str, terms: TermArray, length: int) -> None:
        """Count one document out, which must have been counted in."""
        counts = self._counts[(service, view)]
        counts.documents -= 1
        counts.length -= length
        for term in terms.tolist():
            counts.containing[term] -= 1
            if counts.containing[term] <= 0:
                del counts.containing[term]
        if not counts.documents:
            del self._counts[(service, view)]

    def average_length(self, service: str, view: str) -> float:
        """Mean length in terms of the service's documents in this view; 0 when it has none."""
        counts = self._counts.get((service, view))
        return counts.length / counts.documents if counts else 0.0

    def documents(self, view: str) -> int:
        """Documents of the view over all services."""
        return sum(counts.documents for (_, name), counts in self._counts.items() if name == view)

    def document_frequencies(self, view: str, terms: Iterable[int]) -> npt.NDArray[np.float64]:
        """In how many of the view's documents each term occurs, over all services."""
        tables = [counts.containing for (_, name), counts in self._counts.items() if name == view]
        return np.array([sum(table[term] for table in tables) for term in terms], np.float64)

    def as_mapping(self) -> dict[tuple[str, str], tuple[int, int, dict[int, int]]]:
        """All counts, for comparison and inspection: documents, summed length, document frequencies."""
        return {key: (counts.documents, counts.length, dict(counts.containing)) for key, counts in self._counts.items()}
