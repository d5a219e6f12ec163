"""R-02: the embedding funnel. A question's vector against the vectors of archetype questions."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

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


def nearest_mean(cosines: NDArray[np.float32], share: float) -> float:
    """Return the mean of the largest `share` of some cosines; where the share ends within one, that counts in part.

    A share and not a number: the nearest three of forty are nearer than the nearest three of twenty, so that a label
    would draw questions by how many archetypes it has. With a share only where they lie counts.

    Args:
        cosines: Shape (n,), n at least 1.
        share: Above 0, at most 1; less than one cosine's worth takes the largest.
    """
    ranked = np.sort(cosines)[::-1]
    weights = np.clip(share * len(ranked) - np.arange(len(ranked)), 0.0, 1.0)
    return float(ranked @ weights / weights.sum())


@dataclass(frozen=True)
class ArchetypeIndex:
    """All archetypes with their centred unit vectors, shape (n, d), row i belonging to archetype i."""

    encoder_id: str
    archetypes: tuple[Archetype, ...]
    vectors: NDArray[np.float32]

    @cached_property
    def _rows(self) -> dict[str, dict[str, NDArray[np.intp]]]:
        """Row numbers by kind and label."""
        return {
            kind: {label: np.array(self._rows_of(kind, label), np.intp) for label in labels}
            for kind, labels in (("intent", INTENTS), ("facet", FACETS))
        }

    def _rows_of(self, kind: str, label: str) -> list[int]:
        return [row for row, known in enumerate(self.archetypes) if known.kind == kind and known.label == label]

    def similarities(self, vector: NDArray[np.float32], share: float) -> Similarities:
        """Return for each label the mean centred cosine of the nearest `share` of its archetypes, over all languages.

        The best few are taken and not all: archetypes of one label cover different topics, and a question is near
        to one of them. Languages are pooled because a question may mix them.
        """
        cosines = self.vectors @ vector
        pooled = {
            kind: {label: nearest_mean(cosines[rows], share) for label, rows in labels.items()}
            for kind, labels in self._rows.items()
        }
        return Similarities(pooled["intent"], pooled["facet"])


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
        return replace(state, similarities=self.index.similarities(state.vector, self.share))
