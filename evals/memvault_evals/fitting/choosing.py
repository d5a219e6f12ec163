"""Chooses settings of the tuned profile: coordinate descent, cross-validated, and with whole sets left out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any

import numpy as np
import numpy.typing as npt

from memvault_evals.fitting.cases import Case
from memvault_evals.fitting.replay import Setup, replay
from memvault_evals.metrics import Figure, difference, measures
from memvault_search.settings import SearchSettings

FOLDS = 5
LEAST_GAIN = 0.15
"""Points of the objective that a step away from the shipped value must bring: less is noise."""
MOST_LOSS = 0.75
"""Points of the objective that no single set may lose by a step."""
ROUNDS = 3
METRICS = ("recall@5", "nDCG@10")
FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Setting:
    """What is fitted of the tuned profile of search."""

    method: str
    k: float
    dense_self: float
    dense_context: float
    sparse_self: float
    sparse_context: float
    speaker: float
    clamp: float
    grouping_share: float
    blend_scoring: float
    depth: int

    def applied(self, numbers: SearchSettings) -> SearchSettings:
        """The numbers with this setting in place."""
        names = ("dense_self", "dense_context", "sparse_self", "sparse_context", "speaker")
        weights = {**numbers.finding.weights, **{name: getattr(self, name) for name in names}}
        return numbers.model_copy(
            update={
                "finding": numbers.finding.model_copy(
                    update={"weights": weights, "grouping_share": self.grouping_share}
                ),
                "fusion": replace(numbers.fusion, method=self.method, k=self.k),
                "scoring": replace(numbers.scoring, clamp_low=1.0 - self.clamp, clamp_high=1.0 + self.clamp),
                "strengths": replace(numbers.strengths, blend_scoring=self.blend_scoring),
                "gate": replace(numbers.gate, depth=self.depth),
            }
        )


def setting_of(numbers: SearchSettings) -> Setting:
    """What the numbers hold now."""
    weights = numbers.finding.weights
    return Setting(
        method=numbers.fusion.method,
        k=numbers.fusion.k,
        dense_self=weights["dense_self"],
        dense_context=weights["dense_context"],
        sparse_self=weights["sparse_self"],
        sparse_context=weights["sparse_context"],
        speaker=weights["speaker"],
        clamp=round(numbers.scoring.clamp_high - 1.0, 6),
        grouping_share=numbers.finding.grouping_share,
        blend_scoring=numbers.strengths.blend_scoring,
        depth=numbers.gate.depth,
    )


Change = Mapping[str, Any]
Steps = Mapping[str, Sequence[Change]]
"""Groups of numbers, and what is tried for each."""

FINDING: Steps = {
    "fusion": [{"method": "convex"}, *({"method": "rrf", "k": k} for k in (3.0, 5.0, 10.0, 20.0))],
    "speaker": [{"speaker": weight} for weight in (0.0, 0.5, 1.0, 1.5, 2.0)],
    "context": [
        {"dense_context": dense, "sparse_context": sparse} for dense in (0.5, 1.0) for sparse in (0.5, 1.0, 1.5, 2.0)
    ],
    "dense_self": [{"dense_self": weight} for weight in (0.5, 1.0, 1.5)],
    "grouping": [{"grouping_share": share} for share in (0.4, 0.6, 0.7, 0.8, 0.9)],
    "clamp": [{"clamp": width} for width in (0.05, 0.1, 0.15, 0.25)],
}
"""Tried without a rerank, so that what is found does not lean on it. `sparse_self` stays 1: only ratios count."""
RERANKING: Steps = {
    "blend": [{"blend_scoring": share} for share in (0.2, 0.3, 0.4, 0.5, 0.6, 0.7)],
    "depth": [{"depth": count} for count in (10, 15, 30)],
}
"""Tried with a rerank of every question."""


class Trials:
    """Values of every case under every setting that was asked for, each computed once."""

    def __init__(self, cases: Sequence[Case], numbers: SearchSettings, off: frozenset[str]) -> None:
        """`off`: parts that stay off, as in `Setup`."""
        self.cases = cases
        self._numbers = numbers
        self._off = off
        self._known: dict[Setting, FloatArray] = {}

    def values(self, setting: Setting) -> FloatArray:
        """Objective of each case, [n] in 0 to 1: the mean of `METRICS`."""
        known = self._known.get(setting)
        if known is None:
            setup = Setup(setting.applied(self._numbers), off=self._off)
            known = np.array([np.mean(list(measured(case, setup).values())) for case in self.cases])
            self._known[setting] = known
        return known

    @property
    def settings(self) -> int:
        """How many settings were tried."""
        return len(self._known)


def measured(case: Case, setup: Setup) -> dict[str, float]:
    """The metrics of the objective for one case."""
    ids = [one for one in replay(case, setup).ids if one not in case.also]
    found = measures(ids, case.gold)
    return {name: found[name] for name in METRICS}


def by_set(values: FloatArray, cases: Sequence[Case], chosen: npt.NDArray[np.bool_]) -> dict[str, float]:
    """Mean of each set over the chosen cases, in points."""
    names = np.array([case.set_name for case in cases])
    return {name: float(100 * values[chosen & (names == name)].mean()) for name in dict.fromkeys(names[chosen])}


def descend(
    trials: Trials,
    start: Setting,
    steps: Steps,
    chosen: npt.NDArray[np.bool_],
    tell: Callable[[str], None] = lambda _: None,
) -> Setting:
    """Walk from `start` along one group of numbers after the other while the mean over the sets rises.

    Every set weighs the same. A step must bring `LEAST_GAIN` and may cost no set more than `MOST_LOSS`.
    """
    best = start
    for _ in range(ROUNDS):
        before = best
        for group, choices in steps.items():
            near = [best, *(replace(best, **change) for change in choices)]
            worth = [_worth(trials, one, best, chosen) for one in near]
            best = near[int(np.argmax(worth))]
            tell(f"{group}: {best}")
        if best == before:
            break
    return best


def _worth(trials: Trials, setting: Setting, base: Setting, chosen: npt.NDArray[np.bool_]) -> float:
    if setting == base:
        return LEAST_GAIN
    now = by_set(trials.values(setting), trials.cases, chosen)
    before = by_set(trials.values(base), trials.cases, chosen)
    if min(now[name] - before[name] for name in now) < -MOST_LOSS:
        return -np.inf
    return float(np.mean([now[name] - before[name] for name in now]))


def folds_of(cases: Sequence[Case]) -> npt.NDArray[np.int64]:
    """A fold for every case: whole scopes together, or single questions where a set has fewer scopes than folds."""
    scopes: dict[str, set[str]] = {}
    for case in cases:
        scopes.setdefault(case.set_name, set()).add(case.scope)
    places = {
        name: {scope: place % FOLDS for place, scope in enumerate(sorted(listed))} for name, listed in scopes.items()
    }
    return np.array(
        [
            places[case.set_name][case.scope] if len(scopes[case.set_name]) > 1 else _hashed(case.id) % FOLDS
            for case in cases
        ]
    )


def _hashed(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=4).digest(), "little")


def cross_validated(trials: Trials, start: Setting, steps: Steps) -> FloatArray:
    """Objective of every case under the setting that was chosen without its fold."""
    folds, out = folds_of(trials.cases), np.zeros(len(trials.cases))
    for fold in range(FOLDS):
        held = folds == fold
        if held.any():
            out[held] = trials.values(descend(trials, start, steps, ~held))[held]
    return out


def left_out(trials: Trials, start: Setting, steps: Steps) -> tuple[FloatArray, dict[str, Setting]]:
    """Objective of every case under the setting that was chosen on all other sets, and those settings."""
    names = np.array([case.set_name for case in trials.cases])
    out, settings = np.zeros(len(names)), {}
    for name in dict.fromkeys(names):
        settings[str(name)] = descend(trials, start, steps, names != name)
        out[names == name] = trials.values(settings[str(name)])[names == name]
    return out, settings


def compared(values: FloatArray, base: FloatArray, cases: Sequence[Case]) -> dict[str, Figure]:
    """Paired difference of each set, in points."""
    names = np.array([case.set_name for case in cases])
    return {
        str(name): difference(values[names == name].tolist(), base[names == name].tolist())
        for name in dict.fromkeys(names)
    }
