"""Figures of a classifier that are no mean over rows, with bootstrap intervals over the rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memvault_evals.metrics import RESAMPLES, Figure

BINS = 10
SEED = 20
_LOW, _HIGH = 2.5, 97.5
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Verdict:
    """One classified text: the class it has, the one it was given, and the probability of that, 0 to 1."""

    truth: str
    chosen: str
    confidence: float


def macro_f1(verdicts: Sequence[Verdict]) -> Figure:
    """Return the unweighted mean of F1 over the classes that occur among the truths, in percent.

    F1 = 2 TP / (2 TP + FP + FN). A class that a resample does not hold is left out of its mean.
    """
    truth, chosen = (np.array([getattr(one, name) for one in verdicts]) for name in ("truth", "chosen"))
    classes = sorted({one.truth for one in verdicts})
    is_it = np.stack([truth == one for one in classes], axis=1).astype(np.float64)
    said = np.stack([chosen == one for one in classes], axis=1).astype(np.float64)

    def mean_f1(weights: Floats) -> Floats:
        hits, there, told = weights @ (is_it * said), weights @ is_it, weights @ said
        f1 = np.divide(2 * hits, there + told, out=np.zeros_like(hits), where=there + told > 0)
        occurs = there > 0
        found: Floats = (f1 * occurs).sum(axis=1) / np.maximum(occurs.sum(axis=1), 1)
        return found

    return _figure(mean_f1(np.ones((1, len(verdicts)))), mean_f1(_draws(len(verdicts))), len(verdicts))


def calibration_error(verdicts: Sequence[Verdict]) -> Figure:
    """Return the expected calibration error over ten equal bins, in percent (Guo et al. 2017, equation 3).

    The error of a resample is on average larger than that of the rows, so the interval leans upwards.
    """
    gap = np.array([(one.truth == one.chosen) - one.confidence for one in verdicts])
    members = np.eye(BINS)[[_bin(one.confidence) for one in verdicts]]

    def error(weights: Floats) -> Floats:
        found: Floats = np.abs(weights @ (members * gap[:, None])).sum(axis=1) / len(verdicts)
        return found

    return _figure(error(np.ones((1, len(verdicts)))), error(_draws(len(verdicts))), len(verdicts))


def reliability(verdicts: Sequence[Verdict]) -> list[dict[str, float]]:
    """Return per bin of confidence that holds anything: its bounds, rows, mean confidence, and share of right ones."""
    rows = []
    for number in range(BINS):
        inside = [one for one in verdicts if _bin(one.confidence) == number]
        if inside:
            rows.append(
                {
                    "from": number / BINS,
                    "to": (number + 1) / BINS,
                    "rows": len(inside),
                    "confidence": float(np.mean([one.confidence for one in inside])),
                    "accuracy": float(np.mean([one.truth == one.chosen for one in inside])),
                }
            )
    return rows


def per_class(verdicts: Sequence[Verdict]) -> dict[str, dict[str, float]]:
    """Return precision, recall and F1 in percent of every class that occurs or was chosen, with how often it occurs."""
    found = {}
    for name in sorted({one.truth for one in verdicts} | {one.chosen for one in verdicts}):
        hits = sum(one.truth == one.chosen == name for one in verdicts)
        there, told = (sum(getattr(one, field) == name for one in verdicts) for field in ("truth", "chosen"))
        found[name] = {
            "precision": 100 * hits / told if told else 0.0,
            "recall": 100 * hits / there if there else 0.0,
            "F1": 200 * hits / (there + told),
            "rows": there,
        }
    return found


def confusion(verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """Return truth -> chosen -> rows."""
    table: dict[str, dict[str, int]] = {}
    for one in sorted(verdicts, key=lambda one: (one.truth, one.chosen)):
        row = table.setdefault(one.truth, {})
        row[one.chosen] = row.get(one.chosen, 0) + 1
    return table


def _bin(confidence: float) -> int:
    return min(int(confidence * BINS), BINS - 1)


def _draws(count: int) -> Floats:
    """How often each row stands in each resample, (RESAMPLES, count)."""
    drawn = np.random.default_rng(SEED).integers(0, count, size=(RESAMPLES, count))
    return np.stack([np.bincount(row, minlength=count) for row in drawn]).astype(np.float64)


def _figure(value: Floats, resampled: Floats, count: int) -> Figure:
    low, high = np.percentile(resampled, [_LOW, _HIGH])
    return Figure(float(value[0]) * 100, float(low) * 100, float(high) * 100, count)
