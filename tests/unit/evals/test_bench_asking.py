"""Recalls of a bench: a degraded answer, or a hit that is none, ends the run with the reason."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import pytest

from memvault_evals.bench import asking
from memvault_evals.bench.asking import DEEP, FAST, Asking, recall, reranked, warm_up
from memvault_evals.bench.classifying import DECIDING, KEYWORDS, OWN, READING, REST, classified
from memvault_evals.bench.prefetch import Prepared
from memvault_evals.house import Client, EvalError


class Told:
    """A client that answers as it is told, and keeps the contexts it was sent."""

    def __init__(self, **answer: Any) -> None:
        self.answer = answer
        self.contexts: list[Mapping[str, Any]] = []

    def recall(self, query: str, context: Mapping[str, Any]) -> dict[str, Any]:
        self.contexts.append({"query": query, **context})
        return self.answer


def client(**answer: Any) -> tuple[Told, Client]:
    told = Told(**answer)
    return told, cast("Client", told)


def test_a_degraded_recall_is_refused_with_what_was_left_out() -> None:
    _, asked = client(degraded=[{"part": "rerank", "reason": "TIMEOUT"}])
    with pytest.raises(EvalError, match="rerank"):
        recall(asked, "where is the key?")


def test_warming_up_asks_again_until_nothing_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "WARM_UP_PAUSE_S", 0.0)
    told, asked = client()
    answers = iter([{}, {"degraded": [{"part": "cascade"}]}, {"degraded": [{"part": "cascade"}]}, {}])
    told.recall = lambda query, context: next(answers)
    warm_up(asked, iter("abcdef"))
    assert next(answers, "none left") == "none left"


def test_warming_up_gives_up_after_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "WARM_UP_LIMIT_S", 0.0)
    _, asked = client(degraded=[{"part": "cascade"}])
    with pytest.raises(EvalError, match="cascade"):
        warm_up(asked, iter("abcdef"))


def test_what_the_reranker_read_is_asked_of_the_gateway(monkeypatch: pytest.MonkeyPatch) -> None:
    told, asked = client()
    details = {"state": "closed", "readings": "30", "batches": "12"}
    parts = [{"part": "search", "state": "ready"}, {"part": "rerank", "state": "ready", "details": details}]
    told.call = lambda method, path: {"parts": parts}  # type: ignore[attr-defined]
    told.close = lambda: None  # type: ignore[attr-defined]
    monkeypatch.setattr(asking, "Client", lambda address: asked)
    assert reranked("127.0.0.1:1") == {"readings": 30, "batches": 12}
    parts[1] = {"part": "rerank", "state": "down"}
    assert reranked("127.0.0.1:1") == {"readings": 0, "batches": 0}


async def test_explained_recalls_keep_their_hops_apart_by_thinking_mode() -> None:
    told, asked = client(explanation={"times": [{"hop": "search", "took_ms": 4.0}], "reranked": True}, cards=[{}, {}])
    asked_so = Asking(asked, iter(["one", "two"]))
    await asked_so.explained(FAST)
    await asked_so.explained(DEEP)
    assert asked_so.times == {"fast": {"search": [4.0]}, "deep": {"search": [4.0]}}
    assert (asked_so.reranked, asked_so.cards) == ([True], [2])
    assert [context["query"] for context in told.contexts] == ["one", "two"]


async def test_an_answer_that_was_not_the_prepared_one_is_no_hit() -> None:
    _, asked = client(answered_from="search")
    prepared = Prepared(asked, "nats://127.0.0.1:1", iter(["a line"]))
    with pytest.raises(EvalError, match="answered from search"):
        await prepared.hit()


async def test_a_hit_is_asked_as_any_question_of_that_conversation() -> None:
    told, asked = client(answered_from="prefetch_exact")
    await Prepared(asked, "nats://127.0.0.1:1", iter(["a line"])).hit()
    assert "evaluation" not in told.contexts[0]
    assert told.contexts[0]["origin"] == "user"


HOPS = {
    "router": 21.5,
    "router.embed": 20.0,
    "router.follow_up": 0.1,
    "router.time_range": 0.2,
    "router.bare": 0.1,
    "router.keyword": 0.15,
    "router.fuse": 0.2,
    "router.personalise": 0.05,
    "router.plan": 0.05,
}


def test_what_the_router_adds_to_the_embedding_is_told_by_part() -> None:
    found = classified(HOPS)
    assert found == pytest.approx({KEYWORDS: 0.15, READING: 0.55, DECIDING: 0.3, OWN: 0.85, REST: 1.5})
    without_the_encoder = {name: took for name, took in HOPS.items() if name != "router.embed"}
    assert classified(without_the_encoder) == {}


async def test_a_plain_question_is_forced_nowhere_and_keeps_what_its_classification_took() -> None:
    times = [{"hop": name, "took_ms": took} for name, took in HOPS.items()]
    told, asked = client(explanation={"times": times})
    asking_ = Asking(asked, iter("ab"))
    await asking_.plain()
    assert "evaluation" not in told.contexts[0]
    assert asking_.classified[REST] == [1.5]
