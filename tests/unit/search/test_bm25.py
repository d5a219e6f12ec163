"""BM25 split over two vectors equals BM25 (R-11)."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memvault_search.domain.bm25 import (
    Bm25Numbers,
    Lengths,
    coverage,
    document_weights,
    idf,
    query_weights,
    sparse_vector,
    term_id,
)

NUMBERS = Bm25Numbers(k1=1.2, b=0.75)


@pytest.mark.r("R-11")
def test_the_dot_product_of_document_and_query_is_bm25_by_hand() -> None:
    document = document_weights(["ocr", "ocr", "report", "done"], avgdl=8.0, numbers=NUMBERS)
    query = query_weights(["ocr", "when", "done"], {"ocr": 2, "done": 5}, documents=10)
    length = 1 - 0.75 + 0.75 * 4 / 8
    by_hand = math.log(1 + 8.5 / 2.5) * (2 * 2.2) / (2 + 1.2 * length) + math.log(1 + 5.5 / 5.5) * 2.2 / (
        1 + 1.2 * length
    )
    assert sum(query[token] * document.get(token, 0.0) for token in query) == pytest.approx(by_hand)
    assert "when" not in query


@pytest.mark.r("R-11")
def test_a_short_chat_turn_is_judged_against_chat_and_not_against_notes() -> None:
    turn = ["ocr", "done"]
    in_chat = document_weights(turn, avgdl=Lengths(100, 200).average(), numbers=NUMBERS)
    in_notes = document_weights(turn, avgdl=Lengths(100, 20_000).average(), numbers=NUMBERS)
    assert in_chat["ocr"] == pytest.approx(1.0)
    assert in_notes["ocr"] > in_chat["ocr"]


@pytest.mark.r("R-11")
def test_lengths_follow_what_is_added_and_removed() -> None:
    lengths = Lengths().plus(10).plus(20)
    assert lengths.average() == 15.0
    assert lengths.minus(10) == Lengths(1, 20)
    assert Lengths().minus(5) == Lengths()
    assert Lengths().average() == 0.0


@pytest.mark.r("R-11")
def test_a_rare_word_weighs_more_than_a_common_one_and_every_weight_is_above_zero() -> None:
    assert idf(1, 1000) > idf(10, 1000) > idf(1000, 1000) > 0.0
    assert idf(12, 10) == idf(10, 10)


@pytest.mark.r("R-17")
def test_coverage_is_the_share_of_what_was_asked_for_and_unknown_words_count_most() -> None:
    frequency = {"ocr": 2, "done": 8}
    assert coverage(["ocr", "done"], ["ocr", "done", "x"], frequency, 10) == pytest.approx(1.0)
    assert coverage(["ocr", "done"], ["done"], frequency, 10) < 0.3
    assert coverage(["ocr", "zebra"], ["ocr"], frequency, 10) < 0.5
    assert coverage([], ["ocr"], frequency, 10) == 0.0


def test_a_tokens_index_is_the_same_everywhere_and_fits_thirty_two_bits() -> None:
    assert term_id("ocr") == term_id("ocr") != term_id("mlx")
    assert term_id("报表") == 3114296823
    assert 0 <= term_id("q3-报表") < 2**32


def test_a_sparse_vector_is_sorted_and_keeps_every_weight() -> None:
    indices, values = sparse_vector({"a": 1.0, "b": 2.0, "c": 0.5})
    assert list(indices) == sorted(indices)
    assert sum(values) == pytest.approx(3.5)


@settings(max_examples=60, deadline=None)
@given(
    tokens=st.lists(st.sampled_from("abcdef"), min_size=1, max_size=60),
    avgdl=st.floats(1, 500),
    k1=st.floats(0, 3),
    b=st.floats(0, 1),
)
def test_saturated_frequency_stays_between_zero_and_k1_plus_one(
    tokens: list[str], avgdl: float, k1: float, b: float
) -> None:
    weights = document_weights(tokens, avgdl, Bm25Numbers(k1=k1, b=b))
    assert all(0.0 < weight <= k1 + 1.0 + 1e-9 for weight in weights.values())
    by_count = sorted(weights, key=lambda token: (tokens.count(token), weights[token]))
    assert [weights[token] for token in by_count] == pytest.approx(sorted(weights.values()))
