"""The priors that are compared, over many people at once. The product's own functions are held equal by a test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
from scipy.special import expit, gammaln

from memvault_evals.personal.people import Prior
from memvault_evals.personal.questions import Array
from memvault_router.domain.operators.personalise import PersonalNumbers
from memvault_router.domain.profile import Window

KS = (2, 3, 6, 10, 30)
MOSTS = (0.8, 0.9, 1.0)
REFERENCE, PLAIN, DOUBT, SHIPPED = "R-05", "plain", "habits", "shipped"
_TINY = 1e-12


def reference(counts: Sequence[Array], _: Array, *, numbers: PersonalNumbers, windows: Sequence[Window]) -> Array:
    """R-05: 1 + alpha x frequency over the windows, the largest 1; nothing below the least number of samples."""
    totals = [count.sum(axis=1, keepdims=True) for count in counts]
    weights = [window.weight * (total > 0) for window, total in zip(windows, totals, strict=True)]
    mixed = sum(w * count / np.maximum(total, 1) for w, count, total in zip(weights, counts, totals, strict=True))
    frequencies = np.asarray(mixed) / np.maximum(np.max(mixed, axis=1, keepdims=True), _TINY)
    longest = max(range(len(windows)), key=lambda place: windows[place].days)
    factor: Array = 1 + numbers.alpha * frequencies * (totals[longest] >= numbers.least_samples)
    return factor


def plain(counts: Sequence[Array], usual: Array, *, k: float, windows: Sequence[Window]) -> Array:
    """Pseudo-counts around 1/6 each, and nothing else: (n_i + k/6) / (N + k) / (1/6)."""
    even = np.full_like(usual, 1 / usual.shape[-1])
    return _pseudo(_weighed(counts, windows), even, k) / even


def habits(counts: Sequence[Array], usual: Array, *, k: float, most: float, windows: Sequence[Window]) -> Array:
    """Return the factors of `memvault_router.domain.habits` for u people, (u, 6)."""
    seen, alpha = _weighed(counts, windows), k * usual
    log_odds = gammaln(k) - gammaln(k + seen.sum(axis=1))
    log_odds = log_odds + (gammaln(seen + alpha) - gammaln(alpha) - seen * np.log(usual)).sum(axis=1)
    habit = most * expit(log_odds)[:, None]
    factor: Array = (habit * _pseudo(seen, usual, k) + (1 - habit) * usual) / usual
    return factor


def _pseudo(seen: Array, around: Array, k: float) -> Array:
    share: Array = (seen + k * around) / (seen.sum(axis=1, keepdims=True) + k)
    return share


def _weighed(counts: Sequence[Array], windows: Sequence[Window]) -> Array:
    weights = [window.weight for window in windows]
    summed: Array = np.tensordot(weights, np.stack(counts), axes=1)
    return summed


def compared(numbers: PersonalNumbers, windows: Sequence[Window]) -> Mapping[str, Prior]:
    """Return every prior by its name; `shipped` is the one of the profile if it has numbers for habits."""
    found: dict[str, Prior] = {REFERENCE: partial(reference, numbers=numbers, windows=windows)}
    found |= {f"{PLAIN} k={k}": partial(plain, k=k, windows=windows) for k in KS}
    for most in MOSTS:
        found |= {f"{DOUBT} k={k} most={most:g}": partial(habits, k=k, most=most, windows=windows) for k in KS}
    if numbers.habits is not None:
        chosen = numbers.habits
        found[SHIPPED] = partial(habits, k=chosen.pseudo_count, most=chosen.most, windows=windows)
    return found
