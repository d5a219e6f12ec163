"""Dense only: the packaged encoder and every dot product."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from memvault_evals.peers.runners.e5 import Encoder
from memvault_evals.peers.runners.serving import serve


class Dense:
    """Vectors in memory, searched exactly."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._encoder = Encoder(Path(settings["models"]), Path(settings["kept"]) if settings["kept"] else None)
        self._ids: list[str] = []
        self._vectors = np.zeros((0, self._encoder.dimension), np.float32)

    def fill(self, folder: Path, blocks: Sequence[Mapping[str, str]]) -> None:  # noqa: ARG002 - kept in memory
        """Encode the blocks."""
        self._ids = [block["id"] for block in blocks]
        self._vectors = self._encoder.passages([block["text"] for block in blocks])

    def ask(self, question: str, depth: int) -> list[str]:
        """Rank by cosine."""
        scores = self._vectors @ self._encoder.queries([question])[0]
        return [self._ids[number] for number in np.argsort(-scores, kind="stable")[:depth]]


if __name__ == "__main__":
    serve(Dense)
