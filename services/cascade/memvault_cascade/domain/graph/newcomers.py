"""Which entities that come in one write are near each other: none of them is in the store yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

Hits = list[tuple[str, float]]
_ROWS = 256  # compared with all others at a time, so that a large write needs little memory


def near_newcomers(
    vectors: Mapping[str, NDArray[np.float32]], born: Mapping[str, int], least: float
) -> dict[str, Hits]:
    """For each newcomer those that were born before it and are at least `least` similar to it.

    `vectors` are of length 1; `born` is the number of the change that brings an entity. Those of one change do not see
    each other, as they would not in a write of its own.
    """
    ids = list(vectors)
    found: dict[str, Hits] = {one: [] for one in ids}
    if not ids:
        return found
    table = np.stack([vectors[one] for one in ids])
    birth = np.array([born[one] for one in ids])
    for start in range(0, len(ids), _ROWS):
        similar = np.clip(table[start : start + _ROWS] @ table.T, 0.0, 1.0)
        near = (similar >= least) & (birth[start : start + _ROWS, None] > birth[None, :])
        for row, column in zip(*np.nonzero(near), strict=True):
            found[ids[start + row]].append((ids[column], float(similar[row, column])))
    return found


def nearest_of(*hits: Hits, limit: int) -> Hits:
    """The best hits of several lists, at most `limit`, best first."""
    return sorted((one for some in hits for one in some), key=lambda hit: (-hit[1], hit[0]))[:limit]
