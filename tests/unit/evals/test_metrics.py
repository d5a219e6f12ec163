"""Measures of ranked lists, and their intervals."""

import math

import pytest

from memvault_evals.metrics import by_session, difference, figure, measures


def test_recall_counts_what_was_found_and_all_wants_everything() -> None:
    found = measures(["x", "a", "y", "z", "w", "b"], {"a", "b"})
    assert (found["recall@5"], found["recall@10"]) == (0.5, 1.0)
    assert (found["hit@1"], found["hit@5"], found["all@5"], found["all@10"]) == (0.0, 1.0, 0.0, 1.0)


def test_mrr_is_one_over_the_rank_of_the_first_found() -> None:
    assert measures(["x", "y", "a", "b"], {"a", "b"})["MRR"] == pytest.approx(1 / 3)
    assert measures(["x"], {"a"})["MRR"] == 0.0


def test_ndcg_discounts_by_rank_and_is_one_for_the_ideal_order() -> None:
    assert measures(["a", "b", "x"], {"a", "b"})["nDCG@10"] == pytest.approx(1.0)
    late = (1 / math.log2(3)) / 1.0
    assert measures(["x", "a"], {"a"})["nDCG@10"] == pytest.approx(late)


def test_what_stands_behind_the_tenth_place_gains_nothing() -> None:
    found = measures([*(str(n) for n in range(10)), "a"], {"a"})
    assert (found["recall@10"], found["nDCG@10"]) == (0.0, 0.0)


def test_a_question_without_gold_is_refused() -> None:
    with pytest.raises(ValueError, match="without gold"):
        measures(["a"], set())


def test_a_session_stands_where_its_best_turn_stands() -> None:
    assert by_session(["t3", "t1", "t4", "t2"], {"t1": "s1", "t2": "s2", "t3": "s2", "t4": "s1"}) == ["s2", "s1"]


def test_an_interval_holds_the_mean_and_is_the_same_each_time() -> None:
    values = [1.0] * 30 + [0.0] * 10
    one = figure(values)
    assert one.value == pytest.approx(75.0)
    assert one.low < one.value < one.high
    assert one.n == 40
    assert figure(values) == one


def test_equal_variants_differ_by_nothing_however_noisy_each_is() -> None:
    values = [1.0, 0.0, 0.5, 1.0]
    paired = difference(values, values)
    assert (paired.value, paired.low, paired.high) == (0.0, 0.0, 0.0)
