"""Each of the eleven stages alone, against values worked out by hand (R-13)."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import TypeAdapter

from memvault.runtime.settings import Profile, SettingsError, defaults, load
from memvault_search.adapters.strengths_file import load_strengths
from memvault_search.domain.scoring.candidates import DAY_S, Record, ScoringContext, TimeRange, assemble
from memvault_search.domain.scoring.numbers import ScoringNumbers, Strengths
from memvault_search.domain.scoring.pipeline import STAGES, Scored, score
from memvault_search.domain.scoring.telling_apart import tell_apart
from memvault_search.settings import SearchSettings

NOW = 1_790_000_000.0


def numbers(profile: Profile = "reference") -> ScoringNumbers:
    return TypeAdapter(ScoringNumbers).validate_python(defaults(profile)["search"]["scoring"])


def strengths() -> Strengths:
    return TypeAdapter(Strengths).validate_python(defaults("reference")["search"]["strengths"])


def context(profile: Profile = "reference", **changes: Any) -> ScoringContext:
    return replace(ScoringContext(now=NOW, strengths=strengths(), numbers=numbers(profile)), **changes)


def days_ago(days: float) -> float:
    return NOW - days * DAY_S


def factor(scored: Scored, stage: str, row: int = 0) -> float:
    return float(scored.factors[scored.names.index(stage), row])


def one(stage: str, record: Record, **changes: Any) -> float:
    return factor(score(assemble([record]), context(**changes)), stage)


def test_the_stages_are_the_eleven_in_their_order() -> None:
    assert [stage.name for stage in STAGES] == [
        "RecencyBoost",
        "ImportanceWeight",
        "TrustBoost",
        "FeedbackBoost",
        "LengthNorm",
        "WeibullDecay",
        "PPRBoost",
        "SemanticBoost",
        "MinScoreGate",
        "NoiseFilter",
        "PairwiseDedup",
    ]


@pytest.mark.r("R-13")
@pytest.mark.parametrize(("age", "expected"), [(0, 1.15), (14, 1 + 0.15 / math.e), (28, 1 + 0.15 * math.exp(-2))])
def test_recency_falls_by_e_every_fourteen_days_of_event_time(age: float, expected: float) -> None:
    assert one("RecencyBoost", Record("a", 1.0, event_time=days_ago(age))) == pytest.approx(expected)


@pytest.mark.r("R-13")
def test_what_has_no_time_at_all_is_neither_boosted_nor_punished_for_its_age() -> None:
    assert one("RecencyBoost", Record("a", 1.0)) == 1.0


@pytest.mark.r("R-13", "R-07")
def test_where_the_event_has_no_time_that_of_recording_stands_in() -> None:
    undated = Record("a", 1.0, recorded_at=days_ago(14))
    assert one("RecencyBoost", undated) == pytest.approx(1 + 0.15 / math.e)
    asked = TimeRange(days_ago(20), days_ago(10))
    assert one("RecencyBoost", undated, time_range=asked) == pytest.approx(1.15)
    dated = Record("a", 1.0, event_time=days_ago(14), recorded_at=days_ago(0))
    assert one("RecencyBoost", dated) == pytest.approx(1 + 0.15 / math.e)


def test_what_lies_ahead_counts_as_of_today() -> None:
    assert one("RecencyBoost", Record("a", 1.0, event_time=days_ago(-3))) == pytest.approx(1.15)


@pytest.mark.r("R-07")
@pytest.mark.parametrize(("age", "distance"), [(10, 0), (7, 0), (14, 0), (5, 2), (0, 7), (20, 6)])
def test_with_a_time_range_age_is_the_distance_to_the_range(age: float, distance: float) -> None:
    asked = TimeRange(days_ago(14), days_ago(7))
    boost = one("RecencyBoost", Record("a", 1.0, event_time=days_ago(age)), time_range=asked)
    assert boost == pytest.approx(1 + 0.15 * math.exp(-distance / 14))


@pytest.mark.r("R-13")
@pytest.mark.parametrize(("confidence", "expected"), [(0.0, 0.7), (0.5, 0.85), (1.0, 1.0), (math.nan, 1.0)])
def test_importance_weighs_the_writers_confidence(confidence: float, expected: float) -> None:
    assert one("ImportanceWeight", Record("a", 1.0, confidence=confidence)) == pytest.approx(expected)


@pytest.mark.r("R-13")
@pytest.mark.parametrize(("trust", "expected"), [(1.0, 1.0), (0.5, 0.85), (0.0, 0.7), (math.nan, 1.0)])
def test_trust_takes_away_what_the_source_lacks(trust: float, expected: float) -> None:
    assert one("TrustBoost", Record("a", 1.0, trust=trust)) == pytest.approx(expected)


@pytest.mark.r("R-13")
@pytest.mark.parametrize(("ups", "downs", "net"), [(0, 0, 0), (3, 0, 3), (0, 3, -3), (5, 2, 3), (900, 0, 900)])
def test_feedback_saturates_with_the_net_of_ups_and_downs(ups: float, downs: float, net: float) -> None:
    boost = one("FeedbackBoost", Record("a", 1.0, ups=ups, downs=downs))
    assert boost == pytest.approx(1 + 0.15 * math.tanh(net / 3))


@pytest.mark.r("R-13")
@pytest.mark.parametrize(
    ("length", "expected"),
    [(500, 1.0), (1000, 1 / 1.3), (250, 1 / 1.3), (125, 1 / 1.6), (0, 1 / (1 + 0.3 * math.log2(500)))],
)
def test_length_divides_by_the_octaves_from_five_hundred_characters(length: float, expected: float) -> None:
    assert one("LengthNorm", Record("a", 1.0, length=length)) == pytest.approx(expected)


@pytest.mark.r("R-13")
@pytest.mark.parametrize(("confidence", "half_life"), [(0.85, 180), (0.65, 60), (0.4, 30), (0.39, 14), (0.84, 60)])
def test_at_its_tiers_half_life_a_block_has_exactly_half_its_weight(confidence: float, half_life: float) -> None:
    record = Record("a", 1.0, confidence=confidence, recorded_at=days_ago(half_life))
    assert one("WeibullDecay", record) == pytest.approx(0.5)


@pytest.mark.r("R-13")
def test_forgetting_is_slow_at_first_faster_later_and_ends_in_a_steady_tail() -> None:
    def left(days: float) -> float:
        return one("WeibullDecay", Record("a", 1.0, confidence=0.5, recorded_at=days_ago(days)))

    assert left(1) == pytest.approx(2 ** -((1 / 30) ** 1.3))
    assert 1 - left(2) < left(30) - left(32)
    assert left(400) == left(4000) == 0.3


@pytest.mark.r("R-18")
@pytest.mark.parametrize(("reads", "stretch"), [(0, 1), (1, 2), (7, 4), (511, 10), (100_000, 10)])
def test_reading_lengthens_life_up_to_ten_times(reads: float, stretch: float) -> None:
    record = Record("a", 1.0, confidence=0.3, access_count=reads, recorded_at=days_ago(14 * stretch))
    assert one("WeibullDecay", record) == pytest.approx(0.5)


@pytest.mark.r("R-18")
def test_decay_starts_again_from_the_last_reading() -> None:
    read = Record("a", 1.0, confidence=0.5, recorded_at=days_ago(500), last_accessed_at=days_ago(0))
    assert one("WeibullDecay", read) == 1.0


def test_what_was_never_dated_does_not_decay() -> None:
    assert one("WeibullDecay", Record("a", 1.0, confidence=0.5)) == 1.0


@pytest.mark.r("R-13")
@pytest.mark.parametrize(("signal", "expected"), [(0.0, 1.0), (0.5, 1.15), (1.0, 1.3), (math.nan, 1.0)])
def test_centrality_and_similarity_add_up_to_thirty_per_cent(signal: float, expected: float) -> None:
    assert one("PPRBoost", Record("a", 1.0, centrality=signal)) == pytest.approx(expected)
    assert one("SemanticBoost", Record("a", 1.0, similarity=signal)) == pytest.approx(expected)


@pytest.mark.r("R-13")
def test_the_gate_drops_what_is_below_a_tenth_of_the_best_however_small_the_best_is() -> None:
    scored = score(assemble([Record("a", 0.02), Record("b", 0.002), Record("c", 0.0019)]), context())
    assert [scored.candidates.ids[row] for row in scored.order] == ["a", "b"]
    assert scored.explain(2).dropped_by == "MinScoreGate"


@pytest.mark.r("R-13")
@pytest.mark.parametrize(
    "tag", ["spam", "boilerplate", "low_signal", "test_data", "garbled", "system_echo", "rejected"]
)
def test_each_of_the_seven_quarantine_tags_drops_a_block(tag: str) -> None:
    quarantined = Record("a", 1.0, quarantine=frozenset({tag}))
    near_copy = Record("b", 1.0, quarantine=frozenset({"near_copy"}))
    scored = score(assemble([quarantined, near_copy]), context())
    assert [scored.candidates.ids[row] for row in scored.order] == ["b"]
    assert scored.explain(0).dropped_by == "NoiseFilter"


def deduplicated(*pairs: tuple[str, float, str], cosine: float = 0.9) -> Scored:
    vectors = np.tile(np.array([1.0, 0.0], dtype=np.float32), (len(pairs), 1))
    vectors[1] = [cosine, math.sqrt(1 - cosine**2)]
    return score(assemble([Record(id=i, base=b, text=t) for i, b, t in pairs], vectors), context())


@pytest.mark.r("R-13")
def test_of_two_near_copies_the_lower_is_halved() -> None:
    scored = deduplicated(("a", 0.8, "we met for tea"), ("b", 0.9, "we met for some tea"))
    assert factor(scored, "PairwiseDedup", 0) == 0.5
    assert factor(scored, "PairwiseDedup", 1) == 1.0


@pytest.mark.r("R-13")
def test_at_the_bound_two_blocks_are_no_copies_yet() -> None:
    scored = deduplicated(("a", 0.8, "we met for tea"), ("b", 0.9, "we met for some tea"), cosine=0.849)
    assert factor(scored, "PairwiseDedup", 0) == 1.0


@pytest.mark.r("R-13")
def test_a_copy_of_several_is_halved_once() -> None:
    scored = deduplicated(("a", 0.9, "x y"), ("b", 0.8, "x z"), ("c", 0.7, "x w"))
    assert [factor(scored, "PairwiseDedup", row) for row in range(3)] == [1.0, 0.5, 0.5]


@pytest.mark.r("R-13")
def test_of_two_near_copies_the_lower_must_pass_the_gate_again() -> None:
    scored = deduplicated(("a", 1.0, "x y"), ("b", 0.15, "x z"))
    assert scored.explain(1).dropped_by == "PairwiseDedup"
    assert len(scored.order) == 1


@pytest.mark.r("R-13")
def test_without_vectors_nothing_is_a_copy() -> None:
    scored = score(assemble([Record("a", 1.0, text="x"), Record("b", 1.0, text="x")]), context())
    assert factor(scored, "PairwiseDedup", 1) == 1.0


@pytest.mark.r("R-60a")
@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("the printer is at 10.0.0.5", "the printer is at 10.0.0.8"),
        ("ticket INC-4821 is closed", "ticket INC-4812 is closed"),
        ("會議在三點開始", "會議在五點開始"),
        ("會議改到週三", "會議改到週五"),
        ("Alice likes jasmine tea", "Bob likes jasmine tea"),
        ("王小明明天去台北開會", "李大華明天去台北開會"),
        ("出差去台北", "出差去高雄"),
        ("we deploy on Friday", "we do not deploy on Friday"),
        ("we can merge it", "we can't merge it"),
        ("我要換成 Rust", "我不要換成 Rust"),
        ("報表已經交了", "報表還沒交"),
        ("meet at two", "meet at three"),
        ("the code name is Falcon", "the code name is Osprey"),
    ],
)
def test_two_that_differ_in_a_number_code_name_or_negation_are_not_copies(left: str, right: str) -> None:
    assert tell_apart(left, right)
    assert tell_apart(right, left)


@pytest.mark.r("R-13")
@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("the printer is at 10.0.0.5", "The printer is at 10.0.0.5."),
        ("we met for tea", "We met again for some tea"),
        ("今天去公園散步，天氣很好", "今天到公園散步，天氣真好"),
        ("報表寫完了", "报表写完了"),
        ("That went well with Alice", "It went well with Alice"),
    ],
)
def test_rewordings_of_one_statement_are_copies(left: str, right: str) -> None:
    assert not tell_apart(left, right)


@pytest.mark.r("R-09")
def test_intent_and_facet_change_the_strengths_they_name_and_no_other() -> None:
    tables, base = load_strengths(), strengths()
    assert tables.choose(base, "unknown", "none") == base
    assert tables.choose(base, "entity_lookup", "none") == replace(base, semantic=0.5, blend_scoring=0.2)
    assert tables.choose(base, "factual", "none") == replace(base, trust=0.5)
    assert tables.choose(base, "conceptual", "none") == replace(base, semantic=0.4)
    assert tables.choose(base, "exploratory", "none") == replace(base, recency=0.35, blend_scoring=0.5)
    assert tables.choose(base, "exploratory", "progress") == replace(base, recency=0.40, blend_scoring=0.5)
    assert tables.choose(base, "entity_lookup", "definition").semantic == 0.40
    own = {"entity_lookup": {"blend_scoring": 0.6, "semantic": 0.1}}
    assert tables.choose(base, "entity_lookup", "none", own) == replace(base, semantic=0.1, blend_scoring=0.6)
    assert tables.choose(base, "entity_lookup", "definition", own).semantic == 0.40
    assert tables.choose(base, "factual", "none", own) == replace(base, trust=0.5)


@pytest.mark.r("R-09")
def test_a_profile_cannot_change_a_strength_that_there_is_not(tmp_path: Path) -> None:
    environ = {"MEMVAULT__SEARCH__STRENGTHS_BY_INTENT": '{"factual": {"charm": 0.5}}'}
    with pytest.raises(SettingsError, match="names no strength: charm"):
        load("search", SearchSettings, environ=environ, home=tmp_path)
