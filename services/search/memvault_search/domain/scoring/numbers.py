"""The numbers of R-13 to R-17 as frozen values. They hold no defaults: `memvault/defaults.toml` does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Strengths:
    """How strongly each signal counts for one intent and facet (R-09, R-13).

    All in [0, 1]; 0 switches a signal off. `blend_scoring` is w_s of R-16; w_r is 1 - w_s.
    """

    recency: float
    importance: float
    trust: float
    feedback: float
    length: float
    centrality: float
    semantic: float
    blend_scoring: float

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not 0.0 <= value <= 1.0:
                message = f"strength {name} must lie in [0, 1], not {value}"
                raise ValueError(message)

    def where_words_tell_length(self, share: float) -> Strengths:
        """The strengths for a question whose words weigh `share` in [0, 1]: BM25 allows for length already."""
        return replace(self, length=self.length * (1.0 - share))


@dataclass(frozen=True)
class Tier:
    """A tier of stage 6: blocks of at least this confidence halve their weight in `half_life_days`."""

    name: str
    min_confidence: float
    half_life_days: float


@dataclass(frozen=True)
class ScoringNumbers:
    """Constants of the eleven stages.

    `combine` is `product` (reference) or `clamped` (tuned: stages 1 and 6 share one term, and the
    product of stages 1 to 8, relative to its median over the candidates when `clamp_centre` is
    `median`, stays within [clamp_low, clamp_high]).
    """

    recency_scale_days: float
    feedback_scale: float
    length_target_chars: float
    weibull_shape: float
    weibull_floor: float
    weibull_max_stretch: float
    tiers: tuple[Tier, ...]
    min_score_ratio: float
    quarantine_tags: frozenset[str]
    duplicate_cosine: float
    duplicate_factor: float
    combine: str
    clamp_low: float
    clamp_high: float
    clamp_centre: str

    def __post_init__(self) -> None:
        if self.combine not in {"product", "clamped"}:
            message = f"combine must be 'product' or 'clamped', not {self.combine!r}"
            raise ValueError(message)
        if self.clamp_centre not in {"one", "median"}:
            message = f"clamp_centre must be 'one' or 'median', not {self.clamp_centre!r}"
            raise ValueError(message)
        limits = [tier.min_confidence for tier in self.tiers]
        if not limits or limits != sorted(limits, reverse=True) or limits[-1] != 0.0:
            message = "tiers must be listed by falling min_confidence and end with one at 0"
            raise ValueError(message)


@dataclass(frozen=True)
class StrengthTables:
    """What each intent and each facet changes in the default strengths: the content of `data/strengths.toml`."""

    by_intent: Mapping[str, Mapping[str, float]]
    by_facet: Mapping[str, Mapping[str, float]]

    def choose(
        self, default: Strengths, intent: str, facet: str, own: Mapping[str, Mapping[str, float]] | None = None
    ) -> Strengths:
        """Return one question's strengths: defaults, then the intent's changes, then the facet's.

        `own`: what the profile changes of the intents' tables. An intent or facet without a table keeps what was
        there. Raises TypeError on an unknown strength, ValueError on one outside [0, 1].
        """
        by_intent = {**self.by_intent.get(intent, {}), **(own or {}).get(intent, {})}
        changes = {**by_intent, **self.by_facet.get(facet, {})}
        return replace(default, **changes)
