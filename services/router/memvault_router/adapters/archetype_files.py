"""Archetype vectors in files, so that a fresh start encodes nothing twice."""

from __future__ import annotations

import asyncio
import re
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from uuid import uuid4

import numpy as np
import structlog

from memvault.faults import Fault, Reason
from memvault_router.domain.state import Vector
from memvault_router.ports import ArchetypeCache

log = structlog.get_logger("memvault.router")


class FileArchetypes:
    """`ArchetypeCache` in one file per encoder; processes that share the folder may each write, the last one stays."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def load(self, vectors_id: str, content_hashes: Sequence[str]) -> Mapping[str, Vector]:
        """Return the vectors that are kept; an unreadable file is as good as none."""
        known = await asyncio.to_thread(self._read, self._path(vectors_id))
        return {key: known[key] for key in content_hashes if key in known}

    async def keep(self, vectors_id: str, vectors: Mapping[str, Vector]) -> None:
        """Add vectors, writing the file anew.

        Raises:
            Fault: STORE_UNAVAILABLE when the folder cannot be written.
        """
        try:
            await asyncio.to_thread(self._write, self._path(vectors_id), vectors)
        except OSError as error:
            message = f"{self._folder} cannot be written ({error.strerror}): set router.archetype_folder"
            raise Fault(Reason.STORE_UNAVAILABLE, message) from error

    def _path(self, vectors_id: str) -> Path:
        return self._folder / (re.sub("[^A-Za-z0-9._-]", "_", vectors_id) + ".npz")

    def _read(self, path: Path) -> dict[str, Vector]:
        try:
            with np.load(path, allow_pickle=False) as stored:
                return dict(zip(stored["keys"].tolist(), np.asarray(stored["rows"], np.float32), strict=True))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
            log.warning("archetype_file_unreadable", path=str(path), error=type(error).__name__)
            return {}

    def _write(self, path: Path, vectors: Mapping[str, Vector]) -> None:
        known = {**self._read(path), **vectors}
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_name(f"{path.stem}.{uuid4().hex}.tmp.npz")
        np.savez(unfinished, keys=np.array(list(known)), rows=np.stack(list(known.values())))
        unfinished.replace(path)


class LayeredArchetypes:
    """Looks near first, then far; keeps in both. One that fails leaves the other to serve."""

    def __init__(self, near: ArchetypeCache, far: ArchetypeCache) -> None:
        self._layers = (near, far)

    async def load(self, vectors_id: str, content_hashes: Sequence[str]) -> Mapping[str, Vector]:
        """Return what either layer keeps."""
        found: dict[str, Vector] = {}
        for layer in self._layers:
            missing = [key for key in content_hashes if key not in found]
            if missing:
                try:
                    found.update(await layer.load(vectors_id, missing))
                except Fault as fault:
                    log.info("archetype_cache_unreachable", reason=fault.reason)
        return found

    async def keep(self, vectors_id: str, vectors: Mapping[str, Vector]) -> None:
        """Keep in every layer that takes them."""
        for layer in self._layers:
            try:
                await layer.keep(vectors_id, vectors)
            except Fault as fault:
                log.info("archetype_cache_unreachable", reason=fault.reason)
