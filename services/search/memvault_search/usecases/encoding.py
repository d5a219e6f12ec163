"""Texts of blocks as the vectors that are stored: dense and BM25 for each view, token vectors on request."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np

from memvault.text import search_tokens
from memvault_search.domain.block import StoredBlock
from memvault_search.domain.bm25 import SparseVector, document_weights, sparse_vector
from memvault_search.domain.contexts import Contexts
from memvault_search.domain.statistics import Terms
from memvault_search.domain.vault import Vault
from memvault_search.domain.views import VIEWS, View, stretch
from memvault_search.ports import BlockIndex, Embedder, PassageVectors, ViewVectors
from memvault_search.settings import SearchSettings


class Encoder:
    """Encodes passages; averages of the vault at hand normalise their lengths (R-11)."""

    def __init__(self, embedder: Embedder, index: BlockIndex, settings: SearchSettings) -> None:
        self._embedder = embedder
        self._index = index
        self._bm25 = settings.bm25
        self._token_views = frozenset(settings.writing.token_views)

    async def passages(self, vault: Vault, fresh: Sequence[StoredBlock], contexts: Contexts) -> list[PassageVectors]:
        """Every passage of new blocks in all its views, in order."""
        spots: list[tuple[StoredBlock, int, View]] = []
        wanted: list[_Wanted] = []
        for stored in fresh:
            for passage in stored.passages:
                for view in VIEWS:
                    one = _wanted(stored, passage.number, view, contexts)
                    if one.meaning:
                        spots.append((stored, passage.number, view))
                        wanted.append(one)
        vectors = await self._vectors(vault, wanted)
        views: dict[str, dict[View, ViewVectors]] = {}
        for (stored, number, view), encoded in zip(spots, vectors, strict=True):
            views.setdefault(stored.passages[number].point_id, {})[view] = encoded
        return [
            PassageVectors(stored.block, passage, views[passage.point_id])
            for stored in fresh
            for passage in stored.passages
        ]

    def sources(self, stored: StoredBlock, contexts: Contexts) -> dict[str, str]:
        """Of each passage of a block a hash of all that its point is made of, but for the encoder and averages."""
        return {
            passage.point_id: _source(stored, [_wanted(stored, passage.number, view, contexts) for view in VIEWS])
            for passage in stored.passages
        }

    async def contexts_again(self, vault: Vault, block_ids: Iterable[str], contexts: Contexts) -> list[PassageVectors]:
        """The first and last passages of blocks whose neighbours changed, with their new context views."""
        edges = [
            (stored, number)
            for stored in (vault.get(block_id) for block_id in sorted(block_ids))
            if stored is not None
            for number in sorted({0, len(stored.passages) - 1})
        ]
        wanted = [_wanted(stored, number, "context", contexts) for stored, number in edges]
        encoded = iter(await self._vectors(vault, [one for one in wanted if one.meaning]))
        point_ids = [stored.passages[number].point_id for stored, number in edges]
        known = await self._index.passages(vault.user_id, point_ids)
        refreshed: list[PassageVectors] = []
        for (stored, number), one, point_id in zip(edges, wanted, point_ids, strict=True):
            context = next(encoded) if one.meaning else None
            if point_id not in known:
                continue
            own = self._words(vault, _wanted(stored, number, "self", contexts))
            views: dict[View, ViewVectors] = {"self": ViewVectors(known[point_id].dense["self"], *own)}
            if context is not None:
                views["context"] = context
            refreshed.append(PassageVectors(stored.block, stored.passages[number], views))
        return refreshed

    async def reweighted(
        self, vault: Vault, places: Sequence[tuple[StoredBlock, int]], contexts: Contexts, *, drift: float
    ) -> list[PassageVectors]:
        """Those of the passages whose BM25 weights rest on an average that moved by more than `drift`, with new ones.

        `drift` is a share of the average in force; dense and token vectors stay as they are.
        """
        by_point = {stored.passages[number].point_id: (stored, number) for stored, number in places}
        averages = await self._index.averages(vault.user_id, list(by_point))
        drifted = [
            one
            for one, weighed in averages.items()
            if self._drifted(vault, by_point[one][0].block.service, weighed, drift)
        ]
        again: list[PassageVectors] = []
        for point_id, loaded in (await self._index.passages(vault.user_id, drifted)).items():
            stored, number = by_point[point_id]
            views = {
                view: ViewVectors(dense, *self._words(vault, _wanted(stored, number, view, contexts)))
                for view, dense in loaded.dense.items()
            }
            again.append(PassageVectors(stored.block, stored.passages[number], views))
        return again

    @staticmethod
    def _drifted(vault: Vault, service: str, weighed: Mapping[View, float], drift: float) -> bool:
        return any(
            abs(vault.words.average_length(service, view) - average) > drift * vault.words.average_length(service, view)
            for view, average in weighed.items()
        )

    async def _vectors(self, vault: Vault, wanted: Sequence[_Wanted]) -> list[ViewVectors]:
        if not wanted:
            return []
        with_tokens = [one.view in self._token_views for one in wanted]
        result: list[ViewVectors | None] = [None] * len(wanted)
        for tokens in (True, False):
            places = [place for place, asked in enumerate(with_tokens) if asked == tokens]
            if not places:
                continue
            chosen = [wanted[place].meaning for place in places]
            embedded = await self._embedder.embed(chosen, "passage", token_vectors=tokens)
            for place, dense, token_vectors in zip(places, embedded.vectors, embedded.tokens, strict=True):
                result[place] = ViewVectors(np.asarray(dense), *self._words(vault, wanted[place]), token_vectors)
        return [one for one in result if one is not None]

    def _words(self, vault: Vault, wanted: _Wanted) -> tuple[SparseVector, int, float]:
        """BM25 weights of a text, its length in words, and the average that normalised it."""
        tokens = search_tokens(wanted.words)
        average = vault.words.average_length(wanted.service, wanted.view)
        weights = document_weights(tokens, average, self._bm25.of(wanted.view))
        return sparse_vector(weights), len(tokens), average


@dataclass(frozen=True)
class _Wanted:
    """One view of a passage to encode: the text whose meaning counts, and the one whose words do."""

    service: str
    view: View
    meaning: str
    words: str


def _wanted(stored: StoredBlock, number: int, view: View, contexts: Contexts) -> _Wanted:
    if view == "self":
        meaning, words = (stretch(stored, number, dated=dated).whole for dated in (False, True))
    else:
        meaning, words = (contexts.text(stored, number, dated=dated) for dated in (False, True))
    return _Wanted(stored.block.service, view, meaning, words)


def _source(stored: StoredBlock, wanted: Sequence[_Wanted]) -> str:
    parts = [stored.content_hash, *(part for one in wanted for part in (one.meaning, one.words))]
    return blake2b("\x1e".join(parts).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def terms_of(vectors: ViewVectors) -> Terms:
    """What the statistics keep of a view's words."""
    return Terms(np.asarray(vectors.words[0], np.uint32), vectors.length)
