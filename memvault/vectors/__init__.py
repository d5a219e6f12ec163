"""Vector stores behind one small protocol: an embedded engine and a server, and their own filter types.

Nothing in this package names a block: a collection has points, a point has named vectors and a payload.
"""

from memvault.vectors.filters import And, AnyOf, Condition, Eq, Ids, Not, Range, TimeRange
from memvault.vectors.model import (
    CollectionSpec,
    DenseSpec,
    FieldKind,
    Hit,
    Point,
    RankerQuery,
    Record,
    SparseVector,
)
from memvault.vectors.store import SpecMismatchError, StoreLockedError, VectorStore

__all__ = [
    "And",
    "AnyOf",
    "CollectionSpec",
    "Condition",
    "DenseSpec",
    "Eq",
    "FieldKind",
    "Hit",
    "Ids",
    "Not",
    "Point",
    "Range",
    "RankerQuery",
    "Record",
    "SparseVector",
    "SpecMismatchError",
    "StoreLockedError",
    "TimeRange",
    "VectorStore",
]
