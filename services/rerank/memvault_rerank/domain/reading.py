"""What a reranker reads and what it returns."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

Int8Array = npt.NDArray[np.int8]


@dataclass(frozen=True, slots=True, eq=False)
class Document:
    """One candidate.

    Attributes:
        id: returned with the score.
        text: what a model that reads text reads.
        signals: named numbers that a learned reranker may read.
        tokens: token vectors per view, int8 [tokens, dimension] each; only directions matter.

    """

    id: str
    text: str
    signals: Mapping[str, float] = field(default_factory=dict)
    tokens: tuple[Int8Array, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """A query with all its candidates: rerankers are listwise (R-20)."""

    query: str
    documents: tuple[Document, ...]
    query_tokens: Int8Array | None = None
    encoder_id: str = ""


@dataclass(frozen=True, slots=True)
class Batched:
    """What reached a model since the start: readings, and the batches that they came in."""

    readings: int = 0
    batches: int = 0


@dataclass(frozen=True, slots=True)
class Score:
    """Higher is better, comparable within one reading only.

    Attributes:
        id: the document.
        score: any finite number.
        relevance: calibrated probability of being relevant, [0, 1]; None when the model offers none.

    """

    id: str
    score: float
    relevance: float | None = None
