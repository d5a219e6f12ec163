"""Invented people: what each likes to ask, what each asked so far, and how the router understood it.

A habit is drawn from a symmetric Dirichlet distribution over the six intents; without one all intents are equally
likely. Questions come evenly, so many a day, and in runs: one may repeat the intent of the one before, which leaves
the habit what it is and makes a history tell less of it. What a person asks later is never what was learned from:
every intent's questions are halved anew for every person.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from memvault_evals.personal.questions import Array, Mask, Numbers, Questions
from memvault_router.domain.labels import INTENTS
from memvault_router.domain.profile import Window

Prior = Callable[[Sequence[Array], Array], Array]
"""Counts by window, each (u, 6), and what the router usually says, (6,) or (u, 6): factors of the intents, (u, 6)."""


@dataclass(frozen=True)
class People:
    """Of u people and n questions: habits (u, 6), which questions serve to ask (u, n), the history as rows (u, t)."""

    habits: Array
    asking: Mask
    history: Numbers

    def weights(self, labels: Numbers) -> Array:
        """How likely each person's next question is each row, (u, n), every person's summing to 1."""
        share = np.zeros(self.asking.shape)
        for intent in range(len(INTENTS)):
            mine = self.asking & (labels == intent)
            share += mine * self.habits[:, [intent]] / mine.sum(axis=1, keepdims=True)
        return share


def draw(
    questions: Questions,
    count: int,
    concentration: float,
    asked: int,
    before: int,
    repeating: float,
    random: np.random.Generator,
) -> People:
    """Draw people who asked `asked` questions out of their habit and, ahead of these, `before` out of another one.

    Args:
        questions: What can be asked, at least two of every intent.
        count: How many people.
        concentration: Of the Dirichlet distribution, above 0: the smaller, the stronger the habit; infinite: no habit.
        asked: Questions of today's habit.
        before: Questions of an earlier habit.
        repeating: How likely a question repeats the intent of the one before, 0 to below 1.
        random: Where chance comes from.
    """
    habits, earlier = _habits(count, concentration, random), _habits(count, concentration, random)
    asking = np.zeros((count, len(questions.labels)), np.bool_)
    history = np.zeros((count, before + asked), np.int64)
    places = [np.flatnonzero(questions.labels == intent) for intent in range(len(INTENTS))]
    for person in range(count):
        wanted = np.concatenate(
            [
                _in_runs(random.choice(len(INTENTS), size, p=habit[person]), repeating, random)
                for size, habit in ((before, earlier), (asked, habits))
            ]
        )
        for intent, rows in enumerate(places):
            shuffled = random.permutation(rows)
            half = len(rows) // 2
            asking[person, shuffled[half:]] = True
            here = wanted == intent
            history[person, here] = random.choice(shuffled[:half], int(here.sum()))
    return People(habits, asking, history)


def _habits(count: int, concentration: float, random: np.random.Generator) -> Array:
    if np.isinf(concentration):
        return np.full((count, len(INTENTS)), 1 / len(INTENTS))
    return random.dirichlet(np.full(len(INTENTS), concentration), count)


def _in_runs(intents: Numbers, repeating: float, random: np.random.Generator) -> Numbers:
    """Let each but the first take the intent of the one before with a chance of `repeating`."""
    begins = random.random(len(intents)) >= repeating
    begins[:1] = True
    runs: Numbers = intents[np.maximum.accumulate(np.where(begins, np.arange(len(intents)), 0))]
    return runs


def understood(questions: Questions, history: Numbers) -> Array:
    """Return the router's raw verdicts on a history, which are what the profile records (R-06), one-hot, (u, t, 6)."""
    return _one_hot(questions.chances.argmax(axis=1)[history])


def in_truth(questions: Questions, history: Numbers) -> Array:
    """Return the true intents of a history, one-hot: what nobody knows."""
    return _one_hot(questions.labels[history])


def fed_back(questions: Questions, history: Numbers, prior: Prior, windows: Sequence[Window], per_day: float) -> Array:
    """Return one-hot verdicts if the profile recorded what the prior itself decided: the loop that R-06 rules out."""
    people, asked = history.shape
    verdicts = np.zeros((people, asked, len(INTENTS)))
    for now in range(asked):
        rows = history[:, now]
        by = prior(in_windows(verdicts[:, :now], windows, per_day), questions.usual[rows])
        verdicts[:, now] = _one_hot((questions.chances[rows] * by).argmax(axis=1))
    return verdicts


def in_windows(verdicts: Array, windows: Sequence[Window], per_day: float) -> list[Array]:
    """Count verdicts (u, t, 6), oldest first and `per_day` a day, within each window before the next question."""
    age_days = (np.arange(verdicts.shape[1])[::-1] + 1) / per_day
    return [verdicts[:, age_days <= window.days].sum(axis=1) for window in windows]


def _one_hot(intents: Numbers) -> Array:
    known: Array = np.eye(len(INTENTS))[intents]
    return known
