"""Labelled questions with what the router makes of each, the numbers of its fusion coming from other folds."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memvault.runtime.settings import load
from memvault_evals.datasets import Data
from memvault_evals.fitting.router import (
    FOLDS,
    STEMS,
    Row,
    balanced,
    fit,
    folds_of,
    probabilities,
    read_rows,
    read_signals,
    verdict_shares,
)
from memvault_evals.house import EvalError
from memvault_evals.suites.intent import CHINESE, OWN, own_texts
from memvault_router.adapters.data_files import load_language
from memvault_router.domain.labels import INTENTS
from memvault_router.settings import RouterSettings

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Questions:
    """n questions: true intents and folds, (n,); the router's probabilities and what it usually says, (n, 6)."""

    labels: Numbers
    folds: Numbers
    chances: Array
    usual: Array

    def only(self, chosen: Mask) -> Questions:
        """Return some of them."""
        return Questions(self.labels[chosen], self.folds[chosen], self.chances[chosen], self.usual[chosen])


def by_language(data: Data, cache_folder: Path) -> dict[str, Questions]:
    """Read public questions and those of our own, and return them by language. Own ones take part in no fit.

    Raises:
        EvalError: When the folder holds no labelled questions.
    """
    public, own = read_rows(data), own_rows()
    if not public:
        raise EvalError(f"no labelled questions: put {STEMS[0]}.jsonl into the folder; docs/data.md says what it holds")
    rows = [*public, *own]
    numbers = load("router", RouterSettings, profile="tuned")
    signals = asyncio.run(read_signals(rows, load_language(), cache_folder))
    cosines, votes = (
        signals.cosines[numbers.nearest_share],
        np.minimum(signals.votes, numbers.intent_fusion.keyword_cap),
    )
    found = held_out(rows, np.arange(len(rows)) < len(public), cosines, votes)
    return {lang: found.only(np.array([row.lang == lang for row in rows])) for lang in ("en", CHINESE)}


def own_rows() -> list[Row]:
    """Return our own questions in the form of labelled rows."""
    return [Row(one.text, _language(one.levels), INTENTS.index(one.intent), OWN) for one in own_texts()]


def _language(levels: Sequence[str]) -> str:
    return CHINESE if f"{OWN}_{CHINESE}" in levels else "en"


def held_out(rows: Sequence[Row], fitted: Mask, cosines: Array, votes: Array) -> Questions:
    """Return what the router makes of each row, with numbers fitted on the rows of other folds that may be fitted on.

    Args:
        rows: n labelled questions.
        fitted: Which may be fitted on, (n,).
        cosines: Pooled cosines, (n, 6).
        votes: Capped votes, (n, 6).
    """
    folds, labels = folds_of(rows), np.array([row.intent for row in rows])
    chances, usual = np.zeros_like(cosines), np.zeros_like(cosines)
    for fold in range(FOLDS):
        train, test = fitted & (folds != fold), folds == fold
        known = [row for row, taken in zip(rows, train, strict=True) if taken]
        numbers = fit(cosines[train], votes[train], labels[train], balanced(known))
        chances[test] = probabilities(cosines[test], votes[test], numbers)
        usual[test] = verdict_shares(known, probabilities(cosines[train], votes[train], numbers))
    return Questions(labels, folds, chances, usual)
