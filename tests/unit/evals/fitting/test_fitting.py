"""Fitting: what is written, what is chosen, what is refused (R-03, R-13a, R-15)."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from memvault.runtime.settings import load
from memvault_evals.datasets import Data
from memvault_evals.fitting.cases import Case
from memvault_evals.fitting.choosing import FOLDS, Trials, cross_validated, descend, folds_of, left_out, setting_of
from memvault_evals.fitting.collected import checked
from memvault_evals.fitting.gates import MOST_COST, Gains, bounds_for, by_set, cost, report, skipped
from memvault_evals.fitting.replay import ROUNDING, Replayed, Setup, agrees
from memvault_evals.fitting.writing import written
from memvault_evals.house import EvalError
from memvault_search.domain.gate import GateBounds
from memvault_search.domain.scoring.candidates import assemble
from memvault_search.settings import SearchSettings

NUMBERS = load("search", SearchSettings, profile="tuned", environ={}, home=Path("/nowhere"))
SHIPPED = setting_of(NUMBERS)


def case(set_name: str, scope: str, number: int) -> Case:
    return Case(
        set_name=set_name,
        scope=scope,
        id=f"{set_name}-{number}",
        kind="",
        text="?",
        gold=frozenset({"a"}),
        also=frozenset(),
        intent="factual",
        facet="none",
        bare=False,
        grouping="",
        now=0.0,
        time_range=None,
        time_explicit=False,
        lists=(),
        candidates=assemble([]),
        speakers=(),
        directions=None,
        query_tokens=1,
        known=1.0,
        replies={},
        order=(),
        reranked=0,
    )


CASES = [case(name, f"{name}{number % 7}", number) for name in ("one", "two") for number in range(40)]


class Landscape(Trials):
    """Objective by rule: each weight of the speaker helps `one`; a wide clamp helps `one` and hurts `two`."""

    def values(self, setting):
        gain = {
            "one": 0.1 * (setting.speaker - SHIPPED.speaker) + (setting.clamp - SHIPPED.clamp),
            "two": SHIPPED.clamp - setting.clamp,
        }
        return np.array([0.5 + gain[one.set_name] for one in self.cases])


STEPS = {"speaker": [{"speaker": 0.0}, {"speaker": 3.0}], "clamp": [{"clamp": 0.3}]}
EVERY = np.ones(len(CASES), bool)


def test_descent_takes_what_helps_the_mean_and_nothing_that_costs_one_set_much():
    found = descend(Landscape(CASES, NUMBERS, frozenset()), SHIPPED, STEPS, EVERY)
    assert found == replace(SHIPPED, speaker=3.0)


def test_a_gain_too_small_to_tell_from_noise_moves_nothing():
    tiny = {"speaker": [{"speaker": SHIPPED.speaker + 0.01}]}
    assert descend(Landscape(CASES, NUMBERS, frozenset()), SHIPPED, tiny, EVERY) == SHIPPED


def test_a_set_left_out_does_not_vote_on_its_own_setting():
    trials = Landscape(CASES, NUMBERS, frozenset())
    _, settings = left_out(trials, SHIPPED, STEPS)
    assert settings["two"].clamp == 0.3  # nobody but `two` would object
    assert settings["one"] == SHIPPED


def test_scopes_stay_together_in_folds_and_every_question_is_held_out_once():
    folds = folds_of(CASES)
    by_scope: dict[str, set[int]] = {}
    for one, fold in zip(CASES, folds, strict=True):
        by_scope.setdefault(one.scope, set()).add(int(fold))
    assert all(len(found) == 1 for found in by_scope.values())
    assert set(folds.tolist()) == set(range(FOLDS))
    held = cross_validated(Landscape(CASES, NUMBERS, frozenset()), SHIPPED, STEPS)
    assert (held > 0).all()


@pytest.mark.parametrize(("order", "same"), [("abc", True), ("acb", True), ("bac", False), ("ab", False)])
def test_a_replay_agrees_when_only_scores_equal_but_for_rounding_change_places(monkeypatch, order, same):
    scores = np.array([0.9, 0.5, 0.5 - ROUNDING / 2])
    again = Replayed(tuple("abc"), None, 0, scores, scores)
    monkeypatch.setattr("memvault_evals.fitting.replay.replay", lambda *_: again)
    assert agrees(replace(CASES[0], order=tuple(order)), Setup(NUMBERS)) is same


def test_a_setting_goes_into_the_numbers_and_comes_out_again():
    changed = replace(SHIPPED, method="rrf", k=3.0, speaker=0.5, clamp=0.25, blend_scoring=0.6, depth=30)
    assert setting_of(changed.applied(NUMBERS)) == changed


def gains(lead, spread, gain, sets=("some",)) -> Gains:
    count = len(lead)
    folds = np.arange(count) % FOLDS
    names, sets = np.array(["factual"] * count), np.resize(sets, count)
    return Gains(sets, names, np.array(lead), np.array(spread), np.array(gain), np.ones(count), folds)


@pytest.mark.r("R-15")
def test_the_gate_skips_as_much_as_half_a_point_pays_for():
    # far leads lose nothing by a skip, near ones lose ten points each
    some = gains([0.3] * 50 + [0.12] * 50, [0.5] * 100, [0.0] * 50 + [10.0] * 50)
    every = np.ones(100, bool)
    bounds = bounds_for(some, every)
    dominant, tight = skipped(some, bounds)
    assert bounds.dominant_lead == 0.15
    assert dominant.sum() == 50
    assert cost(some, dominant | tight, every) <= MOST_COST


@pytest.mark.r("R-15")
def test_the_mean_of_many_sets_hides_none_that_loses_by_a_skip():
    # of ten sets one loses two points by every skip at a lead of 0.12
    some = gains(
        [0.12, 0.3] * 500, [0.5] * 1000, ([2.0, 0.0] + [0.0] * 18) * 50, [f"set {at // 2}" for at in range(20)]
    )
    every = np.ones(1000, bool)
    assert cost(some, skipped(some, GateBounds(0.1, 0.0))[0], every) <= MOST_COST
    assert bounds_for(some, every).dominant_lead == 0.15


@pytest.mark.r("R-15")
def test_costs_are_told_by_set_under_the_bounds_of_each_intent():
    some = gains([0.5, 0.1] * 4, [0.5] * 8, [1.0, 0.0, 4.0, 2.0] * 2, ["one", "one", "other", "other"])
    told = by_set(some, {"": GateBounds(9.0, 0.0), "factual": GateBounds(0.3, 0.0)})
    assert [(name, one.questions, one.skipped, one.cost.value, one.gain.value) for name, one in told.items()] == [
        ("one", 4, 50.0, 0.5, 0.5),
        ("other", 4, 50.0, 2.0, 3.0),
    ]


@pytest.mark.r("R-15")
def test_a_rule_whose_skips_cost_too_much_is_given_a_bound_that_nothing_reaches():
    some = gains([5.0] * 100, [0.001] * 100, [20.0] * 100)
    told = report(some)["factual"]
    assert (told.dominant_share, told.tight_share) == (0.0, 0.0)
    assert told.held_out_cost == 0.0


def test_numbers_are_written_in_place_and_comments_stay():
    text = "# head\n[search.gate] # R-15\nfew = 2 # two\ndepth = 15\n\n[tuned.search.fusion]\nk = 10 # why\n"
    values = {"tuned.search.fusion": {"k": 5.0}, "tuned.search.gate.intents.factual": {"dominant_lead": 0.5}}
    again = written(text, values, {"tuned.search.fusion": "make fit"})
    assert again.startswith("# head\n[search.gate] # R-15\nfew = 2 # two\ndepth = 15\n")
    assert "k = 5.0 # why" in again
    assert "[tuned.search.fusion] # make fit" in again
    assert "dominant_lead = 0.5" in again
    assert written(again, values, {"tuned.search.fusion": "make fit"}) == again


def test_only_normalised_sets_are_fitted_on(tmp_path):
    data = Data(tmp_path, tmp_path)
    with pytest.raises(EvalError, match="only normalised sets"):
        checked(data, ["heldout"])
    (tmp_path / "heldout.enc").write_bytes(b"\x00\x01")
    with pytest.raises(EvalError, match="only normalised sets"):
        checked(data, ["heldout"])
    (tmp_path / "other.queries.jsonl").write_text(json.dumps({"id": "1", "text": "x"}) + "\n", encoding="utf-8")
    with pytest.raises(EvalError, match="lacks gold, q, scope"):
        checked(data, ["other"])
