"""Fusion by hand-computed values (R-10, R-13, R-14)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memvault_search.domain.fusion import (
    Cutoffs,
    FusionNumbers,
    Ranking,
    Side,
    base_name,
    cutoffs,
    fuse,
    fuse_late,
    of_part,
    part_of,
)

REFERENCE = FusionNumbers(method="rrf", k=60, ceiling="one_side", floor=0.0, dense_spread=0.0, sparse_spread=0.0)
UNCUT = FusionNumbers(method="rrf", k=60, ceiling="all_sides", floor=0.0, dense_spread=0.0, sparse_spread=0.0)


def ranking(name: str, side: Side, *ids: str, weight: float = 1.0, limit: int = 100) -> Ranking:
    return Ranking(name, side, ids, np.arange(len(ids), 0, -1, dtype=np.float64), limit, weight)


def as_dict(ids: tuple[str, ...], values: Any) -> dict[str, float]:
    return dict(zip(ids, values.tolist(), strict=True))


@pytest.mark.r("R-10")
def test_each_ranker_votes_with_one_over_k_plus_rank() -> None:
    fused = fuse([ranking("dense", "dense", "a", "b"), ranking("sparse", "sparse", "b", "c")], REFERENCE)
    assert fused.ids == ("b", "a", "c")
    assert as_dict(fused.ids, fused.score) == pytest.approx({"a": 1 / 61, "b": 1 / 61 + 1 / 62, "c": 1 / 62})
    assert fused.ranks_of(0) == {"dense": 2, "sparse": 1}
    assert fused.ranks_of(1) == {"dense": 1}


@pytest.mark.r("R-10")
def test_weights_scale_a_rankers_vote() -> None:
    fused = fuse([ranking("dense", "dense", "a"), ranking("sparse", "sparse", "b", weight=2)], REFERENCE)
    assert as_dict(fused.ids, fused.score) == pytest.approx({"b": 2 / 61, "a": 1 / 61})


@pytest.mark.r("R-13")
def test_what_only_the_words_find_first_has_a_base_of_one_and_nothing_has_more() -> None:
    fused = fuse([ranking("dense", "dense", "a", "both"), ranking("sparse", "sparse", "word", "both")], REFERENCE)
    base = as_dict(fused.ids, fused.base)
    assert base == {"both": 1.0, "a": 1.0, "word": 1.0}


@pytest.mark.r("R-13")
def test_the_ceiling_is_the_best_of_the_stronger_side() -> None:
    rankings = [
        ranking("self", "dense", "a"),
        ranking("context", "dense", "a"),
        ranking("hyde", "dense", "a"),
        ranking("words", "sparse", "w"),
    ]
    base = as_dict(fuse(rankings, REFERENCE).ids, fuse(rankings, REFERENCE).base)
    assert base == pytest.approx({"a": 1.0, "w": 1 / 3})


@pytest.mark.r("R-13")
def test_without_a_cut_first_in_all_rankers_is_one_and_one_side_alone_a_half() -> None:
    fused = fuse([ranking("dense", "dense", "a", "b"), ranking("sparse", "sparse", "a", "c")], UNCUT)
    assert as_dict(fused.ids, fused.base) == pytest.approx({"a": 1.0, "b": 61 / 124, "c": 61 / 124})


@pytest.mark.r("R-11a")
def test_a_block_that_only_the_words_find_is_ranked_by_its_vote_alone() -> None:
    dense = ranking("dense", "dense", *[f"n{place:03}" for place in range(100)])
    fused = fuse([dense, ranking("sparse", "sparse", "zz-4821")], REFERENCE)
    assert fused.ids[:2] == ("n000", "zz-4821")


@pytest.mark.r("R-10")
def test_the_convex_combination_normalises_each_ranker_over_its_own_list() -> None:
    dense = Ranking("dense", "dense", ("a", "b", "c"), np.array([0.9, 0.5, 0.1]), 100)
    sparse = Ranking("sparse", "sparse", ("c", "d"), np.array([20.0, 5.0]), 100, weight=3)
    fused = fuse(
        [dense, sparse],
        FusionNumbers(method="convex", k=60, ceiling="all_sides", floor=0.0, dense_spread=0.0, sparse_spread=0.0),
    )
    assert as_dict(fused.ids, fused.base) == pytest.approx({"c": 0.75, "a": 0.25, "b": 0.125, "d": 0.0})


@pytest.mark.r("R-10")
def test_with_a_floor_whoever_is_found_last_still_has_more_than_who_is_not_found() -> None:
    dense = Ranking("dense", "dense", ("a", "b", "c"), np.array([0.9, 0.5, 0.1]), 100)
    fused = fuse(
        [dense],
        FusionNumbers(method="convex", k=60, ceiling="all_sides", floor=0.2, dense_spread=0.0, sparse_spread=0.0),
    )
    assert as_dict(fused.ids, fused.base) == pytest.approx({"a": 1.0, "b": 0.6, "c": 0.2})
    with pytest.raises(ValueError, match="floor"):
        FusionNumbers(method="convex", k=60, ceiling="all_sides", floor=1.0, dense_spread=0.0, sparse_spread=0.0)


@pytest.mark.r("R-10")
def test_a_list_in_which_all_are_nearly_equal_is_not_stretched() -> None:
    numbers = FusionNumbers(method="convex", k=60, ceiling="all_sides", floor=0.0, dense_spread=0.05, sparse_spread=0.5)
    near = fuse([Ranking("dense", "dense", ("a", "b"), np.array([0.80, 0.79]), 100)], numbers)
    assert as_dict(near.ids, near.base) == pytest.approx({"a": 1.0, "b": 0.8})
    words = fuse([Ranking("words", "sparse", ("a", "b"), np.array([10.0, 9.0]), 100)], numbers)
    assert as_dict(words.ids, words.base) == pytest.approx({"a": 1.0, "b": 0.8})
    with pytest.raises(ValueError, match="spreads"):
        FusionNumbers(method="convex", k=60, ceiling="all_sides", floor=0.0, dense_spread=2.0, sparse_spread=0.0)


@pytest.mark.r("R-09")
def test_a_list_of_times_votes_by_rank_in_the_convex_combination_too() -> None:
    numbers = FusionNumbers(method="convex", k=10, ceiling="all_sides", floor=0.0, dense_spread=0.0, sparse_spread=0.0)
    recent = Ranking("recent", "dense", ("now", "then", "once"), np.array([1e12, 9e11, 1.0]), 50)
    fused = fuse([recent], numbers)
    assert as_dict(fused.ids, fused.base) == pytest.approx({"now": 1.0, "then": 11 / 12, "once": 11 / 13})


@pytest.mark.r("R-10")
def test_equal_scores_share_a_rank() -> None:
    fused = fuse([Ranking("dense", "dense", ("a", "b", "c"), np.array([0.9, 0.5, 0.5]), 100)], REFERENCE)
    assert [fused.ranks_of(row)["dense"] for row in range(3)] == [1, 2, 2]


def test_ties_go_by_id() -> None:
    fused = fuse([ranking("dense", "dense", "z"), ranking("sparse", "sparse", "a")], REFERENCE)
    assert fused.ids == ("a", "z")


def test_no_ranker_and_empty_rankers_find_nothing() -> None:
    assert fuse([], REFERENCE).ids == ()
    assert fuse([ranking("dense", "dense")], REFERENCE).ids == ()


def test_a_score_that_is_no_number_or_a_doubled_id_is_refused() -> None:
    with pytest.raises(ValueError, match="finite"):
        Ranking("dense", "dense", ("a",), np.array([math.nan]), 10)
    with pytest.raises(ValueError, match="once"):
        Ranking("dense", "dense", ("a", "a"), np.array([1.0, 0.5]), 10)


@pytest.mark.r("R-14")
def test_a_late_block_ranks_behind_those_that_score_higher_and_beyond_the_list_it_gets_nothing() -> None:
    reference = (
        Cutoffs("dense", "dense", np.array([0.9, 0.5, 0.1]), 3, 1.0),
        Cutoffs("sparse", "sparse", np.array([20.0]), 100, 1.0),
    )
    late = fuse_late({"mid": [0.6, math.nan], "last": [0.05, math.nan], "words": [math.nan, 3.0]}, reference, UNCUT)
    assert {one: late.ranks_of(row) for row, one in enumerate(late.ids)} == {
        "mid": {"dense": 2},
        "words": {"sparse": 2},
        "last": {},
    }
    assert as_dict(late.ids, late.score) == pytest.approx({"mid": 1 / 62, "words": 1 / 62, "last": 0.0})


LISTS = st.lists(st.tuples(st.sampled_from("abcdefghij"), st.floats(-50, 50)), max_size=10, unique_by=lambda p: p[0])


@pytest.mark.r("R-14")
@settings(max_examples=80, deadline=None)
@given(lists=st.lists(LISTS, min_size=1, max_size=4), method=st.sampled_from(["rrf", "convex"]))
def test_what_was_in_the_first_list_keeps_its_score_when_it_comes_again(
    lists: list[list[tuple[str, float]]], method: str
) -> None:
    numbers = FusionNumbers(method=method, k=10, ceiling="one_side", floor=0.1, dense_spread=0.05, sparse_spread=0.5)
    sides: tuple[Side, Side] = ("dense", "sparse")
    rankings = [
        Ranking(f"r{place}", sides[place % 2], tuple(i for i, _ in found), np.array([s for _, s in found]), 10)
        for place, found in enumerate(lists)
    ]
    fused = fuse(rankings, numbers)
    scores = {one: [dict(found).get(one, math.nan) for found in lists] for one in fused.ids}
    late = fuse_late(scores, cutoffs(rankings), numbers)
    assert late.ids == fused.ids
    assert late.base == pytest.approx(fused.base)
    assert ((late.base >= 0) & (late.base <= 1)).all()


@pytest.mark.r("R-10")
@settings(max_examples=50, deadline=None)
@given(lists=st.lists(LISTS, min_size=2, max_size=4))
def test_rising_in_one_ranker_never_costs_a_block_its_place(lists: list[list[tuple[str, float]]]) -> None:
    rankings = [
        Ranking(f"r{place}", "dense", tuple(i for i, _ in found), np.array([s for _, s in found]), 10)
        for place, found in enumerate(lists)
    ]
    before = fuse(rankings, REFERENCE)
    if not rankings[0].ids:
        return
    raised = rankings[0].scores.copy()
    raised[0] += 1000
    after = fuse([Ranking("r0", "dense", rankings[0].ids, raised, 10), *rankings[1:]], REFERENCE)
    assert after.ids.index(rankings[0].ids[0]) <= before.ids.index(rankings[0].ids[0])


PARTED = [
    ranking("dense#1", "dense", "a", "x", "b"),
    ranking("sparse#1", "sparse", "a", "x"),
    ranking("dense#2", "dense", "b", "x", "a"),
    ranking("sparse#2", "sparse", "b", "x"),
]


@pytest.mark.r("R-10")
@pytest.mark.parametrize("numbers", [UNCUT, REFERENCE])
def test_of_a_question_in_parts_a_block_has_the_score_of_the_part_that_it_answers_best(numbers: FusionNumbers) -> None:
    fused = fuse(PARTED, numbers)
    assert fused.ids == ("a", "b", "x")
    assert as_dict(fused.ids, fused.score) == pytest.approx({"a": 2 / 61, "b": 2 / 61, "x": 2 / 62})
    assert fused.base[:2].tolist() == [1.0, 1.0]
    votes = dict(zip(fused.rankers, fused.votes[0].tolist(), strict=True))
    assert votes == pytest.approx({"dense#1": 1 / 61, "sparse#1": 1 / 61, "dense#2": 0.0, "sparse#2": 0.0})
    assert fused.votes.sum(axis=1) == pytest.approx(fused.score)


@pytest.mark.r("R-10")
def test_a_ranker_of_the_whole_question_speaks_for_every_part() -> None:
    whole = ranking("hyde", "dense", "x", "b")
    fused = fuse([*PARTED, whole], UNCUT)
    score = as_dict(fused.ids, fused.score)
    assert score == pytest.approx({"a": 2 / 61, "b": 2 / 61 + 1 / 62, "x": 2 / 62 + 1 / 61})
    assert fused.base.max() <= 1.0


@pytest.mark.r("R-14")
def test_a_late_block_of_a_question_in_parts_has_the_place_that_it_had() -> None:
    first = fuse(PARTED, UNCUT)
    tables = {one.name: as_dict(one.ids, one.scores) for one in PARTED}
    again = fuse_late(
        {name: [tables[one.name].get(name, math.nan) for one in PARTED] for name in first.ids}, cutoffs(PARTED), UNCUT
    )
    assert (again.ids, again.base.tolist()) == (first.ids, first.base.tolist())


@given(st.permutations(range(4)))
def test_the_order_of_the_rankers_of_parts_changes_nothing(order: list[int]) -> None:
    first, other = fuse(PARTED, UNCUT), fuse([PARTED[place] for place in order], UNCUT)
    assert (first.ids, first.score.tolist()) == (other.ids, other.score.tolist())


def test_a_rankers_name_tells_the_part_that_it_looks_for() -> None:
    for part in (0, 1, 12):
        name = of_part("dense_self", part)
        assert (base_name(name), part_of(name)) == ("dense_self", part)
    assert of_part("dense_self", 0) == "dense_self"
