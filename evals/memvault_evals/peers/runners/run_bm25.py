"""BM25: over the floor's words, or over those that memvault indexes (stemmed, no stop words, Chinese segmented)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import log
from pathlib import Path
from typing import Any

from memvault.text import search_tokens
from memvault_evals.peers.runners.floor_words import saturated, words
from memvault_evals.peers.runners.serving import serve


class Bm25:
    """An inverted file in memory. IDF = ln(1 + (N - df + 0.5) / (df + 0.5)), as in Lucene."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._words = search_tokens if settings.get("words") == "memvault" else words
        self._ids: list[str] = []
        self._lists: dict[str, list[tuple[int, float]]] = {}

    def fill(self, folder: Path, blocks: Sequence[Mapping[str, str]]) -> None:  # noqa: ARG002 - kept in memory
        """Index the words of the blocks."""
        lists = defaultdict(list)
        for number, weights in enumerate(saturated([self._words(block["text"]) for block in blocks])):
            for word, weight in weights.items():
                lists[word].append((number, weight))
        self._ids, self._lists = [block["id"] for block in blocks], dict(lists)

    def ask(self, question: str, depth: int) -> list[str]:
        """Add up the weights of the question's words; equal scores keep the order of the blocks."""
        scores: dict[int, float] = defaultdict(float)
        for word in dict.fromkeys(self._words(question)):
            holders = self._lists.get(word, ())
            rarity = log(1 + (len(self._ids) - len(holders) + 0.5) / (len(holders) + 0.5))
            for number, weight in holders:
                scores[number] += rarity * weight
        best = sorted(scores, key=lambda number: (-scores[number], number))[:depth]
        return [self._ids[number] for number in best]


if __name__ == "__main__":
    serve(Bm25)
