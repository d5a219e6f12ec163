"""Keeps vectors in a file, in front of an embedder: for whoever writes the same texts again and again.

Off unless a folder is named. Vectors are found by the hash of their text and stay when a memory is forgotten, so that
this is for evaluation and tests, not for a person's vault.
"""

import asyncio
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

import numpy as np

from memvault.faults import Fault, Reason
from memvault_search.domain.embedding import EmbeddedTexts, FloatArray, TextKind, TokenVectors, content_key
from memvault_search.ports import RunningEmbedder

BUSY_S = 60.0  # another process may be writing
AT_ONCE = 400  # keys in one query, below SQLite's limit of variables
TABLE = "CREATE TABLE IF NOT EXISTS texts (key BLOB PRIMARY KEY, vector BLOB NOT NULL, tokens BLOB) WITHOUT ROWID"
KEEP = """INSERT INTO texts VALUES (?, ?, ?) ON CONFLICT (key) DO UPDATE
    SET vector = excluded.vector, tokens = coalesce(excluded.tokens, tokens)"""
T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False)
class _Entry:
    vector: FloatArray
    tokens: TokenVectors | None


class DiskCachedEmbedder:
    """Embeds only what its file does not hold. Several processes may share the file."""

    def __init__(self, inner: RunningEmbedder, folder: Path, *, token_limit: int) -> None:
        """`folder` is made where missing; its file is named after encoder, means, prefixes and `token_limit`."""
        self._inner = inner
        self.id, self.prefix_version = inner.id, inner.prefix_version
        self.dimension, self.means = inner.dimension, inner.means
        self._file = folder / f"{inner.id}-{inner.means.digest}-{inner.prefix_version}-{token_limit}.sqlite"
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="embedder-disk")
        self._database: sqlite3.Connection | None = None

    async def start(self) -> None:
        """Open the file and start the encoder.

        Raises:
            Fault: NO_MODEL when the file cannot be opened or is no cache of vectors.
        """
        try:
            self._database = await self._in_thread(self._open)
        except (OSError, sqlite3.Error) as error:
            message = f"the cache of vectors {self._file} cannot be used ({error}): remove it, or name another folder"
            raise Fault(Reason.NO_MODEL, message) from error
        await self._inner.start()

    async def stop(self) -> None:
        """Stop the encoder and close the file."""
        await self._inner.stop()
        if self._database is not None:
            await self._in_thread(self._database.close)
            self._database = None
        await asyncio.to_thread(self._thread.shutdown, wait=True)

    async def embed(
        self, texts: Sequence[str], kind: TextKind, *, token_vectors: bool = False, soon: bool = False
    ) -> EmbeddedTexts:
        """Embed texts in their order: those in the file are read, all others embedded and added to it."""
        database = self._database
        if database is None:
            raise RuntimeError("start() the embedder before using it")
        if not texts:
            return await self._inner.embed(texts, kind, token_vectors=token_vectors, soon=soon)
        keys = [content_key(text, kind) for text in texts]
        found = await self._in_thread(partial(_find, database, list(dict.fromkeys(keys))))
        missing = {
            key: text
            for key, text in zip(keys, texts, strict=True)
            if key not in found or (token_vectors and found[key].tokens is None)
        }
        if missing:
            made = await self._inner.embed(list(missing.values()), kind, token_vectors=token_vectors, soon=soon)
            fresh = {
                key: _Entry(vector, tokens)
                for key, vector, tokens in zip(missing, made.vectors, made.tokens, strict=True)
            }
            await self._in_thread(partial(_keep, database, fresh))
            found |= fresh
        return EmbeddedTexts(
            np.stack([found[key].vector for key in keys]),
            tuple(found[key].tokens if token_vectors else None for key in keys),
        )

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    def _open(self) -> sqlite3.Connection:
        self._file.parent.mkdir(parents=True, exist_ok=True)
        database = sqlite3.connect(self._file, timeout=BUSY_S, check_same_thread=False)
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = OFF")  # what a power cut takes is embedded again
        with database:
            database.execute(TABLE)
        return database


def _find(database: sqlite3.Connection, keys: Sequence[bytes]) -> dict[bytes, _Entry]:
    found: dict[bytes, _Entry] = {}
    for begin in range(0, len(keys), AT_ONCE):
        some = keys[begin : begin + AT_ONCE]
        marks = ",".join("?" * len(some))
        rows = database.execute(f"SELECT key, vector, tokens FROM texts WHERE key IN ({marks})", some)  # noqa: S608
        for key, vector, tokens in rows:
            values = np.frombuffer(vector, "<f4")
            kept = None if tokens is None else TokenVectors(np.frombuffer(tokens, np.int8).reshape(-1, values.size))
            found[key] = _Entry(values, kept)
    return found


def _keep(database: sqlite3.Connection, entries: Mapping[bytes, _Entry]) -> None:
    rows = [
        (key, one.vector.astype("<f4").tobytes(), None if one.tokens is None else one.tokens.values.tobytes())
        for key, one in entries.items()
    ]
    with database:
        database.executemany(KEEP, rows)
