"""The self-check of slow answers: is what was found good enough, and what to try if not (R-35, after CRAG)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum


class Grade(StrEnum):
    """How well the retrieved set answers the question."""

    CORRECT = "correct"
    AMBIGUOUS = "ambiguous"
    INCORRECT = "incorrect"


class Step(StrEnum):
    """What follows from a grade."""

    ACCEPT = "accept"
    WIDEN = "widen"
    RETRY = "retry"
    GIVE_UP = "give_up"


@dataclass(frozen=True)
class SelfCheckNumbers:
    """Bounds on calibrated relevances in [0, 1].

    Attributes:
        correct_from: One relevance this high makes the set correct.
        incorrect_below: All relevances below this make it incorrect.
        looked_at: How many of the best are looked at.
    """

    correct_from: float
    incorrect_below: float
    looked_at: int

    def __post_init__(self) -> None:
        if not 0.0 <= self.incorrect_below <= self.correct_from <= 1.0 or self.looked_at < 1:
            raise ValueError("self_check needs 0 <= incorrect_below <= correct_from <= 1 and looked_at >= 1")


def grade(relevances: Sequence[float], numbers: SelfCheckNumbers, reached: Sequence[float] = ()) -> Grade:
    """Grade a retrieved set by the calibrated similarities of its members, in [0, 1], best first; none is incorrect.

    Args:
        relevances: Of what search found.
        numbers: The bounds.
        reached: Of what a widened walk reached; it can only raise the grade.
    """
    best = max((*relevances[: numbers.looked_at], *reached[: numbers.looked_at]), default=0.0)
    if best >= numbers.correct_from:
        return Grade.CORRECT
    return Grade.INCORRECT if best < numbers.incorrect_below else Grade.AMBIGUOUS


def next_step(verdict: Grade, tried: Collection[Step], *, widest: bool = False) -> Step:
    """Return what to do about a grade, given what was tried: each remedy once, and a correct set is left alone.

    Args:
        verdict: The grade.
        tried: The remedies already taken.
        widest: The walk covers everything already, so that widening would only repeat it.
    """
    if verdict is Grade.CORRECT:
        return Step.ACCEPT
    if verdict is Grade.AMBIGUOUS:
        return Step.ACCEPT if tried or widest else Step.WIDEN
    return Step.GIVE_UP if Step.RETRY in tried else Step.RETRY
