"""What scoring reads: the candidates of one question as columns, and the circumstances of asking.

Shapes: `n` candidates, one row per block (its best passage); `d` dimensions of the encoder.
Times are seconds since the epoch in UTC; `nan` means unknown, and an unknown value is neutral.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from memvault_search.domain.scoring.numbers import ScoringNumbers, Strengths

FloatArray = npt.NDArray[np.float64]
VectorArray = npt.NDArray[np.float32]
BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]

DAY_S = 86_400.0
UNKNOWN = math.nan


@dataclass(frozen=True)
class Record:
    """One candidate as it comes out of the index. Every signal may be left out.

    `base` and `similarity` lie in [0, 1]; `similarity` is calibrated (R-10a).
    `text` is the matching passage, `length` the characters of the whole block.
    """

    id: str
    base: float
    similarity: float = UNKNOWN
    text: str = ""
    length: float = UNKNOWN
    event_time: float = UNKNOWN
    recorded_at: float = UNKNOWN
    last_accessed_at: float = UNKNOWN
    access_count: float = 0.0
    confidence: float = UNKNOWN
    trust: float = UNKNOWN
    ups: float = 0.0
    downs: float = 0.0
    centrality: float = UNKNOWN
    quarantine: frozenset[str] = frozenset()
    conversation_id: str = ""
    superseded_by: str = ""
    valid_from: float = UNKNOWN
    valid_to: float = UNKNOWN


@dataclass(frozen=True)
class Candidates:
    """All candidates of one question, column by column; row i of each array is `ids[i]`.

    `vectors` has shape (n, d): centred, unit length (R-10a); a row of zeros means "no vector".
    Raises ValueError when a column has another length or `base` is not finite and non-negative.
    """

    ids: tuple[str, ...]
    base: FloatArray
    similarity: FloatArray
    vectors: VectorArray
    texts: tuple[str, ...]
    length: FloatArray
    event_time: FloatArray
    recorded_at: FloatArray
    last_accessed_at: FloatArray
    access_count: FloatArray
    confidence: FloatArray
    trust: FloatArray
    ups: FloatArray
    downs: FloatArray
    centrality: FloatArray
    quarantine: tuple[frozenset[str], ...]
    conversation_ids: tuple[str, ...]
    superseded_by: tuple[str, ...]
    valid_from: FloatArray
    valid_to: FloatArray

    def __post_init__(self) -> None:
        size = len(self.ids)
        for name, column in vars(self).items():
            if len(column) != size:
                message = f"column {name} has {len(column)} rows, expected {size}"
                raise ValueError(message)
        if size and not (np.isfinite(self.base).all() and float(self.base.min()) >= 0.0):
            message = "every base score must be finite and at least 0"
            raise ValueError(message)

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def known_at(self) -> FloatArray:
        """The event time; where it is unknown the time of recording stands in. nan where neither is known."""
        return np.where(np.isnan(self.event_time), self.recorded_at, self.event_time)


@dataclass(frozen=True)
class TimeRange:
    """The time a question speaks of (R-07), both ends in seconds since the epoch, inclusive."""

    start: float
    end: float

    def __post_init__(self) -> None:
        if not self.start <= self.end:
            message = f"a time range must not end ({self.end}) before it starts ({self.start})"
            raise ValueError(message)


@dataclass(frozen=True)
class ScoringContext:
    """The circumstances of asking: everything that stages read beside the candidates.

    `best` and `centre` are given only when blocks are scored after the main list (R-14): the best
    gate score and the clamp's centre of that list, so that both lists share one scale.
    """

    now: float
    strengths: Strengths
    numbers: ScoringNumbers
    time_range: TimeRange | None = None
    switched_off: frozenset[str] = field(default_factory=frozenset)
    best: float | None = None
    centre: float | None = None


def assemble(records: Sequence[Record], vectors: VectorArray | None = None) -> Candidates:
    """Turn rows into columns. `vectors`: (n, d), or None when no candidate has a vector."""
    if vectors is None:
        vectors = np.zeros((len(records), 1), dtype=np.float32)

    def column(name: str) -> FloatArray:
        return np.array([getattr(record, name) for record in records], dtype=np.float64)

    return Candidates(
        ids=tuple(record.id for record in records),
        base=column("base"),
        similarity=column("similarity"),
        vectors=vectors,
        texts=tuple(record.text for record in records),
        length=column("length"),
        event_time=column("event_time"),
        recorded_at=column("recorded_at"),
        last_accessed_at=column("last_accessed_at"),
        access_count=column("access_count"),
        confidence=column("confidence"),
        trust=column("trust"),
        ups=column("ups"),
        downs=column("downs"),
        centrality=column("centrality"),
        quarantine=tuple(record.quarantine for record in records),
        conversation_ids=tuple(record.conversation_id for record in records),
        superseded_by=tuple(record.superseded_by for record in records),
        valid_from=column("valid_from"),
        valid_to=column("valid_to"),
    )
