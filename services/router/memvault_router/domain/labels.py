"""The closed sets a question is sorted into, and distributions over them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from enum import StrEnum, unique


@unique
class Intent(StrEnum):
    """What is being asked."""

    ENTITY_LOOKUP = "entity_lookup"
    FACTUAL = "factual"
    CONCEPTUAL = "conceptual"
    EXPLORATORY = "exploratory"
    CROSS_DOMAIN = "cross_domain"
    UNKNOWN = "unknown"


@unique
class Facet(StrEnum):
    """What kind of answer is wanted inside an intent."""

    PROGRESS = "progress"
    RECOLLECTION = "recollection"
    ADVICE = "advice"
    DEFINITION = "definition"
    NONE = "none"


@unique
class Funnel(StrEnum):
    """What decided the intent."""

    KEYWORD = "keyword"
    EMBEDDING = "embedding"
    FUSED = "fused"
    LLM = "llm"
    OVERRIDE = "override"


INTENTS: tuple[str, ...] = tuple(intent.value for intent in Intent)
FACETS: tuple[str, ...] = tuple(facet.value for facet in Facet)

Distribution = Mapping[str, float]
"""Label to probability, 0 to 1, all labels of one set present, summing to 1."""


def uniform(labels: Iterable[str]) -> dict[str, float]:
    """Return the distribution that knows nothing."""
    names = tuple(labels)
    return dict.fromkeys(names, 1.0 / len(names))


def softmax(scores: Mapping[str, float]) -> dict[str, float]:
    """Turn logits of any range into a distribution; an empty mapping gives an empty one."""
    if not scores:
        return {}
    top = max(scores.values())
    powers = {label: math.exp(score - top) for label, score in scores.items()}
    total = sum(powers.values())
    return {label: power / total for label, power in powers.items()}


def normalised(weights: Mapping[str, float]) -> dict[str, float]:
    """Scale non-negative weights to a sum of 1.

    Raises:
        ValueError: When they sum to 0, which is no distribution.
    """
    total = sum(weights.values())
    if total <= 0:
        raise ValueError("the weights sum to 0: give at least one label a positive weight")
    return {label: weight / total for label, weight in weights.items()}


def ordered(distribution: Distribution) -> list[tuple[str, float]]:
    """Return label and probability, largest first; ties fall to the label that promises least."""
    return sorted(distribution.items(), key=lambda item: (-item[1], item[0] not in {"unknown", "none"}, item[0]))


def top(distribution: Distribution) -> tuple[str, float]:
    """Return the most probable label with its probability."""
    return ordered(distribution)[0]


def one_hot(label: str, labels: Iterable[str]) -> dict[str, float]:
    """Return the distribution that is sure of `label`."""
    return {name: 1.0 if name == label else 0.0 for name in labels}
