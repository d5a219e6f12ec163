"""The prediction pipeline (R-51): five operators in order, each replaceable.

Between the first and the second the fuel is gathered, between the second and the third the drafts are
encoded; both are input and output, so the use case does them.
"""

from __future__ import annotations

from dataclasses import dataclass

from memvault.ops import Operator
from memvault_slow_thinker.domain.lexicon import Lexicon
from memvault_slow_thinker.domain.operators.context_sampler import ContextSampler
from memvault_slow_thinker.domain.operators.question_deduplicator import QuestionDeduplicator
from memvault_slow_thinker.domain.operators.question_emitter import QuestionEmitter
from memvault_slow_thinker.domain.operators.question_generator import QuestionGenerator
from memvault_slow_thinker.domain.operators.question_ranker import QuestionRanker
from memvault_slow_thinker.domain.prediction import Prediction


@dataclass(frozen=True)
class PredictionPipeline:
    """`sampling` runs first, `generating` once the fuel is there, `choosing` once the drafts have vectors."""

    sampling: tuple[Operator[Prediction], ...]
    generating: tuple[Operator[Prediction], ...]
    choosing: tuple[Operator[Prediction], ...]

    @property
    def operators(self) -> tuple[Operator[Prediction], ...]:
        """All operators, in order."""
        return (*self.sampling, *self.generating, *self.choosing)


def build_pipeline(lexicon: Lexicon) -> PredictionPipeline:
    """Return the five operators of R-51."""
    return PredictionPipeline(
        sampling=(ContextSampler(),),
        generating=(QuestionGenerator(lexicon),),
        choosing=(QuestionRanker(), QuestionDeduplicator(), QuestionEmitter()),
    )
