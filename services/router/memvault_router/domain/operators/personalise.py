"""R-05: the personal prior. `p_final = p_classify x (1 + alpha x intent_freq_norm)`, renormalised."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from memvault_router.domain.labels import Distribution, normalised
from memvault_router.domain.state import Question, Skipped


@dataclass(frozen=True)
class PersonalNumbers:
    """`alpha` is how much a label's frequency may add, 0 to 1; below `least_samples` questions nothing is added."""

    alpha: float
    least_samples: int


def reweighted(distribution: Distribution, frequencies: Mapping[str, float], alpha: float) -> dict[str, float]:
    """Return p x (1 + alpha x frequency), renormalised.

    Args:
        distribution: Over one label set.
        frequencies: Label to normalised frequency, the largest 1; a missing label has 0.
        alpha: See `PersonalNumbers`.
    """
    return normalised({label: p * (1.0 + alpha * frequencies.get(label, 0.0)) for label, p in distribution.items()})


@dataclass(frozen=True)
class Personalise:
    """Apply the prior to intents and facets alike; everything downstream reads the result."""

    numbers: PersonalNumbers
    name: str = "personalise"

    def __call__(self, state: Question) -> Question:
        """Fill `intents` and `facets`; the raw distributions stay."""
        reason = self._reason_to_skip(state)
        known = state.frequencies
        if reason or known is None:
            skipped = (*state.skipped, Skipped(self.name, reason or "no_profile"))
            return replace(state, intents=state.raw_intents, facets=state.raw_facets, skipped=skipped)
        return replace(
            state,
            intents=reweighted(state.raw_intents, known.intents, self.numbers.alpha),
            facets=reweighted(state.raw_facets, known.facets, self.numbers.alpha),
        )

    def _reason_to_skip(self, state: Question) -> str:
        if self.name in state.off:
            return "switched_off"
        if state.frequencies is None:
            return "no_profile"
        return "few_samples" if state.frequencies.sample_count < self.numbers.least_samples else ""
