"""ContextSampler: the last utterances, which are what the next question hangs on (R-51)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from memvault_slow_thinker.domain.prediction import Prediction


@dataclass(frozen=True)
class ContextSampler:
    """Take the last N utterances by event time that say anything."""

    name: str = "context_sampler"

    def __call__(self, state: Prediction, /) -> Prediction:
        """Return the state with its sample, oldest first."""
        spoken = [utterance for utterance in state.window if utterance.text.strip()]
        return replace(state, sample=tuple(spoken[-state.numbers.sample :]))
