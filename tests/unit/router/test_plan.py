"""R-09: from intent and facet to the way of looking."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memvault.runtime.settings import load
from memvault_router.domain.labels import FACETS, INTENTS, one_hot, uniform
from memvault_router.domain.operators.plan import Planner, plan
from memvault_router.domain.state import Overrides, Question
from memvault_router.domain.time.span import TimeExpression
from memvault_router.settings import RouterSettings

ROUTES = load("router", RouterSettings, profile="reference", home=Path("/nonexistent"), environ={}).routes
NOW = datetime(2026, 11, 29, tzinfo=UTC)

pytestmark = pytest.mark.r("R-09")


def state(intent="factual", facet="none", **known):
    base = Question("q", NOW, UTC, intents=one_hot(intent, INTENTS), facets=one_hot(facet, FACETS))
    return Planner(ROUTES)(replace(base, **known))


@pytest.mark.parametrize(
    ("intent", "mode", "thinking"),
    [
        ("entity_lookup", "LOCAL", "fast"),
        ("factual", "LOCAL", "fast"),
        ("conceptual", "GLOBAL", "slow"),
        ("exploratory", "GLOBAL", "slow"),
        ("cross_domain", "HYBRID", "slow"),
        ("unknown", "HYBRID", "fast"),
    ],
)
def test_the_table_of_the_reference_profile(intent, mode, thinking):
    found = plan(intent, "none", "unknown", ROUTES)
    assert (found.retrieval_mode, found.thinking_mode, found.scoring_profile) == (mode, thinking, intent)


@pytest.mark.parametrize("facet", ["progress", "recollection", "definition"])
@pytest.mark.parametrize("intent", INTENTS)
def test_some_facets_stay_fast_whatever_the_intent(intent, facet):
    assert plan(intent, facet, "", ROUTES).thinking_mode == "fast"


@pytest.mark.parametrize("intent", INTENTS)
def test_advice_forces_slow_and_hybrid(intent):
    found = plan(intent, "advice", "", ROUTES)
    assert (found.thinking_mode, found.retrieval_mode) == ("slow", "HYBRID")
    assert found.layers == ("blocks", "triples", "communities", "summaries")


def test_recollection_is_grouped_by_conversation_and_nothing_else_is():
    assert plan("exploratory", "recollection", "", ROUTES).grouping == "conversation"
    assert plan("exploratory", "progress", "", ROUTES).grouping == ""


def test_the_layers_follow_mode_and_thinking():
    assert plan("factual", "none", "", ROUTES).layers == ("blocks",)
    assert plan("conceptual", "none", "", ROUTES).layers == ("blocks", "communities", "summaries")
    assert plan("factual", "none", "", ROUTES, "slow").layers == ("blocks", "triples")


def test_a_forced_outcome_wins_and_says_that_it_was_forced():
    found = state(overrides=Overrides(intent="conceptual", facet="advice", thinking_mode="fast"))
    assert (found.intent, found.facet, found.funnel, found.confidence) == ("conceptual", "advice", "override", 1.0)
    assert found.plan.thinking_mode == "fast"


def test_the_runner_up_is_the_second_most_probable_intent():
    odds = {**dict.fromkeys(INTENTS, 0.05), "factual": 0.5, "conceptual": 0.25}
    assert state(intents=odds).plan.runner_up == "conceptual"
    assert state(intents=odds, overrides=Overrides(intent="conceptual")).plan.runner_up == "factual"


@pytest.mark.r("R-07")
def test_a_progress_question_wants_what_happened_since_too():
    last_week = TimeExpression("上週", NOW - timedelta(days=14), NOW - timedelta(days=7), explicit=False, definite=True)
    stretched = state(facet="progress", time=last_week).time
    assert (stretched.start, stretched.end, stretched.explicit) == (last_week.start, NOW, True)
    assert state(facet="none", time=last_week).time == last_week


@pytest.mark.r("R-07")
def test_a_vague_an_open_or_a_coming_range_is_not_stretched():
    for known in (
        TimeExpression("最近", NOW - timedelta(days=14), NOW - timedelta(days=1), explicit=False, definite=False),
        TimeExpression("三月以來", NOW - timedelta(days=14), None, explicit=True, definite=True),
        TimeExpression("這週", NOW - timedelta(days=1), NOW + timedelta(days=6), explicit=True, definite=True),
    ):
        assert state(facet="progress", time=known).time == known


def test_without_any_evidence_the_intent_is_unknown():
    assert state(intents=uniform(INTENTS), facets=uniform(FACETS)).intent == "unknown"
