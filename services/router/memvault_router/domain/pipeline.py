"""The steps of a classification, in order, in visible tuples: what happens between them needs the network."""

from __future__ import annotations

from dataclasses import dataclass

from memvault.ops import NULL_OBSERVER, Observer, Operator, changed, run
from memvault_router.domain.labels import FACETS, INTENTS, Funnel, normalised, one_hot
from memvault_router.domain.operators.bare import Bareness
from memvault_router.domain.operators.embedding import ArchetypeIndex, EmbeddingFunnel
from memvault_router.domain.operators.follow_up import FollowUp
from memvault_router.domain.operators.fusion import Fusion
from memvault_router.domain.operators.keyword import KeywordFunnel
from memvault_router.domain.operators.personalise import Personalise
from memvault_router.domain.operators.plan import Planner
from memvault_router.domain.operators.time_range import TimeRange
from memvault_router.domain.state import Question


@dataclass(frozen=True)
class Pipeline:
    """The operators of one profile; each can be replaced by another one of the same kind."""

    follow_up: FollowUp
    time_range: TimeRange
    bareness: Bareness
    keyword: KeywordFunnel
    fusion: Fusion
    personalise: Personalise
    planner: Planner
    nearest_share: float

    def complete(self, state: Question, observer: Observer = NULL_OBSERVER) -> Question:
        """Complete a follow-up; what it says then is what is encoded and looked up."""
        return run((self.follow_up,), state, observer)

    @property
    def reading(self) -> tuple[Operator[Question], ...]:
        """The steps that read the words of the question as understood: time, subject, keywords. They need no vector."""
        return (self.time_range, self.bareness, self.keyword)

    def understand(self, state: Question, observer: Observer = NULL_OBSERVER) -> Question:
        """Take all steps that need only words."""
        return run(self.reading, self.complete(state, observer), observer)

    def classify(self, state: Question, index: ArchetypeIndex | None, observer: Observer = NULL_OBSERVER) -> Question:
        """Join both funnels into the raw distributions."""
        steps: tuple[Operator[Question], ...] = (EmbeddingFunnel(index, self.nearest_share), self.fusion)
        return run(steps, state, observer)

    def decide(self, state: Question, observer: Observer = NULL_OBSERVER) -> Question:
        """Apply the personal prior and choose how to look."""
        steps: tuple[Operator[Question], ...] = (self.personalise, self.planner)
        return run(steps, state, observer)


def with_verdict(state: Question, intent: str, facet: str, share: float) -> Question:
    """Return the state after a language model spoke: its labels weigh `share`, the fused distributions the rest."""

    def mixed(known: dict[str, float], label: str, labels: tuple[str, ...]) -> dict[str, float]:
        sure = one_hot(label, labels)
        return normalised({name: (1 - share) * known[name] + share * sure[name] for name in labels})

    return changed(
        state,
        raw_intents=mixed(dict(state.raw_intents), intent, INTENTS),
        raw_facets=mixed(dict(state.raw_facets), facet, FACETS) if facet else state.raw_facets,
        funnel=Funnel.LLM,
    )
