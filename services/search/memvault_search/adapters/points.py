"""Passages, token vectors and marks as points of the vector store, and back."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import numpy as np

from memvault.vectors import Condition, Point, RankerQuery, Record, SparseVector
from memvault_search.adapters.index_filter import passage_payload
from memvault_search.domain.block import StoredBlock
from memvault_search.domain.embedding import TokenVectors
from memvault_search.domain.moment import Moment
from memvault_search.domain.passages import forgotten_id, head_id
from memvault_search.domain.statistics import Terms
from memvault_search.domain.views import VIEWS, View
from memvault_search.ports import LoadedPassage, PassageVectors, Ranker

FORGOTTEN = "forgotten"
"""The kind of a mark's point."""


def to_query(ranker: Ranker, condition: Condition) -> RankerQuery:
    """A ranker in the words of the store."""
    if isinstance(ranker.vector, np.ndarray):
        return RankerQuery(ranker.name, ranker.view, ranker.vector, ranker.limit, condition)
    words = _sparse(ranker.vector)
    return RankerQuery(ranker.name, f"{ranker.view}_words", words, ranker.limit, condition)


def _sparse(vector: tuple[tuple[int, ...], tuple[float, ...]]) -> SparseVector:
    return SparseVector(np.asarray(vector[0], np.uint32), np.asarray(vector[1], np.float32))


def passage_point(one: PassageVectors) -> Point:
    """A passage with its views as a point."""
    payload = passage_payload(one.block, one.passage)
    payload["lengths"] = {view: vectors.length for view, vectors in one.views.items()}
    payload["averages"] = {view: vectors.average for view, vectors in one.views.items()}
    return Point(
        one.passage.point_id,
        payload,
        dense={view: vectors.dense for view, vectors in one.views.items()},
        sparse={f"{view}_words": _sparse(vectors.words) for view, vectors in one.views.items()},
    )


def tokens_of(passages: Sequence[PassageVectors]) -> dict[str, dict[View, TokenVectors]]:
    """Token vectors by point and view; a passage without any has an empty entry."""
    return {
        one.passage.point_id: {
            view: vectors.tokens for view, vectors in one.views.items() if vectors.tokens is not None
        }
        for one in passages
    }


def loaded_passage(record: Record) -> LoadedPassage:
    """A passage as it is read back."""
    terms: dict[View, Terms] = {}
    for view in VIEWS:
        if view in record.payload["lengths"]:
            words = record.sparse.get(f"{view}_words")
            numbers = np.zeros(0, np.uint32) if words is None else words.indices
            terms[view] = Terms(numbers, record.payload["lengths"][view])
    dense = {view: record.dense[view] for view in VIEWS if view in record.dense}
    return LoadedPassage(dense, terms, record.payload["averages"])


def forgotten_mark(user_id: str, block_id: str, forgotten: Moment) -> Point:
    """The mark that a block was forgotten, for writes of before that come late."""
    payload = {
        "kind": FORGOTTEN,
        "user_id": user_id,
        "head": head_id(user_id, block_id),
        "at": forgotten.time.isoformat(),
        "sequence": forgotten.sequence,
    }
    return Point(forgotten_id(user_id, block_id), payload)


def moment_of(payload: dict[str, Any]) -> Moment:
    """The moment that a mark of forgetting bears."""
    return Moment(payload["sequence"], datetime.fromisoformat(payload["at"]))


def same_state(payload: dict[str, Any], stored: StoredBlock) -> bool:
    """Whether a head point holds exactly this state."""
    return bool(payload["revision"] == stored.revision and payload["event_ids"] == list(stored.event_ids))
