"""Recalls over one connection, as an agent makes them; a degraded one ends the run, because its time says nothing."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from typing import Any

from memvault_evals.bench.classifying import classified
from memvault_evals.bench.filling import USER
from memvault_evals.house import Client, EvalError

DEADLINE_MS = 60_000
WARM_UP_LIMIT_S = 600.0
WARM_UP_PAUSE_S = 1.0
FAST: Mapping[str, Any] = {"thinking_mode": "fast"}
DEEP: Mapping[str, Any] = {"thinking_mode": "slow"}
NO_RERANK: Mapping[str, Any] = {"off": ["rerank"]}
NO_CASCADE: Mapping[str, Any] = {"off": ["cascade"]}


class DegradedError(EvalError):
    """A recall left a part out, so that its time says nothing."""


def recall(
    client: Client,
    question: str,
    evaluation: Mapping[str, Any] | None = None,
    *,
    explain: bool = False,
    origin: str = "user",
    conversation_id: str = "",
) -> dict[str, Any]:
    """Ask one question of the bench's user.

    Raises:
        DegradedError: When a part of the answer was left out.
    """
    context: dict[str, Any] = {"user_id": USER, "origin": origin, "deadline_ms": DEADLINE_MS}
    if explain:
        context["explain"] = True
    if evaluation:
        context["evaluation"] = evaluation
    if conversation_id:
        context["conversation_id"] = conversation_id
    answer = client.recall(question, context)
    if answer.get("degraded"):
        raise DegradedError(f"a recall was degraded, so its time says nothing: {answer['degraded']}")
    return answer


def warm_up(client: Client, fresh: Iterator[str]) -> None:
    """Ask until neither a fast nor a deep recall leaves anything out: a large graph takes its time to be read.

    Raises:
        EvalError: When one still does after `WARM_UP_LIMIT_S`.
    """
    begun = time.monotonic()
    for evaluation in (FAST, DEEP):
        while True:
            try:
                recall(client, next(fresh), evaluation, origin="eval")
                break
            except DegradedError:
                if time.monotonic() - begun > WARM_UP_LIMIT_S:
                    raise
                time.sleep(WARM_UP_PAUSE_S)


def reranked(address: str) -> dict[str, int]:
    """What the reranker has read since its start: `readings`, one for each call, in so many `batches`.

    Args:
        address: `host:port` of the gateway's HTTP face.
    """
    with closing(Client(address)) as client:
        parts = client.call("GET", "/v1/status")["parts"]
    details: dict[str, str] = next((one.get("details", {}) for one in parts if one["part"] == "rerank"), {})
    return {name: int(details.get(name, 0)) for name in ("readings", "batches")}


class Asking:
    """New questions one after the other; keeps what the explained answers tell of their hops."""

    def __init__(self, client: Client, fresh: Iterator[str]) -> None:
        self._client, self._fresh = client, fresh
        self.times: dict[str, dict[str, list[float]]] = {"fast": {}, "deep": {}}
        self.classified: dict[str, list[float]] = {}
        self.reranked: list[bool] = []
        self.cards: list[int] = []

    async def fresh(self, evaluation: Mapping[str, Any], *, origin: str = "user") -> None:
        """Ask a new question."""
        recall(self._client, next(self._fresh), evaluation, origin=origin)

    async def explained(self, evaluation: Mapping[str, Any]) -> None:
        """Ask a new question and keep where its time went."""
        answer = recall(self._client, next(self._fresh), evaluation, explain=True)
        mode = "deep" if evaluation["thinking_mode"] == "slow" else "fast"
        for one in answer["explanation"].get("times", []):
            self.times[mode].setdefault(one["hop"], []).append(one.get("took_ms", 0.0))
        if mode == "fast":
            self.reranked.append(bool(answer["explanation"].get("reranked")))
            self.cards.append(len(answer.get("cards", [])))

    async def plain(self) -> None:
        """Ask a new question as an agent does, forced nowhere, and keep what its classification took."""
        answer = recall(self._client, next(self._fresh), explain=True)
        hops = {one["hop"]: one.get("took_ms", 0.0) for one in answer["explanation"].get("times", [])}
        for name, took_ms in classified(hops).items():
            self.classified.setdefault(name, []).append(took_ms)

    async def alive(self) -> None:
        """Ask the HTTP face whether it lives: what HTTP itself costs."""
        self._client.call("GET", "/healthz")
