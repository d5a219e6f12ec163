"""Asking one question of a set."""

from datetime import UTC, datetime
from typing import Any

import pytest
from google.protobuf.json_format import ParseDict

from memvault.recall.v1.recall_pb2 import RecallResponse
from memvault_evals.asking import Variant, ask, score
from memvault_evals.datasets import Query, Scope
from memvault_evals.house import EvalError

QUERY = Query("q", "What?", frozenset({"b"}), "single_hop")
SCOPE = Scope("locomo.a", (), (QUERY,), datetime(2023, 5, 3, 8, tzinfo=UTC), {"a": "s1", "b": "s2"})


class Gateway:
    """Answers with what it was given, and keeps what it was asked."""

    def __init__(self, **answer: Any) -> None:
        known = {"intent": "factual", "thinking_mode": "fast", "explanation": {"reranked": 15}}
        self.answer = ParseDict(known | answer, RecallResponse())
        self.asked: list[tuple[str, dict[str, Any]]] = []

    def ask(self, query: str, context: dict[str, Any]) -> RecallResponse:
        self.asked.append((query, context))
        return self.answer


def card(block_id: str, score: float = 0.5, kind: str = "block", text: str = "three small words") -> dict[str, Any]:
    return {"block_id": block_id, "kind": kind, "score": score, "text": text}


CARDS = [card("x", kind="triple"), card("a"), card("b")]


def test_only_blocks_are_ranked_and_sessions_are_measured_beside_turns() -> None:
    told = ask(Gateway(cards=CARDS), SCOPE, QUERY, Variant("tuned"))
    assert told["ranked"] == ["a", "b"]
    row = score(SCOPE, QUERY, told)
    assert (row.levels["turn"]["MRR"], row.levels["session"]["MRR"]) == (0.5, 0.5)


def test_blocks_that_the_graph_adds_take_the_place_that_their_score_gives_them() -> None:
    told = ask(
        Gateway(cards=[card("a", 0.9), card("b", 0.4)], cascade_cards=[card("c", 0.6)]), SCOPE, QUERY, Variant("tuned")
    )
    assert told["ranked"] == ["a", "c", "b"]
    assert told["from_graph"] == ["c"]


def test_tokens_are_those_of_the_first_cards_and_of_all_where_there_are_fewer() -> None:
    told = ask(Gateway(cards=[card(str(n), text="one") for n in range(7)]), SCOPE, QUERY, Variant("tuned"))
    assert told["tokens"] == {"5": 5, "10": 7, "15": 7}


def test_a_question_is_asked_as_an_evaluation_at_the_scopes_own_time() -> None:
    gateway = Gateway(cards=CARDS)
    ask(gateway, SCOPE, QUERY, Variant("reference", ("rerank", "gate"), "fast", "factual"))
    context = gateway.asked[0][1]
    assert (context["user_id"], context["origin"]) == ("locomo.a", "eval")
    assert context["evaluation"] == {
        "now": "2023-05-03T08:00:00Z",
        "profile": "reference",
        "off": ["rerank", "gate"],
        "thinking_mode": "fast",
        "intent": "factual",
    }


def test_a_degraded_answer_ends_the_run_instead_of_entering_a_figure() -> None:
    gateway = Gateway(cards=CARDS, degraded=[{"part": "rerank", "reason": "TIMEOUT"}])
    with pytest.raises(EvalError, match="TIMEOUT"):
        ask(gateway, SCOPE, QUERY, Variant("tuned"))


def test_what_may_be_found_takes_no_place_from_what_must_be() -> None:
    also = Query("q", "What?", frozenset({"b"}), "single_hop", frozenset({"a"}))
    assert score(SCOPE, also, ask(Gateway(cards=CARDS), SCOPE, also, Variant("tuned"))).levels["turn"]["MRR"] == 1.0


def test_a_session_that_must_be_found_is_found_by_whatever_stands_in_it() -> None:
    scope = Scope("u", (), (), None, {"a": "s1", "b": "s2", "c": "s2", "d": "s3"})
    query = Query("q", "What?", frozenset({"b"}), "", frozenset({"c", "d"}))
    told = {"ranked": ["d", "a", "c", "b"]}
    levels = score(scope, query, told).levels
    assert levels["turn"]["MRR"] == 1 / 2  # neither c nor d takes a place
    assert levels["session"]["MRR"] == 1 / 2  # s3 takes no place, and c leads to s2


def test_a_label_names_what_is_forced_and_what_is_left_out() -> None:
    assert Variant("tuned", ("rerank", "gate")).label == "tuned -rerank -gate"
    assert Variant("tuned", thinking="slow", intent="factual").label == "tuned thinking=slow intent=factual"
