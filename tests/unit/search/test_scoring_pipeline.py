"""The eleven stages together: golden values by hand, and what must hold for any input (R-13, R-13a, R-14)."""

from __future__ import annotations

import math
import pkgutil
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from memvault.runtime.settings import Profile, defaults
from memvault_search.adapters.strengths_file import load_strengths
from memvault_search.domain.scoring import stages
from memvault_search.domain.scoring.candidates import DAY_S, Record, ScoringContext, assemble
from memvault_search.domain.scoring.numbers import ScoringNumbers, Strengths
from memvault_search.domain.scoring.pipeline import CLAMP, STAGES, Scored, score

NOW = 1_790_000_000.0
PROFILES: tuple[Profile, ...] = ("reference", "tuned")


def context(profile: Profile = "reference", **changes: Any) -> ScoringContext:
    section = defaults(profile)["search"]
    made = ScoringContext(
        now=NOW,
        strengths=TypeAdapter(Strengths).validate_python(section["strengths"]),
        numbers=TypeAdapter(ScoringNumbers).validate_python(section["scoring"]),
    )
    return replace(made, **changes)


GOLDEN = Record(
    id="golden",
    base=0.8,
    similarity=0.6,
    length=1000,
    event_time=NOW - 14 * DAY_S,
    recorded_at=NOW - 30 * DAY_S,
    confidence=0.5,
    trust=0.7,
    ups=4,
    downs=1,
    centrality=0.2,
)


def ids(scored: Scored) -> list[str]:
    return [scored.candidates.ids[row] for row in scored.order]


def test_every_file_of_a_stage_is_registered() -> None:
    files = {module.name for module in pkgutil.iter_modules(stages.__path__)}
    assert files == {type(stage).__module__.rsplit(".", 1)[1] for stage in STAGES}
    assert all(type(stage).__name__ == stage.name for stage in STAGES)


@pytest.mark.r("R-13")
def test_the_reference_score_is_the_base_times_every_stages_factor() -> None:
    by_hand = (
        0.8
        * (1 + 0.15 * 0.36787944117144233)  # 14 days: 1/e
        * 0.85  # 0.7 + 0.3 * 0.5
        * 0.91  # 1 - 0.3 * 0.3
        * (1 + 0.15 * 0.7615941559557649)  # tanh(1)
        / 1.3  # one octave above 500
        * 0.5  # the half-life of its tier
        * 1.06  # 1 + 0.3 * 0.2
        * 1.18  # 1 + 0.3 * 0.6
    )
    explanation = score(assemble([GOLDEN]), context()).explain(0)
    assert explanation.score == pytest.approx(by_hand, rel=1e-12)
    assert [name for name, _ in explanation.factors] == [stage.name for stage in STAGES]


@pytest.mark.r("R-13a")
def test_the_tuned_score_is_the_base_times_a_product_held_in_a_band_and_explain_shows_the_clamp() -> None:
    better = replace(GOLDEN, id="better", similarity=0.7)
    poor = replace(GOLDEN, id="poor", trust=0.0, confidence=0.0, downs=9)
    scored = score(assemble([better, GOLDEN, poor]), context("tuned"))
    assert list(scored.names).index(CLAMP) == 8
    golden = scored.explain(1)
    assert golden.score == pytest.approx(0.8)  # the median itself
    assert scored.explain(0).score == pytest.approx(0.8 * 1.21 / 1.18)  # the ratio of the two boosts, in the band
    assert scored.explain(2).score == pytest.approx(0.8 * 0.85)  # pressed to the lower bound


@pytest.mark.r("R-13a")
def test_in_the_tuned_profile_recency_and_decay_are_one_term() -> None:
    scored = score(assemble([GOLDEN]), context("tuned"))
    factors = dict(scored.explain(0).factors)
    assert factors["WeibullDecay"] == 1.0
    assert factors["RecencyBoost"] == pytest.approx(1 + 0.15 * (math.exp(-1) + 0.5) / 2)


@pytest.mark.r("R-13a")
def test_centring_keeps_boosts_alive_where_every_block_is_short_and_old() -> None:
    old = [
        Record(f"b{place}", 0.5, similarity=place / 10, length=40, recorded_at=NOW - 900 * DAY_S, confidence=0.4)
        for place in range(10)
    ]
    spread = {round(float(value), 6) for value in score(assemble(old), context("tuned")).score}
    assert len(spread) > 5


@pytest.mark.r("R-13")
@pytest.mark.parametrize("stage", [stage.name for stage in STAGES])
def test_a_stage_switched_off_is_neutral_and_the_others_stay(stage: str) -> None:
    records = [GOLDEN, replace(GOLDEN, id="spam", quarantine=frozenset({"spam"}), base=0.01)]
    whole = score(assemble(records), context())
    without = score(assemble(records), context(switched_off=frozenset({stage})))
    place = whole.names.index(stage)
    assert (without.factors[place] == 1.0).all()
    others = [row for row in range(len(STAGES)) if row != place]
    assert np.array_equal(without.factors[others], whole.factors[others])


@pytest.mark.r("R-13")
def test_a_three_year_old_often_read_block_still_makes_the_top_fifteen() -> None:
    fresh = [
        Record(
            f"new{place:02}",
            0.5,
            similarity=0.2,
            length=400,
            confidence=0.6,
            trust=0.7,
            event_time=NOW - place * DAY_S,
            recorded_at=NOW - place * DAY_S,
        )
        for place in range(60)
    ]
    old = Record(
        "old",
        0.95,
        similarity=0.7,
        length=400,
        confidence=0.9,
        trust=1.0,
        access_count=40,
        event_time=NOW - 1095 * DAY_S,
        recorded_at=NOW - 1095 * DAY_S,
        last_accessed_at=NOW - 20 * DAY_S,
    )
    for profile in PROFILES:
        assert "old" in ids(score(assemble([*fresh, old]), context(profile)))[:15]


@pytest.mark.r("R-13")
def test_the_same_candidates_come_out_in_another_order_for_another_intent() -> None:
    tables, base = load_strengths(), context().strengths
    trusted = Record("trusted", 0.8, trust=1.0, event_time=NOW - 200 * DAY_S)
    recent = Record("recent", 0.8, trust=0.5, event_time=NOW)
    orders = [
        ids(score(assemble([trusted, recent]), context(strengths=tables.choose(base, intent, "none"))))
        for intent in ("factual", "exploratory")
    ]
    assert orders == [["trusted", "recent"], ["recent", "trusted"]]


@pytest.mark.r("R-14")
@pytest.mark.parametrize("profile", PROFILES)
def test_a_block_scored_late_in_the_frame_of_the_first_list_gets_the_very_same_score(profile: Profile) -> None:
    records = [replace(GOLDEN, id=f"b{place}", base=0.5 + place / 20, trust=place / 10) for place in range(8)]
    whole = score(assemble(records), context(profile))
    for row, record in enumerate(records):
        late = score(assemble([record]), context(profile, best=whole.best, centre=whole.centre))
        assert late.score[0] == pytest.approx(whole.score[row], rel=1e-12)


def test_nothing_found_scores_to_nothing() -> None:
    for profile in PROFILES:
        assert len(score(assemble([]), context(profile)).order) == 0


def test_a_signal_out_of_its_range_is_an_error_and_no_score() -> None:
    with pytest.raises(ArithmeticError, match="TrustBoost"):
        score(assemble([replace(GOLDEN, trust=-9.0)]), context())


def test_a_base_that_is_no_number_is_refused() -> None:
    with pytest.raises(ValueError, match="base"):
        assemble([replace(GOLDEN, base=math.nan)])


UNIT = st.floats(0, 1)
TIMES = st.one_of(st.just(math.nan), st.floats(0, NOW + 400 * DAY_S))


@st.composite
def records(draw: st.DrawFn) -> list[Record]:
    size = draw(st.integers(0, 12))
    return [
        Record(
            id=f"b{place}",
            base=draw(UNIT),
            similarity=draw(st.one_of(st.just(math.nan), UNIT)),
            text=draw(st.sampled_from(["tea at 5", "tea at 6", "茶", "不喝茶"])),
            length=draw(st.one_of(st.just(math.nan), st.floats(0, 70_000))),
            event_time=draw(TIMES),
            recorded_at=draw(TIMES),
            last_accessed_at=draw(TIMES),
            access_count=draw(st.integers(0, 10_000)),
            confidence=draw(UNIT),
            trust=draw(UNIT),
            ups=draw(st.integers(0, 50)),
            downs=draw(st.integers(0, 50)),
            centrality=draw(st.one_of(st.just(math.nan), UNIT)),
            quarantine=draw(st.sampled_from([frozenset[str](), frozenset({"spam"})])),
        )
        for place in range(size)
    ]


def unit_vectors(size: int) -> np.ndarray[Any, np.dtype[np.float32]]:
    angles = np.linspace(0, 3, max(size, 1))[:size]
    return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


@pytest.mark.r("R-13")
@settings(max_examples=60, deadline=None)
@given(found=records(), profile=st.sampled_from(PROFILES), seed=st.integers(0, 99))
def test_scores_are_finite_totally_ordered_explained_and_blind_to_the_order_of_arrival(
    found: list[Record], profile: Profile, seed: int
) -> None:
    vectors = unit_vectors(len(found))
    scored = score(assemble(found, vectors), context(profile))
    assert np.isfinite(scored.score).all()
    assert (scored.score >= 0).all()
    assert sorted(scored.order) == [row for row in range(len(found)) if scored.explain(row).dropped_by is None]
    for row in range(len(found)):
        told = scored.explain(row)
        product = told.base * math.prod(value for _, value in told.factors)
        assert told.score == pytest.approx(product, rel=1e-9, abs=1e-300)
    shuffled = np.random.default_rng(seed).permutation(len(found))
    again = score(assemble([found[row] for row in shuffled], vectors[shuffled]), context(profile))
    assert ids(again) == ids(scored)


@pytest.mark.r("R-13")
@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize(
    ("signal", "low", "high"),
    [
        ("similarity", 0.1, 0.9),
        ("centrality", 0.0, 1.0),
        ("trust", 0.4, 1.0),
        ("confidence", 0.42, 0.6),
        ("ups", 0, 5),
        ("event_time", NOW - 60 * DAY_S, NOW - DAY_S),
        ("recorded_at", NOW - 60 * DAY_S, NOW - DAY_S),
        ("access_count", 0, 30),
        ("length", 100, 500),
        ("base", 0.7, 0.75),
    ],
)
def test_more_of_a_signal_never_ranks_a_block_lower(signal: str, low: float, high: float, profile: Profile) -> None:
    changed: Any = {signal: low}
    less = replace(GOLDEN, id="less", **changed)
    changed = {signal: high}
    more = replace(GOLDEN, id="more", **changed)
    scored = score(assemble([less, more]), context(profile))
    assert ids(scored) == ["more", "less"]
    assert scored.score[1] > scored.score[0]
