"""Admission control, rule by rule (R-52)."""

from __future__ import annotations

import numpy as np
import pytest
from pydantic import TypeAdapter

from memvault.runtime.settings import defaults
from memvault_slow_thinker.domain.admission import (
    Limits,
    Rule,
    Situation,
    refuse_drift,
    refuse_question,
    refuse_situation,
)
from memvault_slow_thinker.domain.conversation import Utterance, in_order, topic_drift

LIMITS = TypeAdapter(Limits).validate_python(defaults("reference")["slow_thinker"]["admission"])


@pytest.mark.r("R-52")
@pytest.mark.parametrize(
    ("situation", "rule"),
    [
        (Situation(conversations=10, turns=3, since_last_s=None), None),
        (Situation(conversations=10, turns=3, since_last_s=30.0), None),
        (Situation(conversations=9, turns=3, since_last_s=None), Rule.FEW_CONVERSATIONS),
        (Situation(conversations=10, turns=2, since_last_s=None), Rule.FEW_TURNS),
        (Situation(conversations=10, turns=3, since_last_s=29.9), Rule.JUST_PREDICTED),
        (Situation(conversations=10, turns=3, since_last_s=-5.0), Rule.JUST_PREDICTED),
        (Situation(conversations=0, turns=0, since_last_s=0.0), Rule.FEW_CONVERSATIONS),
    ],
)
def test_conversations_turns_and_the_gap_must_pass(situation: Situation, rule: Rule | None) -> None:
    assert refuse_situation(situation, LIMITS) == rule


@pytest.mark.r("R-52")
def test_drift_above_seven_tenths_refuses_and_at_the_bound_passes() -> None:
    assert refuse_drift(0.7, LIMITS) is None
    assert refuse_drift(0.71, LIMITS) == Rule.TOPIC_DRIFT


@pytest.mark.r("R-52")
def test_confidence_below_four_tenths_refuses_and_at_the_bound_passes() -> None:
    assert refuse_question(0.4, LIMITS) is None
    assert refuse_question(0.39, LIMITS) == Rule.LOW_CONFIDENCE


@pytest.mark.r("R-10a")
def test_drift_is_one_minus_the_best_similarity_to_anything_said_before() -> None:
    along, across = [1.0, 0.0], [0.0, 1.0]
    assert topic_drift(np.array([along, across, along], dtype=np.float32)) == 0.0
    assert topic_drift(np.array([along, across], dtype=np.float32)) == 1.0
    assert topic_drift(np.array([along, [0.6, 0.8]], dtype=np.float32)) == pytest.approx(0.4)
    assert topic_drift(np.array([along], dtype=np.float32)) == 0.0
    assert topic_drift(np.array([along, [-1.0, 0.0]], dtype=np.float32)) == 1.0


def test_utterances_stand_in_event_time_whatever_order_they_came_in_and_once_each() -> None:
    late, early = Utterance("b", "user", "later", 20.0), Utterance("a", "user", "sooner", 10.0)
    assert in_order([late, early, late]) == (early, late)
