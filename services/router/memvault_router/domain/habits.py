"""The smoothed personal prior of the tuned profile: what a user is likely to ask, learned from what was understood.

Three steps, each a closed form. Pseudo-counts: p(i) = (n_i + k u_i) / (N + k), a Dirichlet prior around `usual`. Doubt:
the same counts may come from somebody without habits, who asks as `usual` says; even odds before the first question,
and the Bayes factor of the two (Dirichlet-multinomial against multinomial, Minka 2000) after it. Reserve: at most
`most` of the prior is habit, so that a question of an unusual kind is still understood.

`usual` is what the router says when everything is asked equally often, and not 1/6 each: the counts are its own
verdicts, so its leanings stand in numerator and denominator and cancel, where they would otherwise be amplified.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from memvault_router.domain.labels import INTENTS, Distribution, normalised

_WHOLE = 0.01
"""How far shares that are rounded for a file may be from a sum of 1."""


@dataclass(frozen=True)
class HabitNumbers:
    """`pseudo_count` is above 0, `most` 0 to 1; `usual` holds every intent with its share, above 0, summing to 1."""

    pseudo_count: float
    most: float
    usual: Mapping[str, float]

    def __post_init__(self) -> None:
        """Refuse numbers that make no prior.

        Raises:
            ValueError: When one is out of its range.
        """
        if self.pseudo_count <= 0 or not 0 <= self.most <= 1:
            raise ValueError("pseudo_count must be above 0, and most from 0 to 1")
        shares = self.usual.values()
        if set(self.usual) != set(INTENTS) or min(shares) <= 0 or abs(sum(shares) - 1) > _WHOLE:
            raise ValueError(f"usual needs a share above 0 for each of {', '.join(INTENTS)}, summing to 1")

    @cached_property
    def shares(self) -> Mapping[str, float]:
        """`usual` with a sum of exactly 1."""
        return normalised(self.usual)


def chance_of_habit(counts: Mapping[str, float], numbers: HabitNumbers) -> float:
    """Return how likely it is that the counts come from a habit, 0 to 1; 0.5 without counts."""
    usual, k = numbers.shares, numbers.pseudo_count
    total = sum(counts.values())
    log_odds = math.lgamma(k) - math.lgamma(k + total)
    for label, share in usual.items():
        count = counts.get(label, 0.0)
        log_odds += math.lgamma(count + k * share) - math.lgamma(k * share) - count * math.log(share)
    return 1.0 / (1.0 + math.exp(-log_odds)) if log_odds > 0 else math.exp(log_odds) / (1.0 + math.exp(log_odds))


def expected(counts: Mapping[str, float], numbers: HabitNumbers) -> dict[str, float]:
    """Return what the user is likely to ask next: a distribution over the intents; `usual` without counts.

    Args:
        counts: Intent to how often it was understood, at least 0; need not be whole. A missing intent has 0.
        numbers: See `HabitNumbers`.
    """
    usual, k = numbers.shares, numbers.pseudo_count
    total, habit = sum(counts.values()), numbers.most * chance_of_habit(counts, numbers)
    return {
        label: habit * (counts.get(label, 0.0) + k * share) / (total + k) + (1.0 - habit) * share
        for label, share in usual.items()
    }


def factors(counts: Mapping[str, float], numbers: HabitNumbers) -> dict[str, float]:
    """Return what the prior multiplies each intent with: at least 1 - `most`, at most 1 / usual; 1 without counts."""
    usual = numbers.shares
    return {label: share / usual[label] for label, share in expected(counts, numbers).items()}


def multiplied(distribution: Distribution, by: Mapping[str, float]) -> dict[str, float]:
    """Return p x factor, renormalised (Bayes); a label without a factor keeps its weight."""
    return normalised({label: p * by.get(label, 1.0) for label, p in distribution.items()})
