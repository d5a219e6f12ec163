"""mem0 without an LLM: every block is added as it is (`infer=False`), searched by meaning and by BM25.

Its BM25 encoder downloads a list of English stop words, and nothing else, from a model hub. Here the encoder is given
the list of scikit-learn in its place, because a hub cannot be reached; without any list mem0 would search by meaning
only. Its lemmatiser needs a spaCy model from the network and stays off.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fastembed import SparseTextEmbedding  # type: ignore[import-not-found]
from mem0 import Memory  # type: ignore[import-not-found]
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS  # type: ignore[import-not-found]

from memvault_evals.peers.runners.minilm import model_folder
from memvault_evals.peers.runners.serving import serve

DIMENSION = 384  # of either encoder
USER = "peer"
LOWEST = 0.0  # of a score: the default of 0.1 would cut the list


class Mem0:
    """One memory whose store is emptied for each fill."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        folder = Path(settings["work"])
        store = {"path": str(folder / "qdrant"), "collection_name": "blocks", "embedding_model_dims": DIMENSION}
        self._memory = Memory.from_config(
            {
                "embedder": _embedder(settings),
                "vector_store": {"provider": "qdrant", "config": {**store, "on_disk": True}},
                "history_db_path": str(folder / "history.sqlite"),
            }
        )
        (folder / "bm25").mkdir()
        (folder / "bm25" / "english.txt").write_text("\n".join(sorted(ENGLISH_STOP_WORDS)), encoding="utf-8")
        self._words = SparseTextEmbedding("Qdrant/bm25", specific_model_path=str(folder / "bm25"))

    def fill(self, folder: Path, blocks: Sequence[Mapping[str, str]]) -> None:  # noqa: ARG002 - one path for all
        """Add every block as a message of its own."""
        self._memory.reset()
        store: Any = self._memory.vector_store
        store._bm25_encoder = self._words  # noqa: SLF001 - it has no setting for where its list lies
        for block in blocks:
            message = [{"role": "user", "content": block["text"]}]
            self._memory.add(message, user_id=USER, infer=False, metadata={"block": block["id"]})
        if not store.keyword_search(query=blocks[0]["text"], top_k=1, filters={"user_id": USER}):
            raise RuntimeError("mem0's BM25 does not find a block by its own words")

    def ask(self, question: str, depth: int) -> list[str]:
        """Search with the defaults, deep enough."""
        found = self._memory.search(question, filters={"user_id": USER}, top_k=depth, threshold=LOWEST)
        return [one["metadata"]["block"] for one in found["results"]]


def _embedder(settings: Mapping[str, Any]) -> dict[str, Any]:
    if settings["encoder"] == "minilm":
        return {"provider": "huggingface", "config": {"model": model_folder(), "embedding_dims": DIMENSION}}
    given = {"openai_base_url": settings["address"], "api_key": "none", "model": "e5", "embedding_dims": DIMENSION}
    return {"provider": "openai", "config": given}


if __name__ == "__main__":
    serve(Mem0)
