"""Token vectors in a file of SQLite, beside an embedded store (docs/decisions/0035).

Passages that were written together lie together, so a turn is read with its neighbours.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar
from uuid import UUID

import numpy as np

from memvault.faults import Fault, Reason
from memvault_search.domain.embedding import TokenVectors
from memvault_search.domain.views import VIEWS

if TYPE_CHECKING:
    from memvault_search.adapters.token_store import TokensByView

T = TypeVar("T")

_AT_ONCE = 400  # points in one query, below SQLite's limit of variables
_OPENING = (
    "PRAGMA page_size = 16384",  # a passage of usual length in one
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",  # a block whose head survives a power cut has its token vectors
    "PRAGMA secure_delete = ON",  # what is forgotten is overwritten
    """CREATE TABLE IF NOT EXISTS tokens (
        point BLOB NOT NULL, view TEXT NOT NULL, user TEXT NOT NULL, columns INTEGER NOT NULL, "values" BLOB NOT NULL,
        PRIMARY KEY (point, view))""",
    "CREATE INDEX IF NOT EXISTS by_user ON tokens (user)",
)
_WRITE = "INSERT INTO tokens VALUES (?, ?, ?, ?, ?)"
_AMEND = """INSERT INTO tokens SELECT ?1, ?2, ?3, ?4, ?5 WHERE EXISTS
    (SELECT 1 FROM tokens WHERE point = ?1 AND user = ?3)
    ON CONFLICT (point, view) DO UPDATE SET columns = excluded.columns, "values" = excluded."values" """
# the plus keeps the planner from reading all of the user's points
_READ = 'SELECT point, view, columns, "values" FROM tokens WHERE point IN ({marks}) AND +user = ?'


class TokenFile:
    """A `TokenStore` of one process: a file for each table, and one thread that reads and writes."""

    def __init__(self, folder: Path) -> None:
        """Nothing is opened before `ensure`; the folder is made where missing."""
        self._folder = folder
        self._open: dict[str, sqlite3.Connection] = {}
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="tokens")

    async def ensure(self, table: str) -> None:
        """Open the file of the table."""
        if table not in self._open:
            self._open[table] = await self._run(table, self._opened)

    async def write(self, table: str, user_id: str, vectors: Mapping[str, TokensByView]) -> None:
        """Remove and write in one transaction."""

        def work(database: sqlite3.Connection) -> None:
            with database:
                database.executemany("DELETE FROM tokens WHERE point = ?", _keys(vectors))
                database.executemany(_WRITE, _rows(user_id, vectors))

        await self._with(table, work)

    async def amend(self, table: str, user_id: str, vectors: Mapping[str, TokensByView]) -> None:
        """Write rows of points that have one already."""

        def work(database: sqlite3.Connection) -> None:
            with database:
                database.executemany(_AMEND, _rows(user_id, vectors))

        await self._with(table, work)

    async def read(self, table: str, user_id: str, point_ids: Sequence[str]) -> dict[str, tuple[TokenVectors, ...]]:
        """Read all points in one visit to the thread."""
        return await self._with(table, partial(_read, user_id, point_ids)) if point_ids else {}

    async def delete(self, table: str, point_ids: Sequence[str]) -> None:
        """Remove by id."""

        def work(database: sqlite3.Connection) -> None:
            with database:
                database.executemany("DELETE FROM tokens WHERE point = ?", _keys(point_ids))

        if point_ids:
            await self._with(table, work)

    async def delete_user(self, table: str, user_id: str) -> None:
        """Remove by the user's name."""

        def work(database: sqlite3.Connection) -> None:
            with database:
                database.execute("DELETE FROM tokens WHERE user = ?", (user_id,))

        await self._with(table, work)

    async def drop(self, table: str) -> None:
        """Close and remove the file."""
        database = self._open.pop(table, None)

        def work(name: str) -> None:
            if database is not None:
                database.close()
            for ending in ("", "-wal", "-shm"):
                self._file(name, ending).unlink(missing_ok=True)

        await self._run(table, work)

    async def flush(self) -> None:
        """Move everything out of the write-ahead log, where what was removed would stay, and empty it."""
        for table in list(self._open):
            await self._with(table, _checkpoint)

    async def close(self) -> None:
        """Flush and close all files, also those that cannot be flushed."""
        with suppress(Fault):
            await self.flush()
        for table in list(self._open):
            await self._with(table, sqlite3.Connection.close)
            del self._open[table]
        await asyncio.to_thread(self._thread.shutdown)

    def _file(self, table: str, ending: str = "") -> Path:
        return self._folder / f"{table}.sqlite{ending}"

    def _opened(self, table: str) -> sqlite3.Connection:
        self._folder.mkdir(parents=True, exist_ok=True)
        database = sqlite3.connect(self._file(table), check_same_thread=False)
        for statement in _OPENING:
            database.execute(statement)
        database.commit()
        return database

    async def _with(self, table: str, work: Callable[[sqlite3.Connection], T]) -> T:
        return await self._run(table, lambda name: work(self._held(name)))

    def _held(self, table: str) -> sqlite3.Connection:
        if table not in self._open:
            raise sqlite3.ProgrammingError("it is not open, or was dropped")
        return self._open[table]

    async def _run(self, table: str, work: Callable[[str], T]) -> T:
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, work, table)
        except (OSError, sqlite3.Error) as error:
            text = (
                f"token vectors in {self._file(table)} cannot be used ({error}): make room on the disk; or stop, "
                "remove the file, start, and run `memvault reindex --all`"
            )
            raise Fault(Reason.STORE_UNAVAILABLE, text) from error


def _keys(point_ids: Sequence[str] | Mapping[str, TokensByView]) -> list[tuple[bytes]]:
    return [(UUID(point).bytes,) for point in point_ids]


def _rows(user_id: str, vectors: Mapping[str, TokensByView]) -> list[tuple[bytes, str, str, int, bytes]]:
    return [
        (UUID(point).bytes, view, user_id, tokens.values.shape[1], tokens.values.tobytes())
        for point, views in vectors.items()
        for view, tokens in views.items()
    ]


def _read(user_id: str, point_ids: Sequence[str], database: sqlite3.Connection) -> dict[str, tuple[TokenVectors, ...]]:
    by_key = {UUID(point).bytes: point for point in point_ids}
    keys = list(by_key)
    found: dict[str, dict[str, TokenVectors]] = {}
    for begin in range(0, len(keys), _AT_ONCE):
        some = keys[begin : begin + _AT_ONCE]
        for key, view, columns, values in database.execute(
            _READ.format(marks=",".join("?" * len(some))), (*some, user_id)
        ):
            tokens = TokenVectors(np.frombuffer(values, np.int8).reshape(-1, columns))
            found.setdefault(by_key[key], {})[view] = tokens
    return {point: tuple(views[view] for view in VIEWS if view in views) for point, views in found.items()}


def _checkpoint(database: sqlite3.Connection) -> None:
    (busy, _, _) = database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    if busy:
        raise sqlite3.OperationalError("another program reads it, so that its write-ahead log cannot be emptied")
