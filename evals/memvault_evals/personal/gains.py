"""What a prior gains: points of accuracy against no prior, with an interval over both people and questions.

People share the same few hundred questions, so that an interval over people alone would shrink to nothing however few
questions there are: each resample draws people and questions anew (the pigeonhole bootstrap, Owen 2007).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from memvault_evals.metrics import Figure
from memvault_evals.personal.questions import Array, Mask, Numbers, Questions

RESAMPLES = 1000
_LOW, _HIGH = 2.5, 97.5
RARE = 0.05
"""An intent that makes up less of what a person asks is rare for that person."""


@dataclass(frozen=True)
class Gain:
    """How many points a prior gains over none.

    `by_fold` is the same over the questions of each fold alone, `rare` over the rare intents of each person, every
    question weighing the same; NaN when nobody has any.
    """

    figure: Figure
    by_fold: tuple[float, ...]
    rare: float


class Gains:
    """Measures priors on the same people and the same resamples, so that figures can be compared."""

    def __init__(self, questions: Questions, habits: Array, asking: Mask, weights: Array, seed: int) -> None:
        """Prepare for u people and n questions; `weights` (u, n) is how likely each person asks each question next."""
        self._questions = questions
        self._weights = weights
        self._rare = asking & (habits[:, questions.labels] < RARE)
        random = np.random.default_rng(seed)
        people, rows = weights.shape
        self._people = random.multinomial(people, np.full(people, 1 / people), RESAMPLES).astype(np.float64)
        self._rows = random.multinomial(rows, np.full(rows, 1 / rows), RESAMPLES).astype(np.float64)
        self._whole = self._resampled(weights)
        self._right = questions.chances.argmax(axis=1) == questions.labels

    def accuracy(self) -> Figure:
        """Return the accuracy without a prior, in percent."""
        return self._figure(self._weights * self._right)

    def of(self, by: Array) -> Gain:
        """Measure factors, (u, n, 6), or (u, 1, 6) for the same ones for every question."""
        right = (self._questions.chances * by).argmax(axis=2) == self._questions.labels
        change = right.astype(np.float64) - self._right
        weighted = self._weights * change
        folds = self._questions.folds
        return Gain(self._figure(weighted), _by_fold(weighted, self._weights, folds), self._rare_gain(change))

    def _rare_gain(self, change: Array) -> float:
        count = int(self._rare.sum())
        return 100 * float((change * self._rare).sum()) / count if count else float("nan")

    def _figure(self, weighted: Array) -> Figure:
        low, high = np.percentile(100 * self._resampled(weighted) / self._whole, [_LOW, _HIGH])
        return Figure(100 * float(weighted.sum() / len(weighted)), float(low), float(high), len(weighted))

    def _resampled(self, values: Array) -> Array:
        sums: Array = ((self._people @ values) * self._rows).sum(axis=1)
        return sums


def _by_fold(weighted: Array, weights: Array, folds: Numbers) -> tuple[float, ...]:
    return tuple(
        100 * float(weighted[:, folds == fold].sum() / weights[:, folds == fold].sum()) for fold in sorted(set(folds))
    )


def held_out_choice(gains: Sequence[Sequence[Gain]]) -> tuple[int, float, list[int]]:
    """Choose among priors by their mean gain over all cases; tell what choosing on other folds gains.

    Args:
        gains: One row per prior, the same cases in each.

    Returns:
        The best prior's place; the mean gain of each fold with the prior that is best on the others; those priors.
    """
    means = np.array([np.mean([one.by_fold for one in cases], axis=0) for cases in gains])
    others = means.sum(axis=1, keepdims=True) - means
    chosen = others.argmax(axis=0)
    held = float(np.mean(means[chosen, np.arange(means.shape[1])]))
    return int(means.mean(axis=1).argmax()), held, chosen.tolist()
