"""The product's own encoder for those who are not the product: blocks from the file of kept vectors, questions anew."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from memvault.runtime.settings import load
from memvault_search.adapters.embedder_disk import DiskCachedEmbedder
from memvault_search.adapters.embedder_opening import open_embedder
from memvault_search.settings import EmbedderSettings

FloatArray = NDArray[np.float32]
T = TypeVar("T")
BATCH = 64


class Encoder:
    """The packaged encoder with the product's default settings, for callers without an event loop."""

    def __init__(self, models: Path, kept: Path | None) -> None:
        """Load it.

        Args:
            models: Folder of the unpacked model.
            kept: Folder with the file of vectors of earlier runs; None embeds every block anew.
        """
        settings = load("search.embedder", EmbedderSettings, environ={}).model_copy(update={"models": str(models)})
        self._plain = open_embedder(settings, models)
        self._blocks = DiskCachedEmbedder(self._plain, kept, token_limit=settings.token_limit) if kept else self._plain
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="e5", daemon=True)
        self._thread.start()
        self._wait(self._blocks.start())
        self.dimension = self._plain.dimension

    def passages(self, texts: Sequence[str]) -> FloatArray:
        """Encode blocks: float32 [n, dimension], unit length."""
        if not texts:
            return np.zeros((0, self.dimension), np.float32)
        parts = [texts[begin : begin + BATCH] for begin in range(0, len(texts), BATCH)]
        return np.concatenate([self._wait(self._blocks.embed(part, "passage")).vectors for part in parts])

    def queries(self, texts: Sequence[str]) -> FloatArray:
        """Encode questions, never from the file, so that their time is the real one: float32 [n, dimension]."""
        vectors: FloatArray = self._wait(self._plain.embed(texts, "query")).vectors
        return vectors

    def close(self) -> None:
        """Let go of the model and the file."""
        self._wait(self._blocks.stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()
