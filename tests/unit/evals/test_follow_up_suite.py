"""What the suite of follow-ups asks, and what it counts."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from google.protobuf.json_format import ParseDict

from memvault.recall.v1.recall_pb2 import RecallResponse
from memvault_evals.asking import Variant
from memvault_evals.house import EvalError
from memvault_evals.suites.conversations import Conversation, Point
from memvault_evals.suites.follow_up import ALL, BESIDE, COMPLETED, NEXT, ask, report
from memvault_evals.suites.prefetch import PREFETCH

SAID = (("user", "Who wrote Ulysses?"), ("assistant", "James Joyce."), ("user", "Later"), ("assistant", "Yes."))
POINT = Point("p", "Follow-up", 1, "When did he die?", frozenset({"d2"}), frozenset())
TALK = Conversation("c", "user-1", SAID, (POINT,))


def answer(completed: str = POINT.following, **known: Any) -> RecallResponse:
    cards = [{"block_id": "d1", "kind": "block", "score": 0.5}, {"block_id": "s", "kind": "summary"}]
    reached = [{"block_id": "d2", "kind": "block", "score": 0.7}]
    told = {"cards": cards, "cascade_cards": reached, "explanation": {"completed_query": completed}, **known}
    return ParseDict(told, RecallResponse())


def test_the_next_utterance_is_asked_with_what_was_said_before_it_and_nothing_after() -> None:
    seen: list[Any] = []
    client = SimpleNamespace(ask=lambda query, context: seen.append((query, context)) or answer())
    found = ask(client, TALK, POINT, Variant("tuned", ("completion",)))
    ((query, context),) = seen
    assert query == "When did he die?"
    assert [one["text"] for one in context["recent_utterances"]] == ["Who wrote Ulysses?", "James Joyce."]
    assert context["user_id"] == "user-1"
    assert context["evaluation"] == {"profile": "tuned", "off": ["completion", "prefetch"]}
    assert found == {"ranked": ["d2", "d1"], COMPLETED: False, BESIDE: False}


def test_what_was_completed_is_told() -> None:
    client = SimpleNamespace(ask=lambda *_: answer("Who wrote Ulysses? When did he die?"))
    assert ask(client, TALK, POINT, Variant("tuned"))[COMPLETED]


def test_what_was_searched_with_the_completed_question_beside_it_is_told() -> None:
    explanation = {
        "completed_query": POINT.following,
        "skipped": [{"step": "completion", "reason": "perhaps_short"}],
    }
    client = SimpleNamespace(ask=lambda *_: answer(explanation=explanation))
    found = ask(client, TALK, POINT, Variant("tuned"))
    assert (found[COMPLETED], found[BESIDE]) == (False, True)


def test_a_degraded_answer_ends_the_run() -> None:
    client = SimpleNamespace(ask=lambda *_: answer(degraded=[{"part": "embed"}]))
    with pytest.raises(EvalError, match="p under 'tuned' was answered degraded"):
        ask(client, TALK, POINT, Variant("tuned"))


def test_the_completed_points_are_the_same_in_every_variant() -> None:
    other = Point("q", "Follow-up", 1, "What is rust?", frozenset({"d9"}), frozenset())
    told = {
        "tuned": {
            "p": {"ranked": ["d2"], COMPLETED: True, BESIDE: False},
            "q": {"ranked": ["d9"], COMPLETED: False, BESIDE: True},
        },
        "tuned -completion": {
            "p": {"ranked": ["d1"], COMPLETED: False, BESIDE: False},
            "q": {"ranked": ["d9"], COMPLETED: False, BESIDE: False},
        },
    }
    found = report([POINT, other], told)
    for label, hits in (("tuned", 100.0), ("tuned -completion", 0.0)):
        assert found[label].figures[COMPLETED]["hit@5"].n == 1
        assert found[label].figures[COMPLETED]["hit@5"].value == hits
        assert found[label].figures[BESIDE]["hit@5"].n == 1
        assert found[label].figures[ALL]["hit@5"].n == 2
    assert (found["tuned"].facts[COMPLETED], found["tuned"].facts[BESIDE]) == (1, 1)
    assert found["tuned -completion"].facts["completed"] == 0


def test_its_sets_have_names_of_their_own_beside_those_of_the_suite_prefetch() -> None:
    assert set(NEXT.values()) == set(PREFETCH.sets)
    assert not set(NEXT) & set(PREFETCH.sets)
