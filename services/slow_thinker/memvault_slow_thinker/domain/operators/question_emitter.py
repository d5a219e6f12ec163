"""QuestionEmitter: the one or two questions worth fetching (R-51, R-53)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from memvault_slow_thinker.domain.admission import refuse_question
from memvault_slow_thinker.domain.prediction import Prediction


@dataclass(frozen=True)
class QuestionEmitter:
    """Emit the best drafts whose confidence passes the fifth admission rule (R-52)."""

    name: str = "question_emitter"

    def __call__(self, state: Prediction, /) -> Prediction:
        """Return the state with what is emitted and what was refused."""
        sure = [draft for draft in state.drafts if refuse_question(draft.confidence, state.limits) is None]
        refused = tuple(draft for draft in state.drafts if draft not in sure)
        return replace(state, emitted=tuple(sure[: state.numbers.emitted]), refused=refused)
