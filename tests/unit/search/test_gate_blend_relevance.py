"""Gate, blend, relevance floor and the last word on order (R-15, R-16, R-17, R-17a, R-09)."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from memvault.runtime.settings import defaults
from memvault_search.domain.arrangement import by_conversation, valid_at, valid_first
from memvault_search.domain.blend import blend, blend_late
from memvault_search.domain.gate import GateBounds, GateDecision, GateNumbers, GateReason, decide
from memvault_search.domain.relevance import Confidence, Relevance, RelevanceNumbers, assess
from memvault_search.domain.scoring.candidates import DAY_S, Record, TimeRange, assemble

SECTION = defaults("reference")["search"]
GATE = TypeAdapter(GateNumbers).validate_python(SECTION["gate"])
RELEVANCE = TypeAdapter(RelevanceNumbers).validate_python(SECTION["relevance"])
NOW = 1_790_000_000.0


def gate(*scores: float) -> GateDecision:
    return decide(np.array(scores, dtype=np.float64), GATE)


@pytest.mark.r("R-15")
@pytest.mark.parametrize("scores", [(), (0.9,), (0.9, 0.1)])
def test_two_candidates_or_fewer_need_no_rerank(scores: tuple[float, ...]) -> None:
    assert gate(*scores) == GateDecision(0, GateReason.TOO_FEW)


@pytest.mark.r("R-15")
def test_a_first_that_leads_by_a_quarter_of_the_second_is_dominant() -> None:
    assert gate(0.5, 0.4, 0.1).reason == GateReason.DOMINANT
    assert gate(0.499, 0.4, 0.1).reason == GateReason.OPEN


@pytest.mark.r("R-15")
def test_fifteen_within_five_per_cent_are_a_tight_cluster_whatever_comes_behind() -> None:
    assert gate(*[1.0] * 14, 0.95, 0.2).reason == GateReason.TIGHT_CLUSTER
    assert gate(*[1.0] * 14, 0.949, 0.2) == GateDecision(15, GateReason.OPEN)


@pytest.mark.r("R-15")
def test_the_best_fifteen_go_to_the_reranker_or_as_many_as_there_are() -> None:
    assert gate(*np.linspace(1, 0.1, 40)).rerank == 15
    assert gate(1.0, 0.9, 0.5).rerank == 3


@pytest.mark.r("R-15")
def test_candidates_without_any_score_are_a_tight_cluster() -> None:
    assert gate(0.0, 0.0, 0.0).reason == GateReason.TIGHT_CLUSTER


@pytest.mark.r("R-16")
def test_the_blend_is_three_tenths_scoring_and_seven_tenths_rerank_over_normalised_values() -> None:
    blended = blend(np.array([0.9, 0.7, 0.5]), np.array([-2.0, 4.0, 1.0]), 0.3)
    assert blended.order == (1, 2, 0)
    assert blended.score.tolist() == pytest.approx([0.3 * 0.5 + 0.7 * 1.0, 0.7 * 0.5, 0.3])


@pytest.mark.r("R-15")
def test_those_behind_the_reranked_keep_their_order_below_them() -> None:
    blended = blend(np.array([0.9, 0.8, 0.7, 0.6, 0.3]), np.array([0.2, 0.9, 0.5]), 0.5)
    assert blended.order[-2:] == (3, 4)
    assert (np.diff(blended.score) <= 0).all()
    assert blended.reranked == 3


@pytest.mark.r("R-15")
def test_those_behind_keep_their_order_also_when_one_is_last_by_scoring_and_by_rerank() -> None:
    blended = blend(np.array([0.9, 0.8, 0.7, 0.6, 0.3, 0.1]), np.array([0.9, 0.5, 0.1]), 0.5)
    assert blended.order == (0, 1, 2, 3, 4, 5)
    assert (np.diff(blended.score) < 0).all()
    assert blended.score[-1] > 0


@pytest.mark.r("R-16")
def test_equal_values_say_nothing_and_leave_the_word_to_the_other_side() -> None:
    assert blend(np.array([0.5, 0.5]), np.array([0.1, 0.2]), 0.3).order == (1, 0)
    assert blend(np.array([0.6, 0.5]), np.array([0.1, 0.1]), 0.3).order == (0, 1)


@pytest.mark.r("R-16")
@pytest.mark.parametrize("rerank", [[math.nan, 0.1], [], [0.1, 0.2, 0.3, 0.4]])
def test_rerank_scores_that_are_no_numbers_or_do_not_fit_are_refused(rerank: list[float]) -> None:
    with pytest.raises(ValueError, match="finite rerank"):
        blend(np.array([0.9, 0.5, 0.4]), np.array(rerank), 0.3)


@pytest.mark.r("R-14")
@settings(max_examples=60, deadline=None)
@given(pairs=st.lists(st.tuples(st.floats(0, 1), st.floats(-9, 9)), min_size=1, max_size=15), weight=st.floats(0, 1))
def test_a_block_blended_late_has_the_score_it_would_have_had(pairs: list[tuple[float, float]], weight: float) -> None:
    pairs.sort(reverse=True)
    scores, rerank = (np.array(column) for column in zip(*pairs, strict=True))
    blended = blend(scores, rerank, weight)
    late = blend_late(scores, rerank, weight, blended.scoring, blended.rerank)
    assert late[list(blended.order)] == pytest.approx(blended.score)
    assert ((late >= 0) & (late <= 1)).all()


def judged(similarity: list[float], coverage: list[float], *, across: bool = False) -> Relevance:
    foreign = np.full(len(similarity), across)
    return assess(np.array(similarity), np.array(coverage), foreign, RELEVANCE)


@pytest.mark.r("R-17")
def test_similar_and_fully_covered_is_high_and_neither_is_low() -> None:
    assert judged([0.8], [1.0]).confidence == Confidence.HIGH
    assert judged([0.02, 0.01], [0.0, 0.1]).confidence == Confidence.LOW
    assert judged([], []).confidence == Confidence.LOW


@pytest.mark.r("R-17")
def test_relevance_rises_with_either_signal_and_unknown_counts_as_none() -> None:
    each = judged([0.2, 0.4, math.nan], [0.5, 0.5, 0.5]).each
    assert each[2] < each[0] < each[1]
    by_hand = 1 / (
        1 + math.exp(-(RELEVANCE.intercept + 0.2 * RELEVANCE.similarity_weight + 0.5 * RELEVANCE.coverage_weight))
    )
    assert each[0] == pytest.approx(by_hand)


@pytest.mark.r("R-17")
def test_a_relevant_card_far_down_does_not_save_a_bad_lot() -> None:
    similarity = [0.0] * RELEVANCE.looked_at + [0.9]
    assert judged(similarity, [0.0] * len(similarity)).confidence == Confidence.LOW


@pytest.mark.r("R-17")
def test_across_languages_a_smaller_similarity_without_any_shared_word_is_believed() -> None:
    assert judged([0.22], [0.0]).confidence == Confidence.LOW
    assert judged([0.22], [0.0], across=True).confidence == Confidence.MEDIUM
    assert judged([0.13], [0.0], across=True).confidence == Confidence.LOW


@pytest.mark.r("R-17")
def test_a_card_in_another_language_that_shares_words_is_judged_no_worse_for_its_language() -> None:
    assert judged([0.1], [1.0], across=True).best == judged([0.1], [1.0]).best


MARCH, TODAY = NOW - 200 * DAY_S, NOW
MOVED = NOW - 100 * DAY_S
HOMES = assemble(
    [
        Record("taipei", 0.9, superseded_by="tainan", valid_to=MOVED),
        Record("tainan", 0.6, valid_from=MOVED),
        Record("tea", 0.3),
    ]
)
SCORES = np.array([0.9, 0.6, 0.3])


@pytest.mark.r("R-17a")
def test_a_plain_question_ranks_the_current_statement_above_the_one_it_replaced() -> None:
    arranged = valid_first(SCORES, HOMES, valid_at(HOMES, None, None), 0.99)
    assert arranged.tolist() == pytest.approx([0.594, 0.6, 0.3])


@pytest.mark.r("R-17a")
@pytest.mark.parametrize("asked", [(MARCH, None), (None, TimeRange(MARCH - DAY_S, MARCH))])
def test_a_question_about_the_past_gets_the_one_valid_then(asked: tuple[float | None, TimeRange | None]) -> None:
    scores = np.array([0.5, 0.6, 0.3])
    arranged = valid_first(scores, HOMES, valid_at(HOMES, *asked), 0.99)
    assert arranged.tolist() == pytest.approx([0.5, 0.495, 0.3])


@pytest.mark.r("R-17a")
def test_a_chain_of_statements_ends_with_the_newest_on_top() -> None:
    chain = assemble([Record("a", 1, superseded_by="b"), Record("b", 1, superseded_by="c"), Record("c", 1)])
    arranged = valid_first(np.array([0.9, 0.8, 0.2]), chain, valid_at(chain, None, None), 0.99)
    assert arranged[2] == 0.2
    assert arranged[2] > arranged[1]


@pytest.mark.r("R-09")
def test_recollection_groups_by_conversation_newest_first() -> None:
    found = assemble(
        [
            Record("a1", 1, conversation_id="a", event_time=NOW - 9),
            Record("b1", 1, conversation_id="b", event_time=NOW - 5),
            Record("a2", 1, conversation_id="a", event_time=NOW - 1),
            Record("lone", 1, recorded_at=NOW - 7),
            Record("undated", 1),
        ]
    )
    order = by_conversation([4, 3, 0, 1, 2], found)
    assert [found.ids[row] for row in order] == ["a2", "a1", "b1", "lone", "undated"]


@pytest.mark.r("R-15")
def test_an_intent_may_have_bounds_of_its_own() -> None:
    own = replace(GATE, intents={"factual": GateBounds(dominant_lead=2.0, cluster_spread=0.0)})
    scores = np.array([0.5, 0.4, 0.1])
    assert decide(scores, own.of("factual")).reason == GateReason.OPEN
    assert decide(scores, own.of("conceptual")).reason == GateReason.DOMINANT
    assert own.of("factual").depth == GATE.depth
