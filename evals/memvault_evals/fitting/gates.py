"""Fits the bounds of the attention gate (R-15): per intent, skipping costs at most half a point of nDCG@10."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from memvault_evals.fitting.cases import Case
from memvault_evals.fitting.choosing import folds_of, measured
from memvault_evals.fitting.replay import Setup, replay
from memvault_evals.metrics import Figure, figure
from memvault_search.domain.gate import GateBounds
from memvault_search.settings import SearchSettings

MOST_COST = 0.25
"""Points of nDCG@10, averaged over all questions of an intent: half of what R-15 allows, because what is fitted here
costs more elsewhere."""
MOST_COST_OF_A_SET = 0.5
"""The same of every set with enough questions of an intent: the mean of many must not hide one that loses."""
LEAST_OF_A_SET = 30
LEAST_QUESTIONS = 60
"""An intent with fewer questions takes the stricter of its own bounds and those of all intents together."""
LEADS = (0.1, 0.15, 0.2, 0.25, 0.35, 0.5, 0.75, 1.0, 2.0)
SPREADS = (0.05, 0.02, 0.0)
"""Nothing above the original's: few questions lie that close, so that a larger one would go untested."""
NEVER = 1000.0
"""A lead that no question has."""
FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Gains:
    """Of n questions: set, lead of the first over the second, spread of the cluster, and what a rerank brings.

    `gain`: nDCG@10 with rerank minus without, in points. `weight`: every set weighs the same, mean 1.
    """

    sets: npt.NDArray[np.str_]
    intents: npt.NDArray[np.str_]
    lead: FloatArray
    spread: FloatArray
    gain: FloatArray
    weight: FloatArray
    folds: npt.NDArray[np.int64]


def gains_of(cases: Sequence[Case], numbers: SearchSettings) -> Gains:
    """Replay every question that can be reranked with and without."""
    able = [case for case in cases if not case.bare and case.directions is not None]
    open_gate, shut = Setup(numbers, off=frozenset({"gate"})), Setup(numbers, off=frozenset({"rerank"}))
    leads, spreads, gains = [], [], []
    for case in able:
        scores = replay(case, shut).scores
        first, second = float(scores[0]), float(scores[1]) if len(scores) > 1 else 0.0
        last = float(scores[min(len(scores), numbers.gate.cluster_size) - 1])
        leads.append((first - second) / second if second > 0.0 else NEVER)
        spreads.append((first - last) / first if first > 0.0 else 0.0)
        gains.append(100 * (measured(case, open_gate)["nDCG@10"] - measured(case, shut)["nDCG@10"]))
    names = [case.set_name for case in able]
    share = np.array([1.0 / names.count(name) for name in names])
    return Gains(
        np.array(names),
        np.array([case.intent for case in able]),
        np.array(leads),
        np.array(spreads),
        np.array(gains),
        share / share.mean(),
        folds_of(able),
    )


def skipped(gains: Gains, bounds: GateBounds) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Which questions are skipped as dominant, and which of the others as a tight cluster."""
    dominant = gains.lead >= bounds.dominant_lead
    return dominant, ~dominant & (gains.spread <= bounds.cluster_spread)


def cost(gains: Gains, skips: npt.NDArray[np.bool_], among: npt.NDArray[np.bool_]) -> float:
    """Points of nDCG@10 that the skips lose, averaged over the questions `among`."""
    total = gains.weight[among].sum()
    return float((gains.weight * gains.gain)[among & skips].sum() / total) if total else 0.0


def allowed(gains: Gains, skips: npt.NDArray[np.bool_], among: npt.NDArray[np.bool_]) -> bool:
    """Whether the skips cost little enough, over all sets and in each that has enough questions `among` them."""
    lost = np.where(skips, gains.gain, 0.0)
    parts = [among & (gains.sets == name) for name in dict.fromkeys(gains.sets.tolist())]
    return cost(gains, skips, among) <= MOST_COST and all(
        lost[part].mean() <= MOST_COST_OF_A_SET for part in parts if part.sum() >= LEAST_OF_A_SET
    )


def bounds_for(gains: Gains, among: npt.NDArray[np.bool_]) -> GateBounds:
    """The bounds that skip most while both together are `allowed`; the dominant rule goes first."""
    lead = next((one for one in LEADS if allowed(gains, skipped(gains, GateBounds(one, -1.0))[0], among)), NEVER)
    for spread in SPREADS:
        bounds = GateBounds(lead, spread)
        dominant, tight = skipped(gains, bounds)
        if allowed(gains, dominant | tight, among) and cost(gains, tight, among) <= MOST_COST / 2:
            return bounds
    return GateBounds(lead, 0.0)


def fitted(gains: Gains, among: npt.NDArray[np.bool_]) -> dict[str, GateBounds]:
    """Bounds of every intent; `""` holds those of all questions together."""
    pooled = bounds_for(gains, among)
    found = {"": pooled}
    for intent in sorted(set(gains.intents.tolist())):
        own = among & (gains.intents == intent)
        found[intent] = bounds_for(gains, own)
        if own.sum() < LEAST_QUESTIONS:
            found[intent] = _stricter(found[intent], pooled)
    return found


def _stricter(one: GateBounds, other: GateBounds) -> GateBounds:
    return GateBounds(max(one.dominant_lead, other.dominant_lead), min(one.cluster_spread, other.cluster_spread))


@dataclass(frozen=True)
class RuleReport:
    """Of one intent: its bounds, and per rule the share of questions skipped and the points that cost."""

    bounds: GateBounds
    questions: int
    dominant_share: float
    dominant_cost: float
    tight_share: float
    tight_cost: float
    held_out_cost: float


def report(gains: Gains) -> dict[str, RuleReport]:
    """Fit on everything, and say what the same procedure costs on folds that took no part."""
    every = np.ones(len(gains.gain), np.bool_)
    chosen = fitted(gains, every)
    held = _held_out_skips(gains)
    told = {}
    for intent, bounds in chosen.items():
        among = every if not intent else gains.intents == intent
        dominant, tight = skipped(gains, bounds)
        told[intent or "all"] = RuleReport(
            bounds,
            int(among.sum()),
            float(100 * dominant[among].mean()),
            cost(gains, dominant, among),
            float(100 * tight[among].mean()),
            cost(gains, tight, among),
            cost(gains, held, among),
        )
    return told


@dataclass(frozen=True)
class SetCost:
    """Of one set: its questions, the share skipped in percent, and in points what that costs and all reranks gain."""

    questions: int
    skipped: float
    cost: Figure
    gain: Figure


def by_set(gains: Gains, bounds: Mapping[str, GateBounds]) -> dict[str, SetCost]:
    """What the bounds of every intent cost each set; `""` holds those of an intent that has none of its own."""
    skips = np.zeros(len(gains.gain), np.bool_)
    for intent in set(gains.intents.tolist()):
        dominant, tight = skipped(gains, bounds.get(intent, bounds[""]))
        own = gains.intents == intent
        skips[own] = (dominant | tight)[own]
    told = {}
    for name in dict.fromkeys(gains.sets.tolist()):
        own = gains.sets == name
        shares = gains.gain[own] / 100  # `figure` turns shares into points
        lost = np.where(skips[own], shares, 0.0)
        told[name] = SetCost(
            int(own.sum()), float(100 * skips[own].mean()), figure(lost.tolist()), figure(shares.tolist())
        )
    return told


def _held_out_skips(gains: Gains) -> npt.NDArray[np.bool_]:
    skips = np.zeros(len(gains.gain), np.bool_)
    for fold in sorted(set(gains.folds.tolist())):
        held = gains.folds == fold
        chosen = fitted(gains, ~held)
        for intent in set(gains.intents[held].tolist()):
            dominant, tight = skipped(gains, chosen.get(intent, chosen[""]))
            own = held & (gains.intents == intent)
            skips[own] = (dominant | tight)[own]
    return skips
