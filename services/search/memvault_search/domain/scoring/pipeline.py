"""The scoring pipeline (R-13): the eleven stages in order, and the runner that multiplies and remembers.

Reference profile: a candidate's score is its base times every stage's factor. Tuned profile: the
product of stages 1 to 8 is held within a narrow band, so that boosts cannot drown relevance (R-13a);
what the band took away or gave is one more factor, `Clamp`, so that the product still is the score.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from memvault.ops import NULL_OBSERVER, Observer, Operator, run
from memvault_search.domain.scoring.candidates import BoolArray, Candidates, FloatArray, IntArray, ScoringContext
from memvault_search.domain.scoring.ordering import stable_order
from memvault_search.domain.scoring.stages.feedback_boost import FeedbackBoost
from memvault_search.domain.scoring.stages.importance_weight import ImportanceWeight
from memvault_search.domain.scoring.stages.length_norm import LengthNorm
from memvault_search.domain.scoring.stages.min_score_gate import MinScoreGate
from memvault_search.domain.scoring.stages.noise_filter import NoiseFilter
from memvault_search.domain.scoring.stages.pairwise_dedup import PairwiseDedup
from memvault_search.domain.scoring.stages.ppr_boost import PPRBoost
from memvault_search.domain.scoring.stages.recency_boost import RecencyBoost
from memvault_search.domain.scoring.stages.semantic_boost import SemanticBoost
from memvault_search.domain.scoring.stages.trust_boost import TrustBoost
from memvault_search.domain.scoring.stages.weibull_decay import WeibullDecay
from memvault_search.domain.scoring.state import NOT_DROPPED, Effect, ScoringOp, ScoringState, gate_best

STAGES: tuple[ScoringOp, ...] = (
    RecencyBoost(),
    ImportanceWeight(),
    TrustBoost(),
    FeedbackBoost(),
    LengthNorm(),
    WeibullDecay(),
    PPRBoost(),
    SemanticBoost(),
    MinScoreGate(),
    NoiseFilter(),
    PairwiseDedup(),
)
CLAMP = "Clamp"
_FIRST_FILTER = "MinScoreGate"


@dataclass(frozen=True)
class Scored:
    """The outcome: every score, every factor, and who dropped whom.

    `score`: (n,). `order`: rows of the kept candidates, best first, ties by id. `factors`: (s, n), one
    row for each of `names`. `best` and `centre` let a later list be scored on the same scale (R-14).
    """

    candidates: Candidates
    score: FloatArray
    order: IntArray
    names: tuple[str, ...]
    factors: FloatArray
    dropped_by: IntArray
    best: float
    centre: float

    def explain(self, row: int) -> Explanation:
        """Return how the candidate in `row` came by its score."""
        dropped = int(self.dropped_by[row])
        return Explanation(
            id=self.candidates.ids[row],
            base=float(self.candidates.base[row]),
            factors=tuple((name, float(value)) for name, value in zip(self.names, self.factors[:, row], strict=True)),
            score=float(self.score[row]),
            dropped_by=None if dropped == NOT_DROPPED else self.names[dropped],
        )


@dataclass(frozen=True)
class Explanation:
    """base x all factors = score. `dropped_by` names the stage that took the candidate out, if one did."""

    id: str
    base: float
    factors: tuple[tuple[str, float], ...]
    score: float
    dropped_by: str | None


@dataclass(frozen=True)
class Applied:
    """A stage as an operator: calls it, multiplies its factor in, and keeps the record."""

    stage: ScoringOp

    @property
    def name(self) -> str:
        """The stage's name."""
        return self.stage.name

    def __call__(self, state: ScoringState, /) -> ScoringState:
        """Return the state after the stage; raises ArithmeticError if a factor is no finite number >= 0."""
        if self.name == _FIRST_FILTER:
            state = replace(state, best=gate_best(state))
        off = self.name in state.context.switched_off
        return _applied(state, self.name, Effect() if off else self.stage(state))


@dataclass(frozen=True)
class Clamp:
    """Hold the product of the factors so far, relative to a centre, within [low, high] (R-13a).

    Divided by the median over the candidates first: what all of them share (all are short, all are
    old) says nothing about which is better, and would press every product onto the same bound.
    """

    name: str = CLAMP

    def __call__(self, state: ScoringState, /) -> ScoringState:
        """Return the state with one more factor: what the band made of the product, over the product."""
        numbers = state.context.numbers
        product = np.prod(state.factors, axis=0) if state.factors else np.ones(len(state.candidates))
        centre = state.context.centre
        if centre is None:
            centre = float(np.median(product)) if numbers.clamp_centre == "median" and product.size else 1.0
        safe = np.where(product > 0.0, product, 1.0)
        bounded = np.clip(product / centre if centre > 0.0 else product, numbers.clamp_low, numbers.clamp_high)
        factor = np.where(product > 0.0, bounded / safe, 1.0)
        return replace(_applied(state, self.name, Effect(factor=factor)), centre=centre)


def operators(combine: str) -> tuple[Operator[ScoringState], ...]:
    """Return the pipeline for `product` or `clamped`: the stages, with the clamp before the first filter."""
    steps: list[Operator[ScoringState]] = []
    for stage in STAGES:
        if combine == "clamped" and stage.name == _FIRST_FILTER:
            steps.append(Clamp())
        steps.append(Applied(stage))
    return tuple(steps)


def score(candidates: Candidates, context: ScoringContext, observer: Observer = NULL_OBSERVER) -> Scored:
    """Score all candidates of one question.

    Deterministic; order independent of the candidates' order. Raises ArithmeticError when a signal is
    out of its range so far that a factor would be negative or not finite.
    """
    start = ScoringState(
        candidates=candidates,
        context=context,
        score=candidates.base.copy(),
        dropped_by=np.full(len(candidates), NOT_DROPPED, dtype=np.int64),
    )
    end = run(operators(context.numbers.combine), start, observer)
    ranked = stable_order(end.score, candidates.ids)
    return Scored(
        candidates=candidates,
        score=end.score,
        order=ranked[end.kept[ranked]],
        names=end.names,
        factors=np.array(end.factors, dtype=np.float64).reshape(len(end.names), len(candidates)),
        dropped_by=end.dropped_by,
        best=end.best if end.best is not None else 0.0,
        centre=end.centre if end.centre is not None else 1.0,
    )


def _applied(state: ScoringState, name: str, effect: Effect) -> ScoringState:
    size = len(state.candidates)
    factor = np.ones(size) if effect.factor is None else effect.factor
    if not (np.isfinite(factor).all() and (factor >= 0.0).all()):
        message = f"{name} gave a factor that is not a finite number of at least 0"
        raise ArithmeticError(message)
    keep: BoolArray = np.ones(size, dtype=np.bool_) if effect.keep is None else effect.keep
    falls = state.kept & ~keep
    return replace(
        state,
        score=state.score * factor,
        dropped_by=np.where(falls, len(state.names), state.dropped_by),
        names=(*state.names, name),
        factors=(*state.factors, factor),
    )
