"""What a vector store holds and answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from memvault.vectors.filters import Condition

Payload = dict[str, Any]
"""JSON values by field name."""


class FieldKind(StrEnum):
    """How a payload field is indexed for filtering."""

    KEYWORD = "keyword"
    INTEGER = "integer"
    FLOAT = "float"
    BOOLEAN = "bool"
    TIME = "datetime"


class SparseVector(NamedTuple):
    """Parallel arrays: dimension numbers (unsigned 32 bit, distinct) and their weights (float32)."""

    indices: NDArray[np.uint32]
    values: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class DenseSpec:
    """A dense vector of `size` float32 values, compared by cosine."""

    size: int


@dataclass(frozen=True, slots=True)
class CollectionSpec:
    """A collection: its named vectors and the payload fields that filters may use."""

    name: str
    dense: Mapping[str, DenseSpec] = field(default_factory=dict)
    sparse: tuple[str, ...] = ()
    fields: Mapping[str, FieldKind] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Point:
    """One entry; `id` is a UUID's text. A vector may be left out, the point is then unseen by its ranker."""

    id: str
    payload: Payload
    dense: Mapping[str, NDArray[np.float32]] = field(default_factory=dict)
    sparse: Mapping[str, SparseVector] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Record:
    """One entry as it was read; vectors only when asked for (dense ones come back with length 1)."""

    id: str
    payload: Payload
    dense: Mapping[str, NDArray[np.float32]] = field(default_factory=dict)
    sparse: Mapping[str, SparseVector] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RankerQuery:
    """One ranked list to compute: `vector` against the named vector `using`, best `limit` under `filter`."""

    name: str
    using: str
    vector: NDArray[np.float32] | SparseVector
    limit: int
    filter: Condition | None = None
    with_payload: bool = False

    @property
    def can_match(self) -> bool:
        """False when no point can be in the list: nothing is asked for, or no word."""
        empty_sparse = isinstance(self.vector, SparseVector) and not len(self.vector.indices)
        return self.limit > 0 and not empty_sparse


class Hit(NamedTuple):
    """One found point: cosine or sparse dot product as `score`, higher is better."""

    id: str
    score: float
    payload: Payload
