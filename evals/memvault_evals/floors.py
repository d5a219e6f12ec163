"""What a recall cannot do without, measured in this process on a copy of the vault's own stores.

Encoding the question; one raw hybrid query; for deep questions also one raw query of the graph's vectors and one
personalised PageRank over the user's graph.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import numpy as np
from numpy.typing import NDArray

from memvault.runtime.settings import Profile, load, load_profiles
from memvault.text import search_tokens
from memvault.vectors import Eq, RankerQuery, SparseVector
from memvault.vectors.edge import EdgeStore
from memvault_cascade.adapters.graph_store import COLLECTION as GRAPH
from memvault_cascade.adapters.graph_store import VectorGraphStore
from memvault_cascade.domain.graph.matrix import build_matrix
from memvault_cascade.domain.graph.model import UserGraph
from memvault_cascade.domain.graph.ppr import Seeds, personalised_pagerank, restart_vector
from memvault_cascade.ports import Kind, Nearest
from memvault_cascade.settings import Settings
from memvault_search.adapters.collections import PASSAGES, passages_spec
from memvault_search.adapters.embedder_opening import open_embedder
from memvault_search.domain.bm25 import sparse_vector
from memvault_search.ports import RunningEmbedder
from memvault_search.settings import EmbedderSettings

FloatArray = NDArray[np.float32]
PROFILE: Profile = "tuned"
_DEPTH = 100
_GRAPH_DEPTH = 20
_SEED_BLOCKS = 15
_FLUSH_S = 3600.0
_NOTES = {"search": (PASSAGES, f"{PASSAGES}.fields.json"), "cascade": (GRAPH, f"{GRAPH}.fields.json")}


class Floor:
    """The product's own encoder without a cache, and its own engine and graph with nothing around them."""

    def __init__(self, user_id: str, encoder: RunningEmbedder, passages: EdgeStore, graph: VectorGraphStore) -> None:
        self._user_id, self._encoder, self._passages, self._graph = user_id, encoder, passages, graph
        self._chance = Random(0)
        self._known = UserGraph(user_id)
        self._numbers = load_profiles("cascade", Settings)[PROFILE].walk
        self._matrix = build_matrix(self._known, self._numbers.edges, datetime.now(UTC))

    @classmethod
    async def open(cls, home: Path, scratch: Path, models: Path, user_id: str) -> Floor:
        """Copy the stores of the stopped vault in `home` to `scratch` and read the user's graph."""
        for owner, names in _NOTES.items():
            for name in names:
                await asyncio.to_thread(_copied, home / "data" / owner / name, scratch / owner / name)
        settings = load("search.embedder", EmbedderSettings, environ={})
        encoder = open_embedder(settings.model_copy(update={"models": str(models)}), scratch)
        await encoder.start()
        store = EdgeStore(scratch / "search", flush_every_s=_FLUSH_S)
        await store.ensure(passages_spec(encoder.dimension))
        graph = VectorGraphStore(EdgeStore(scratch / "cascade", flush_every_s=_FLUSH_S))
        await graph.start(encoder.dimension)
        floor = cls(user_id, encoder, store, graph)
        await floor._read()
        return floor

    async def _read(self) -> None:
        self._known = (await self._graph.load(self._user_id)).graph
        self._matrix = build_matrix(self._known, self._numbers.edges, datetime.now(UTC))

    async def stop(self) -> None:
        """Let go of everything."""
        await self._encoder.stop()
        await self._passages.close()
        await self._graph.stop()

    @property
    def graph_size(self) -> tuple[int, int]:
        """Nodes and edges of the user's graph."""
        return self._matrix.size, int(self._matrix.adjacency.nnz) // 2

    async def embed(self, question: str) -> FloatArray:
        """Encode a question: float32 [dimension]."""
        found: FloatArray = (await self._encoder.embed([question], "query")).vectors[0]
        return found

    async def embed_passage(self, text: str) -> None:
        """Encode a block's text with its token vectors, as writing does."""
        await self._encoder.embed([text], "passage", token_vectors=True)

    async def query(self, question: str, vector: FloatArray, views: Sequence[str] = ("self",)) -> int:
        """Ask for the best 100 by meaning and the best 100 by words, per view; returns how many were found."""
        indices, values = sparse_vector(dict.fromkeys(search_tokens(question), 1.0))
        words = SparseVector(np.array(indices, np.uint32), np.array(values, np.float32))
        own = Eq("user_id", self._user_id)
        rankers = [
            RankerQuery(f"{kind}_{view}", name, asked, _DEPTH, own)
            for view in views
            for kind, name, asked in (("dense", view, vector), ("sparse", f"{view}_words", words))
        ]
        return sum(len(hits) for hits in (await self._passages.query_batch(PASSAGES, rankers)).values())

    async def query_graph(self, vector: FloatArray) -> int:
        """Ask for the nearest facts, entities and communities; returns how many were found."""
        asked = [Nearest(kind.value, kind, vector, _GRAPH_DEPTH) for kind in Kind]
        return sum(len(hits) for hits in (await self._graph.nearest(self._user_id, asked)).values())

    def walk(self) -> float:
        """One personalised PageRank from as many blocks as a walk starts from; returns the rank's sum, which is 1."""
        ids = self._matrix.block_ids
        seeds = Seeds({}, {}, dict.fromkeys(self._chance.sample(ids, min(_SEED_BLOCKS, len(ids))), 1.0))
        mentions = {one: self._known.blocks[one].mentions for one in seeds.blocks if one in self._known.blocks}
        restart = restart_vector(self._matrix, seeds, mentions, self._numbers.seeds)
        return float(personalised_pagerank(self._matrix.adjacency, restart, self._numbers.walk).sum())


def _copied(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target)
    elif source.exists():
        shutil.copy2(source, target)
