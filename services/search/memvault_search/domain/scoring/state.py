"""What passes from stage to stage, and what a stage may answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from memvault_search.domain.scoring.candidates import BoolArray, Candidates, FloatArray, IntArray, ScoringContext

NOT_DROPPED = -1


@dataclass(frozen=True)
class Effect:
    """What a stage does to the candidates: multiply, filter, or both. None is neutral.

    `factor`: (n,) finite and non-negative. `keep`: (n,), False drops the candidate for good.
    """

    factor: FloatArray | None = None
    keep: BoolArray | None = None


@dataclass(frozen=True)
class ScoringState:
    """Scores so far, and how each came about.

    `factors`: one (n,) array for each stage that ran, in order; `names` are theirs.
    `dropped_by`: (n,) index into `names`, or NOT_DROPPED. `best`: the gate's best score, once known.
    `centre`: what the clamp measured against, once known.
    """

    candidates: Candidates
    context: ScoringContext
    score: FloatArray
    dropped_by: IntArray
    names: tuple[str, ...] = ()
    factors: tuple[FloatArray, ...] = ()
    best: float | None = None
    centre: float | None = None

    @property
    def kept(self) -> BoolArray:
        """(n,) True where no stage has dropped the candidate."""
        return np.equal(self.dropped_by, NOT_DROPPED)


class ScoringOp(Protocol):
    """One of the eleven stages."""

    @property
    def name(self) -> str:
        """The stage's name in explanations, as R-13 spells it."""
        ...

    def __call__(self, state: ScoringState, /) -> Effect:
        """Return what this stage does; it changes nothing itself."""
        ...


def neutral_where_unknown(factor: FloatArray) -> FloatArray:
    """Replace nan, the mark of an unknown signal, by the neutral factor 1."""
    return np.where(np.isnan(factor), 1.0, factor)


def gate_best(state: ScoringState) -> float:
    """Return the score that stage 9 measures against.

    That of the list's best candidate, or of an earlier list when this one joins it (R-14); 0 when nothing
    is left.
    """
    known = state.context.best if state.context.best is not None else state.best
    if known is not None:
        return known
    kept = state.score[state.kept]
    return float(kept.max()) if kept.size else 0.0
