"""txtai in its hybrid configuration: vectors in Faiss, BM25 in its own index, scores added half and half."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from txtai import Embeddings  # type: ignore[import-not-found]

from memvault_evals.peers.runners.minilm import model_folder
from memvault_evals.peers.runners.serving import serve

WAIT_S = 300
BATCH = 64


class Txtai:
    """One index, made anew for each fill."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._address = settings["address"]

        def transform(texts: Sequence[str]) -> Any:  # noqa: ANN401 - txtai takes a function and calls anything else
            return self._transform(texts)

        ours = {"method": "external", "transform": transform}
        self._encoder = {"path": model_folder()} if settings["encoder"] == "minilm" else ours
        self._index = Embeddings({**self._encoder, "hybrid": True})

    def fill(self, folder: Path, blocks: Sequence[Mapping[str, str]]) -> None:  # noqa: ARG002 - kept in memory
        """Index the blocks."""
        self._index.index([(block["id"], block["text"], None) for block in blocks])
        if self._index.ann is None or self._index.scoring is None:
            raise RuntimeError("txtai made no hybrid index")

    def ask(self, question: str, depth: int) -> list[str]:
        """Search with the default weights."""
        return [str(found[0]) for found in self._index.search(question, depth)]

    def _transform(self, texts: Sequence[str]) -> Any:  # noqa: ANN401 - an array; numpy's types differ by environment
        vectors: list[list[float]] = []
        for begin in range(0, len(texts), BATCH):
            body = json.dumps({"model": "e5", "input": list(texts[begin : begin + BATCH])}).encode()
            headers = {"content-type": "application/json"}
            request = urllib.request.Request(f"{self._address}/embeddings", body, headers)  # noqa: S310 - our own
            with urllib.request.urlopen(request, timeout=WAIT_S) as answer:  # noqa: S310 - our own address
                vectors += [row["embedding"] for row in json.load(answer)["data"]]
        return np.asarray(vectors, np.float32)


if __name__ == "__main__":
    serve(Txtai)
