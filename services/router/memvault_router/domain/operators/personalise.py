"""The personal prior: what a user usually asks moves what a question is taken for.

R-05: `p_final = p_classify x (1 + alpha x intent_freq_norm)`, renormalised, from `least_samples` questions on. Where
the profile has numbers for habits, intents follow `memvault_router.domain.habits` instead, from the first question on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memvault.ops import changed
from memvault_router.domain.habits import HabitNumbers, factors, multiplied
from memvault_router.domain.labels import INTENTS, Distribution
from memvault_router.domain.state import Frequencies, Question, Skipped


@dataclass(frozen=True)
class PersonalNumbers:
    """`alpha` is how much a label's frequency may add, 0 to 1; below `least_samples` questions nothing is added.

    `habits` None: intents follow R-05, as facets do.
    """

    alpha: float
    least_samples: int
    habits: HabitNumbers | None = None


def added(frequencies: Mapping[str, float], labels: Sequence[str], alpha: float) -> dict[str, float]:
    """Return 1 + alpha x frequency for every label.

    Args:
        frequencies: Label to normalised frequency, the largest 1; a missing label has 0.
        labels: All labels of the set.
        alpha: See `PersonalNumbers`.
    """
    return {label: 1.0 + alpha * frequencies.get(label, 0.0) for label in labels}


def reweighted(distribution: Distribution, frequencies: Mapping[str, float], alpha: float) -> dict[str, float]:
    """Return p x (1 + alpha x frequency), renormalised, over one label set."""
    return multiplied(distribution, added(frequencies, tuple(distribution), alpha))


@dataclass(frozen=True)
class Personalise:
    """Apply the prior to intents and facets; everything downstream reads the result."""

    numbers: PersonalNumbers
    name: str = "personalise"

    def __call__(self, state: Question) -> Question:
        """Fill `intents`, `facets` and `prior`; the raw distributions stay."""
        known, untouched = state.frequencies, changed(state, intents=state.raw_intents, facets=state.raw_facets)
        if self.name in state.off:
            return _skipped(untouched, self.name, "switched_off")
        if known is None:
            return _skipped(untouched, self.name, "no_profile")
        enough = known.sample_count >= self.numbers.least_samples
        if not enough and (self.numbers.habits is None or known.sample_count == 0):
            return _skipped(untouched, self.name, "few_samples")
        prior = self._prior(known, state.votes.open_intents)
        personal = changed(untouched, intents=multiplied(state.raw_intents, prior), prior=prior)
        if not enough:
            return _skipped(personal, f"{self.name}_facets", "few_samples")
        return changed(personal, facets=reweighted(state.raw_facets, known.facets, self.numbers.alpha))

    def _prior(self, known: Frequencies, between: Sequence[str]) -> dict[str, float]:
        habits = self.numbers.habits
        if habits is None:
            return added(known.intents, INTENTS, self.numbers.alpha)
        found = factors(known.intent_counts, habits)
        # words that leave it open between two labels still rule out the others, whatever the user asks mostly
        return (
            {label: by if label in between else min(found.values()) for label, by in found.items()}
            if between
            else found
        )


def _skipped(state: Question, step: str, reason: str) -> Question:
    return changed(state, skipped=(*state.skipped, Skipped(step, reason)))
