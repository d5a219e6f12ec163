"""The smoothed prior of intents: a distribution, neutral without a past, monotone, bounded, as in its golden table."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memvault.runtime.settings import load
from memvault_router.domain.habits import HabitNumbers, chance_of_habit, expected, factors, multiplied
from memvault_router.domain.labels import FACETS, INTENTS, normalised, top
from memvault_router.domain.operators.personalise import Personalise
from memvault_router.domain.state import Frequencies, Question, Votes
from memvault_router.settings import RouterSettings

TUNED = load("router", RouterSettings, profile="tuned", environ={}).personal
NUMBERS = TUNED.habits
NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)

USUAL = dict(zip(INTENTS, (0.167, 0.144, 0.167, 0.174, 0.18, 0.167), strict=True))
"""Of a fit, held still so that the next one does not move the table."""
GOLDEN = [
    ({}, [1.0, 1.0, 1.0, 1.0, 1.0, 1.0]),
    ({"factual": 1.0}, [0.964, 1.216, 0.964, 0.964, 0.964, 0.964]),
    ({"factual": 5.0}, [0.746, 2.506, 0.746, 0.746, 0.746, 0.746]),
    ({"factual": 49.0}, [0.336, 4.945, 0.336, 0.336, 0.336, 0.336]),
    ({"factual": 50.0}, [0.333, 4.958, 0.333, 0.333, 0.333, 0.333]),
    ({"factual": 300.0}, [0.226, 5.597, 0.226, 0.226, 0.226, 0.226]),
    ({"exploratory": 12.0, "unknown": 8.0}, [0.467, 0.467, 0.467, 2.304, 0.467, 1.743]),
    ({"conceptual": 30.5, "cross_domain": 4.2, "factual": 0.2}, [0.378, 0.403, 3.629, 0.378, 0.793, 0.378]),
]
"""Counts, and what the six intents are multiplied with, in the order of `INTENTS`: no edge at fifty."""

counted = st.dictionaries(st.sampled_from(INTENTS), st.floats(0, 3000), max_size=6)
weights = st.lists(st.floats(0.01, 1), min_size=6, max_size=6)
numbers = st.builds(
    lambda k, most, usual: HabitNumbers(k, most, normalised(dict(zip(INTENTS, usual, strict=True)))),
    st.floats(0.5, 100),
    st.floats(0, 1),
    weights,
)


def question(counts, samples=None, **known):
    raw = dict.fromkeys(INTENTS, 0.1) | {"factual": 0.3, "exploratory": 0.3}
    asked = round(sum(counts.values())) if samples is None else samples
    past = Frequencies({}, {"progress": 1.0}, asked, counts)
    state = Question("最近怎麼樣", NOW, UTC, raw_intents=raw, raw_facets=dict.fromkeys(FACETS, 0.2), frequencies=past)
    return replace(state, **known)


@given(counted, numbers)
def test_what_a_user_is_likely_to_ask_is_a_distribution(counts, some):
    found = expected(counts, some)
    assert set(found) == set(INTENTS)
    assert sum(found.values()) == pytest.approx(1)
    assert min(found.values()) > 0


@given(weights, counted)
def test_the_personal_distribution_sums_to_one(shares, counts):
    raw = normalised(dict(zip(INTENTS, shares, strict=True)))
    assert sum(multiplied(raw, factors(counts, NUMBERS)).values()) == pytest.approx(1)


@given(numbers)
def test_without_a_past_nothing_moves(some):
    assert chance_of_habit({}, some) == pytest.approx(0.5)
    assert factors({}, some) == pytest.approx(dict.fromkeys(INTENTS, 1.0))


@given(counted, numbers, st.sampled_from(INTENTS), st.floats(0.2, 50))
def test_an_intent_that_was_asked_more_is_never_less_likely(counts, some, label, more):
    again = {**counts, label: counts.get(label, 0.0) + more}
    assert expected(again, some)[label] >= expected(counts, some)[label] - 1e-9


@given(counted, numbers)
def test_the_prior_is_bounded_by_its_reserve_and_by_certainty(counts, some):
    for label, factor in factors(counts, some).items():
        assert 1 - some.most - 1e-9 <= factor <= 1 / some.usual[label] * (1 + 1e-9)


@given(st.integers(1, 400), numbers)
def test_somebody_who_asks_as_everybody_does_is_not_moved(times, some):
    counts = {label: times * share for label, share in some.usual.items()}
    assert factors(counts, some) == pytest.approx(dict.fromkeys(INTENTS, 1.0))


def test_doubt_gives_way_to_a_habit_and_grows_without_one():
    steady = [chance_of_habit({"factual": times}, NUMBERS) for times in (1, 5, 20, 100)]
    even = [chance_of_habit(dict.fromkeys(INTENTS, times), NUMBERS) for times in (1, 5, 20, 100)]
    assert steady == sorted(steady)
    assert steady[-1] > 0.999
    assert even == sorted(even, reverse=True)
    assert even[-1] < 0.01


@pytest.mark.parametrize(("counts", "wanted"), GOLDEN)
def test_the_tuned_profile_multiplies_as_written_down(counts, wanted):
    numbers = HabitNumbers(NUMBERS.pseudo_count, NUMBERS.most, USUAL)
    assert factors(counts, numbers) == pytest.approx(dict(zip(INTENTS, wanted, strict=True)), abs=0.001)


@pytest.mark.parametrize(
    ("samples", "skipped"),
    [
        (0, [("personalise", "few_samples")]),
        (1, [("personalise_facets", "few_samples")]),
        (49, [("personalise_facets", "few_samples")]),
        (50, []),
    ],
)
def test_intents_are_moved_from_the_first_question_on_and_facets_from_the_fiftieth(samples, skipped):
    state = Personalise(TUNED)(question({"factual": float(samples)}))
    assert [(one.step, one.reason) for one in state.skipped] == skipped
    assert (state.intents != state.raw_intents) == (samples > 0)
    assert bool(state.prior) == (samples > 0)
    assert (state.facets != state.raw_facets) == (samples >= 50)
    assert sum(state.intents.values()) == pytest.approx(1)


def test_what_is_explained_is_what_was_multiplied():
    state = Personalise(TUNED)(question({"factual": 30.0, "unknown": 2.0}))
    assert state.prior == factors({"factual": 30.0, "unknown": 2.0}, NUMBERS)
    assert state.intents == pytest.approx(multiplied(state.raw_intents, state.prior))
    assert top(state.intents)[0] == "factual"


def test_a_question_that_its_words_leave_open_stays_between_the_two_whatever_else_the_user_asks():
    between = Votes(open_intents=("factual", "exploratory"))
    raw = dict.fromkeys(INTENTS, 0.015) | {"factual": 0.47, "exploratory": 0.47}
    state = Personalise(TUNED)(question({"conceptual": 900.0, "exploratory": 20.0}, votes=between, raw_intents=raw))
    assert top(state.intents)[0] == "exploratory"


@pytest.mark.parametrize(
    ("k", "most", "usual"),
    [
        (0, 0.8, NUMBERS.usual),
        (3, 1.1, NUMBERS.usual),
        (3, 0.8, {"factual": 1.0}),
        (3, 0.8, dict.fromkeys(INTENTS, 0.3)),
        (3, 0.8, dict.fromkeys(INTENTS, 0.2) | {"unknown": 0.0}),
    ],
)
def test_numbers_that_make_no_prior_are_refused(k, most, usual):
    with pytest.raises(ValueError, match=r"pseudo_count|usual"):
        HabitNumbers(k, most, usual)
