"""R-04, R-05 and R-06: threshold, personal prior and profile as pure functions."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memvault.runtime.settings import load
from memvault_router.domain.labels import FACETS, INTENTS, top
from memvault_router.domain.operators.fusion import left_open
from memvault_router.domain.operators.personalise import Personalise, PersonalNumbers, reweighted
from memvault_router.domain.profile import Window, WindowCounts, combined, frequencies, growth
from memvault_router.domain.state import Frequencies, Question
from memvault_router.domain.threshold import ThresholdNumbers, after_verdict, start_rate, threshold
from memvault_router.settings import RouterSettings

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
WINDOWS = (Window(7, 0.5), Window(30, 0.3), Window(90, 0.2))
NUMBERS = PersonalNumbers(alpha=0.25, least_samples=50)
LIMITS = ThresholdNumbers(start=0.55, floor=0.40, ceiling=0.75, rate=0.1)


def question(**known):
    raw = dict.fromkeys(INTENTS, 0.1) | {"factual": 0.3, "exploratory": 0.3}
    state = Question("最近怎麼樣", NOW, UTC, raw_intents=raw, raw_facets=left_open(FACETS[:2], FACETS, 0.06))
    return replace(state, **known)


@pytest.mark.r("R-05")
def test_the_formula_is_p_times_one_plus_alpha_times_frequency_renormalised():
    result = reweighted({"a": 0.6, "b": 0.4}, {"a": 0.5, "b": 1.0}, 0.25)
    total = 0.6 * 1.125 + 0.4 * 1.25
    assert result == pytest.approx({"a": 0.6 * 1.125 / total, "b": 0.4 * 1.25 / total})


@pytest.mark.r("R-05")
def test_one_open_question_leads_two_users_to_different_routes():
    chaser = Frequencies({"factual": 1.0, "exploratory": 0.2}, {"progress": 1.0, "recollection": 0.1}, 60)
    looker = Frequencies({"exploratory": 1.0, "factual": 0.2}, {"recollection": 1.0, "progress": 0.1}, 60)
    step = Personalise(NUMBERS)
    first, second = step(question(frequencies=chaser)), step(question(frequencies=looker))
    assert (top(first.intents)[0], top(first.facets)[0]) == ("factual", "progress")
    assert (top(second.intents)[0], top(second.facets)[0]) == ("exploratory", "recollection")
    assert first.raw_intents == second.raw_intents  # the raw result stays for explanation and profile


@pytest.mark.r("R-05")
def test_below_fifty_questions_the_prior_is_bypassed_and_says_so():
    few = Frequencies({"factual": 1.0}, {"progress": 1.0}, 49)
    state = Personalise(NUMBERS)(question(frequencies=few))
    assert state.intents == state.raw_intents
    assert [(skip.step, skip.reason) for skip in state.skipped] == [("personalise", "few_samples")]
    assert Personalise(NUMBERS)(question(frequencies=replace(few, sample_count=50))).intents != state.raw_intents


@pytest.mark.r("R-05")
def test_the_prior_can_be_switched_off():
    known = Frequencies({"factual": 1.0}, {}, 100)
    state = Personalise(NUMBERS)(question(frequencies=known, off=frozenset({"personalise"})))
    assert state.skipped[0].reason == "switched_off"
    assert state.intents == state.raw_intents


@pytest.mark.r("R-05")
@pytest.mark.parametrize("profile", ["reference", "tuned"])
def test_only_the_tuned_profile_has_numbers_for_habits_and_both_keep_the_formula_for_facets(profile):
    numbers = load("router", RouterSettings, profile=profile, environ={}).personal
    assert (numbers.alpha, numbers.least_samples) == (0.25, 50)
    assert (numbers.habits is not None) == (profile == "tuned")


@pytest.mark.r("R-05")
@pytest.mark.parametrize(("samples", "factor"), [(0, 1), (1, 1), (49, 1), (50, 1.25), (51, 1.25), (5000, 1.25)])
def test_the_reference_profile_has_a_hard_edge_at_fifty(samples, factor):
    step = Personalise(load("router", RouterSettings, profile="reference", environ={}).personal)
    known = Frequencies({"factual": 1.0}, {"progress": 1.0}, samples, {"factual": float(samples)})
    state = step(question(frequencies=known))
    for raw, found, label in (
        (state.raw_intents, state.intents, "factual"),
        (state.raw_facets, state.facets, "progress"),
    ):
        assert found == pytest.approx(reweighted(raw, {label: 1.0}, factor - 1))
    assert state.prior == (dict.fromkeys(INTENTS, 1.0) | {"factual": 1.25} if factor > 1 else {})


@pytest.mark.r("R-05")
def test_the_windows_weigh_half_three_tenths_and_two_tenths():
    counts = [{"a": 1, "b": 1}, {"a": 1, "b": 3}, {"b": 4}]
    a = 0.5 * 0.5 + 0.3 * 0.25
    b = 0.5 * 0.5 + 0.3 * 0.75 + 0.2
    assert combined(counts, WINDOWS) == pytest.approx({"a": a / b, "b": 1.0})


@pytest.mark.r("R-05")
def test_an_empty_window_gives_its_weight_to_the_others():
    counts = [{}, {"a": 1, "b": 3}, {"a": 1}]
    a = 0.6 * 0.25 + 0.4
    b = 0.6 * 0.75
    assert combined(counts, WINDOWS) == pytest.approx({"a": 1.0, "b": b / a})


def test_a_user_without_questions_has_no_frequencies():
    assert combined([{}, {}, {}], WINDOWS) == {}


@pytest.mark.r("R-05")
def test_the_sample_count_is_that_of_the_longest_window():
    counts = [WindowCounts({"factual": 2}, {"none": 2}), WindowCounts({"factual": 5}, {"none": 5})]
    counts.append(WindowCounts({"factual": 9}, {"none": 9}))
    found = frequencies(counts, WINDOWS)
    assert found.sample_count == 9
    # two of the nine were asked within 7 days, three more within 30, four before: 2 x 1 + 3 x 0.5 + 4 x 0.2
    assert found.intent_counts == pytest.approx({"factual": 4.3})


@given(st.lists(st.dictionaries(st.sampled_from(INTENTS), st.integers(1, 1000), max_size=6), min_size=3, max_size=3))
def test_the_most_frequent_label_has_one_and_none_has_more(counts):
    found = combined(counts, WINDOWS)
    if found:
        assert max(found.values()) == pytest.approx(1.0)
        assert min(found.values()) > 0


@pytest.mark.r("R-06")
def test_an_interest_halves_in_its_half_life():
    epoch = NOW - timedelta(days=400)
    added = growth(NOW, epoch, 14.0)
    assert added / growth(NOW + timedelta(days=14), epoch, 14.0) == pytest.approx(0.5)


@pytest.mark.r("R-04")
def test_the_threshold_starts_at_its_start_and_moves_with_the_verdicts():
    rate = start_rate(LIMITS)
    assert threshold(rate, LIMITS) == pytest.approx(0.55)
    assert threshold(after_verdict(rate, LIMITS, overruled=True), LIMITS) > 0.55
    assert threshold(after_verdict(rate, LIMITS, overruled=False), LIMITS) < 0.55


@pytest.mark.r("R-04")
@given(st.lists(st.booleans(), max_size=300))
def test_the_threshold_never_leaves_its_bounds(verdicts):
    rate = start_rate(LIMITS)
    for overruled in verdicts:
        rate = after_verdict(rate, LIMITS, overruled=overruled)
        assert 0.40 <= threshold(rate, LIMITS) <= 0.75


@pytest.mark.r("R-04")
def test_many_verdicts_in_one_direction_reach_the_bound():
    rate = start_rate(LIMITS)
    for _ in range(200):
        rate = after_verdict(rate, LIMITS, overruled=True)
    assert threshold(rate, LIMITS) == pytest.approx(0.75, abs=1e-3)
