"""R-02: the embedding funnel. A question's vector against the vectors of archetype questions."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memvault.ops import changed
from memvault_router.domain.labels import FACETS, INTENTS
from memvault_router.domain.state import Question, Similarities

LEAST_PER_LABEL = 12


@dataclass(frozen=True)
class Archetype:
    """One archetype question: `kind` is `intent` or `facet`, `label` one of that set."""

    kind: str
    label: str
    language: str
    text: str


def content_hash(kind: str, text: str) -> str:
    """Return the key of a cached vector: 32 hex digits over how it was encoded, `query` or `passage`, and the text."""
    return hashlib.sha256(f"{kind}\n{text}".encode()).hexdigest()[:32]


def parse_archetypes(kind: str, document: Mapping[str, Any]) -> tuple[Archetype, ...]:
    """Read an archetype document: `language` and a table `labels` of label to sentences.

    Raises:
        ValueError: When a label is missing, unknown, or has fewer than 12 sentences.
    """
    language, labels = str(document["language"]), document["labels"]
    wanted = FACETS if kind == "facet" else INTENTS
    if set(labels) != set(wanted):
        raise ValueError(f"archetypes {kind}/{language}: labels must be exactly {', '.join(wanted)}")
    for label, texts in labels.items():
        if len(set(texts)) < LEAST_PER_LABEL:
            raise ValueError(f"archetypes {kind}/{language}: {label!r} needs {LEAST_PER_LABEL} different sentences")
    return tuple(Archetype(kind, label, language, text) for label, texts in labels.items() for text in texts)


def centred(vectors: NDArray[np.float32], mean: NDArray[np.float32]) -> NDArray[np.float32]:
    """Subtract the encoder's mean and renormalise (R-10a).

    Args:
        vectors: Shape (n, d) or (d,), unit rows.
        mean: Shape (d,).

    Returns:
        The same shape, unit rows; a row equal to the mean becomes zeros.
    """
    moved = np.asarray(vectors, dtype=np.float32) - mean
    length = np.linalg.norm(moved, axis=-1, keepdims=True)
    return np.asarray(moved / np.maximum(length, np.float32(1e-12)), dtype=np.float32)


_BELOW = np.float32(-2.0)
"""Below every cosine: fills up a row that has fewer archetypes than the longest."""


@lru_cache(maxsize=16)
def nearest_weights(counts: tuple[int, ...], share: float) -> NDArray[np.float32]:
    """Return how much the nearest, second nearest, ... archetype of each label counts: shape (labels, most), sums 1.

    The nearest `share` of a label's archetypes count alike; where the share ends within one, that counts in part.
    A share and not a number: the nearest three of forty are nearer than the nearest three of twenty, so that a label
    would draw questions by how many archetypes it has. With a share only where they lie counts.

    Args:
        counts: How many archetypes each label has, at least 1.
        share: Above 0, at most 1; less than one archetype's worth takes the nearest.
    """
    wanted = share * np.array(counts)
    most = max(1, math.ceil(wanted.max()))
    weights = np.clip(wanted[:, None] - np.arange(most), 0.0, 1.0)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True), np.float32)


def nearest_means(cosines: NDArray[np.float32], weights: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return for each label the weighted mean of its nearest archetypes, shape (labels,).

    Args:
        cosines: Shape (labels, n), a row filled up with anything below -1.
        weights: Shape (labels, most), see `nearest_weights`.
    """
    nearest = np.sort(cosines, axis=1)[:, : -weights.shape[1] - 1 : -1]
    return np.asarray((nearest * weights).sum(axis=1))


@dataclass(frozen=True)
class ArchetypeIndex:
    """All archetypes with their centred unit vectors, shape (n, d), row i belonging to archetype i."""

    encoder_id: str
    archetypes: tuple[Archetype, ...]
    vectors: NDArray[np.float32]

    @cached_property
    def _places(self) -> tuple[NDArray[np.intp], tuple[int, ...]]:
        """Row numbers by label, intents before facets, shape (11, most), filled up with n; and how many are real."""
        labels = [("intent", label) for label in INTENTS] + [("facet", label) for label in FACETS]
        rows: dict[tuple[str, str], list[int]] = {label: [] for label in labels}
        for row, known in enumerate(self.archetypes):
            rows[known.kind, known.label].append(row)
        counts = tuple(len(rows[label]) for label in labels)
        places = np.full((len(labels), max(counts)), len(self.archetypes), np.intp)
        for place, label in enumerate(labels):
            places[place, : counts[place]] = rows[label]
        return places, counts

    def similarities(self, vector: NDArray[np.float32], share: float) -> Similarities:
        """Return for each label the mean centred cosine of the nearest `share` of its archetypes, over all languages.

        The best few are taken and not all: archetypes of one label cover different topics, and a question is near
        to one of them. Languages are pooled because a question may mix them.
        """
        places, counts = self._places
        cosines = np.append(self.vectors @ vector, _BELOW)
        pooled = nearest_means(cosines[places], nearest_weights(counts, share)).tolist()
        intents = len(INTENTS)
        return Similarities(
            dict(zip(INTENTS, pooled[:intents], strict=True)), dict(zip(FACETS, pooled[intents:], strict=True))
        )


@dataclass(frozen=True)
class EmbeddingFunnel:
    """Compare the question's vector with the archetypes; without a vector or an index it says nothing."""

    index: ArchetypeIndex | None
    share: float
    name: str = "embedding"

    def __call__(self, state: Question) -> Question:
        """Fill `similarities`."""
        if state.vector is None or self.index is None:
            return state
        return changed(state, similarities=self.index.similarities(state.vector, self.share))
