"""MemPalace: `raw` is its store asked by meaning, `hybrid` its search with candidates by meaning and by words.

Its own MiniLM is a download, so that the packaged one is put behind the address it takes instead (`openai-compat`).
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from memvault_evals.peers.runners.endpoint import endpoint
from memvault_evals.peers.runners.minilm import model_folder
from memvault_evals.peers.runners.serving import serve

CHUNK = 800  # characters, MemPalace's own default
BATCH = 100
SPARE = 3  # a block of several chunks may fill several places


class MemPalace:
    """A palace for each fill; a block is a drawer, a long one several with the same parent."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._raw = settings["mode"] == "raw"
        self._minilm = endpoint(_minilm()) if settings["encoder"] == "minilm" else None
        address = self._minilm.__enter__() if self._minilm else settings["address"]
        os.environ.update(
            {
                "MEMPALACE_EMBEDDING_MODEL": "openai-compat",
                "MEMPALACE_EMBEDDING_API_URL": address,
                "MEMPALACE_EMBEDDING_API_MODEL": settings["encoder"],
            }
        )
        # it reads its settings when imported
        from mempalace.palace import get_collection  # type: ignore[import-not-found]  # noqa: PLC0415
        from mempalace.searcher import search_memories  # type: ignore[import-not-found]  # noqa: PLC0415

        self._open, self._search = get_collection, search_memories
        self._palace, self._drawers = "", None

    def fill(self, folder: Path, blocks: Sequence[Mapping[str, str]]) -> None:
        """File the blocks as the miner does: in batches, in bounded drawers."""
        self._palace = str(folder)
        drawers: Any = self._open(self._palace, create=True)
        rows = [row for block in blocks for row in _drawers(block)]
        for begin in range(0, len(rows), BATCH):
            ids, documents, metadatas = zip(*rows[begin : begin + BATCH], strict=True)
            drawers.upsert(ids=list(ids), documents=list(documents), metadatas=list(metadatas))
        self._drawers = drawers
        if not self._raw and not drawers.lexical_search(query=blocks[0]["text"], n_results=1).hits:
            raise RuntimeError("MemPalace does not find a block by its own words")

    def ask(self, question: str, depth: int) -> list[str]:
        """Ask the store, or its search."""
        if self._raw:
            drawers: Any = self._drawers
            found = drawers.query(query_texts=[question], n_results=depth * SPARE)
            return [one.split("#chunk", 1)[0] for one in found.ids[0]]
        found = self._search(question, self._palace, n_results=depth, candidate_strategy="union")
        if "error" in found:
            raise RuntimeError(found["error"])
        return [one for hit in found["results"] for one in _places(hit)]


def _drawers(block: Mapping[str, str]) -> list[tuple[str, str, dict[str, Any]]]:
    text = block["text"]
    parts = [text[begin : begin + CHUNK] for begin in range(0, len(text), CHUNK)]
    common = {"wing": "peer", "room": "blocks", "source_file": block["id"], "parent_drawer_id": block["id"]}
    names = [block["id"] if len(parts) == 1 else f"{block['id']}#chunk{number}" for number in range(len(parts))]
    return [
        (name, part, {**common, "chunk_index": number})
        for number, (name, part) in enumerate(zip(names, parts, strict=True))
    ]


def _places(hit: Mapping[str, Any]) -> list[str]:
    """A hit and the copies of its text that were folded into it."""
    return [hit["drawer_id"], *(one["drawer_id"] for one in hit.get("also_in") or ())]


def _minilm() -> Any:  # noqa: ANN401 - a function from texts to vectors
    from sentence_transformers import SentenceTransformer  # type: ignore[import-not-found]  # noqa: PLC0415

    model = SentenceTransformer(model_folder())
    return lambda texts: model.encode(list(texts), convert_to_numpy=True).tolist()


if __name__ == "__main__":
    serve(MemPalace)
