"""One total order for scores, so that two runs, stores or machines never disagree."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from memvault_search.domain.scoring.candidates import FloatArray, IntArray


def stable_order(score: FloatArray, ids: Sequence[str]) -> IntArray:
    """Return the rows from the highest score to the lowest; ties go by id, ascending."""
    if not len(ids):
        return np.zeros(0, dtype=np.int64)
    falling = -np.asarray(score)
    order = np.argsort(falling, kind="stable")
    placed = falling[order]
    if (placed[1:] == placed[:-1]).any():  # rare, and to sort texts takes longer than everything else here
        order = np.lexsort((np.array(ids, dtype=np.str_), falling))
    return order.astype(np.int64)
