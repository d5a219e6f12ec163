"""Asks the questions of a set under one variant of settings, over HTTP, and keeps the ranked ids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from memvault_evals.datasets import Query, Scope
from memvault_evals.house import Client, EvalError
from memvault_evals.metrics import by_session, measures

DEPTH = 50
TOKEN_BUDGET = 1_000_000
DEADLINE_MS = 120_000


@dataclass(frozen=True)
class Variant:
    """What is switched off, under which profile. `thinking` forces `fast` or `slow`; empty: as the router chooses."""

    profile: str
    off: tuple[str, ...] = ()
    thinking: str = ""

    @property
    def label(self) -> str:
        """How tables call it, such as `tuned -rerank -gate`."""
        return " ".join([self.profile, *(f"-{part}" for part in self.off)])


@dataclass(frozen=True)
class Outcome:
    """Of one question: metrics by level (`turn`, `session`), and how it was answered."""

    query: Query
    levels: Mapping[str, Mapping[str, float]]
    ranked: tuple[str, ...]
    intent: str
    thinking_mode: str
    reranked: bool


def ask(client: Client, scope: Scope, query: Query, variant: Variant) -> Outcome:
    """Ask one question.

    Raises:
        EvalError: When a part of the answer was degraded: such a figure would not be the product's.
    """
    answer = client.recall(query.text, _context(scope, variant))
    if answer.get("degraded"):
        raise EvalError(f"{query.id} under {variant.label!r} was answered degraded: {answer['degraded']}")
    # what may be found is never an error, so that it takes nobody's place
    found = (card["block_id"] for card in answer.get("cards", []) if card["kind"] == "block")
    ranked = tuple(one for one in found if one not in query.also)
    levels = {"turn": measures(ranked, query.gold)}
    if scope.session_of:
        gold = {scope.session_of[one] for one in query.gold}
        levels["session"] = measures(by_session(ranked, scope.session_of), gold)
    return Outcome(
        query=query,
        levels=levels,
        ranked=ranked,
        intent=answer["intent"],
        thinking_mode=answer["thinking_mode"],
        reranked=bool(answer["explanation"].get("reranked")),
    )


def _context(scope: Scope, variant: Variant) -> dict[str, Any]:
    now = scope.now or datetime.now(UTC)
    evaluation: dict[str, Any] = {
        "now": now.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "profile": variant.profile,
        "off": list(variant.off),
    }
    if variant.thinking:
        evaluation["thinking_mode"] = variant.thinking
    return {
        "user_id": scope.user_id,
        "origin": "eval",
        "limit": DEPTH,
        "token_budget": TOKEN_BUDGET,
        "deadline_ms": DEADLINE_MS,
        "time_zone": "UTC",
        "explain": True,
        "evaluation": evaluation,
    }


def by_type(outcomes: Sequence[Outcome]) -> dict[str, list[Outcome]]:
    """Return the outcomes by the type of their question; none when there is only one type."""
    kinds = sorted({one.query.kind for one in outcomes})
    return {kind: [one for one in outcomes if one.query.kind == kind] for kind in kinds} if len(kinds) > 1 else {}
