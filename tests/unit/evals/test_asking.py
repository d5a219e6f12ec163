"""Asking one question of a set."""

from datetime import UTC, datetime
from typing import Any

import pytest

from memvault_evals.asking import Variant, ask
from memvault_evals.datasets import Query, Scope
from memvault_evals.house import EvalError

QUERY = Query("q", "What?", frozenset({"b"}), "single_hop")
SCOPE = Scope("locomo.a", (), (QUERY,), datetime(2023, 5, 3, 8, tzinfo=UTC), {"a": "s1", "b": "s2"})


class Gateway:
    """Answers with what it was given, and keeps what it was asked."""

    def __init__(self, **answer: Any) -> None:
        self.answer = {"intent": "factual", "thinking_mode": "fast", "explanation": {"reranked": 15}} | answer
        self.asked: list[tuple[str, dict[str, Any]]] = []

    def recall(self, query: str, context: dict[str, Any]) -> dict[str, Any]:
        self.asked.append((query, context))
        return self.answer


CARDS = [{"block_id": "x", "kind": "triple"}, {"block_id": "a", "kind": "block"}, {"block_id": "b", "kind": "block"}]


def test_only_blocks_are_ranked_and_sessions_are_measured_beside_turns() -> None:
    outcome = ask(Gateway(cards=CARDS), SCOPE, QUERY, Variant("tuned"))
    assert outcome.ranked == ("a", "b")
    assert (outcome.levels["turn"]["mrr"], outcome.levels["session"]["mrr"]) == (0.5, 0.5)
    assert outcome.reranked


def test_a_question_is_asked_as_an_evaluation_at_the_scopes_own_time() -> None:
    gateway = Gateway(cards=CARDS)
    ask(gateway, SCOPE, QUERY, Variant("reference", ("rerank", "gate"), "fast"))
    context = gateway.asked[0][1]
    assert (context["user_id"], context["origin"]) == ("locomo.a", "eval")
    assert context["evaluation"] == {
        "now": "2023-05-03T08:00:00Z",
        "profile": "reference",
        "off": ["rerank", "gate"],
        "thinking_mode": "fast",
    }


def test_a_degraded_answer_ends_the_run_instead_of_entering_a_figure() -> None:
    gateway = Gateway(cards=CARDS, degraded=[{"part": "rerank", "reason": "TIMEOUT"}])
    with pytest.raises(EvalError, match="TIMEOUT"):
        ask(gateway, SCOPE, QUERY, Variant("tuned"))


def test_what_may_be_found_takes_no_place_from_what_must_be() -> None:
    also = Query("q", "What?", frozenset({"b"}), "single_hop", frozenset({"a"}))
    assert ask(Gateway(cards=CARDS), SCOPE, also, Variant("tuned")).levels["turn"]["mrr"] == 1.0
