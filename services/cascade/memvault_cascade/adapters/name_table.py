"""Vectors of the names of graphs that are being written, in memory: each new name is compared with all known ones.

The embedded engine takes about a millisecond for each such question and holds the interpreter meanwhile; one product of
matrices answers those of many blocks in that time.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

_GROWTH = 1.5
_SMALLEST = 256
_AT_ONCE = 128  # questions in one product: few enough for little memory, enough to be worth reading all names


class NameTable:
    """The names of one user's graph as it was at `version`; vectors of length 1."""

    def __init__(self, version: int) -> None:
        """Begin without any."""
        self.version = version
        self._ids: list[str] = []
        self._row_of: dict[str, int] = {}
        self._rows: NDArray[np.float32] | None = None

    def __len__(self) -> int:
        """How many names."""
        return len(self._ids)

    def put(self, vectors: Mapping[str, Vector]) -> None:
        """Add names, or give known ones other vectors."""
        for identity, vector in vectors.items():
            row = self._row_of.setdefault(identity, len(self._ids))
            if row == len(self._ids):
                self._ids.append(identity)
            self._table(row, vector.size)[row] = vector

    def drop(self, ids: Iterable[str]) -> None:
        """Take names away."""
        for identity in ids:
            row = self._row_of.pop(identity, None)
            if row is None or self._rows is None:
                continue
            last = self._ids.pop()
            if last != identity:
                self._ids[row], self._row_of[last] = last, row
                self._rows[row] = self._rows[len(self._ids)]

    def nearest(self, questions: Sequence[tuple[Vector, int]]) -> list[list[tuple[str, float]]]:
        """For each vector at most so many names with their similarity in [0, 1], best first."""
        count = len(self._ids)
        if self._rows is None or not count:
            return [[] for _ in questions]
        ids, rows = tuple(self._ids), self._rows[:count]
        found: list[list[tuple[str, float]]] = []
        for start in range(0, len(questions), _AT_ONCE):
            some = questions[start : start + _AT_ONCE]
            similar = np.stack([vector for vector, _ in some]) @ rows.T
            found += [_best(ids, row, min(limit, count)) for row, (_, limit) in zip(similar, some, strict=True)]
        return found

    def _table(self, row: int, width: int) -> NDArray[np.float32]:
        if self._rows is None:
            self._rows = np.zeros((_SMALLEST, width), np.float32)
        if row >= len(self._rows):
            larger = np.zeros((int(_GROWTH * len(self._rows)) + 1, width), np.float32)
            larger[: len(self._rows)] = self._rows
            self._rows = larger
        return self._rows


def _best(ids: Sequence[str], row: NDArray[np.float32], limit: int) -> list[tuple[str, float]]:
    best = np.argpartition(row, len(row) - limit)[-limit:]
    found = ((ids[place], min(1.0, max(0.0, float(row[place])))) for place in best)
    return sorted(found, key=lambda hit: (-hit[1], hit[0]))


class NameTables:
    """Tables of the users written last."""

    def __init__(self, most: int) -> None:
        """Keep at most `most` names of all users together; a user with more has no table."""
        self._most = most
        self._tables: OrderedDict[str, NameTable] = OrderedDict()

    def at(self, user_id: str, version: int) -> NameTable | None:
        """The user's table, if it is that of this version of the graph."""
        table = self._tables.get(user_id)
        return table if table is not None and table.version == version else None

    def keep(self, user_id: str, table: NameTable) -> None:
        """Keep a table; those not used for longest give way."""
        self._tables[user_id] = table
        self._tables.move_to_end(user_id)
        while sum(map(len, self._tables.values())) > self._most:
            self._tables.popitem(last=False)

    def written(self, user_id: str, version: int, come: Mapping[str, Vector], gone: Iterable[str]) -> None:
        """Follow a write that made `version`; a table that missed an earlier one is worth nothing."""
        table = self._tables.pop(user_id, None) or (NameTable(0) if version == 1 else None)
        if table is None or table.version != version - 1:
            return
        table.put(come)
        table.drop(gone)
        table.version = version
        self.keep(user_id, table)

    def forget(self, user_id: str) -> None:
        """Drop a user's table."""
        self._tables.pop(user_id, None)
