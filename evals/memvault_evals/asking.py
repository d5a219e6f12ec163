"""Asks the questions of a set under one variant of settings, over HTTP, and keeps what the answer tells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import accumulate
from typing import Any

from memvault.recall.v1.recall_pb2 import RecallResponse
from memvault.recall.v1.types_pb2 import Card
from memvault.text import count_tokens
from memvault_evals.datasets import Query, Scope
from memvault_evals.house import Client, EvalError
from memvault_evals.metrics import by_session, measures
from memvault_evals.results import Row

DEPTH = 50
TOKEN_BUDGET = 1_000_000
DEADLINE_MS = 120_000
TOKENS_AT = (5, 10, 15)  # cards
BLOCK = "block"
TURN, SESSION = "turn", "session"


@dataclass(frozen=True)
class Variant:
    """What is switched off or forced, under which profile.

    Attributes:
        profile: `tuned` or `reference`.
        off: Parts that are left out, as in `Evaluation.off` of the contract.
        thinking: Forces `fast` or `slow`; empty: as the router chooses.
        intent: Forces an intent; empty: as the router finds.
    """

    profile: str
    off: tuple[str, ...] = ()
    thinking: str = ""
    intent: str = ""

    @property
    def label(self) -> str:
        """How tables call it, such as `tuned -rerank -gate` or `tuned thinking=slow intent=factual`."""
        forced = {"thinking": self.thinking, "intent": self.intent}
        told = [f"{name}={value}" for name, value in forced.items() if value]
        return " ".join([self.profile, *told, *(f"-{part}" for part in self.off)])

    @property
    def evaluation(self) -> dict[str, Any]:
        """The switches as the contract's `Evaluation`, without `now`."""
        forced = {"thinking_mode": self.thinking, "intent": self.intent}
        return {"profile": self.profile, "off": list(self.off)} | {name: one for name, one in forced.items() if one}


def ask(client: Client, scope: Scope, query: Query, variant: Variant) -> dict[str, Any]:
    """Ask one question and return what the answer tells, as small JSON.

    Raises:
        EvalError: When a part of the answer was degraded: such a figure would not be the product's.
    """
    answer = undegraded(client.ask(query.text, _context(scope, variant)), f"{query.id} under {variant.label!r}")
    blocks = blocks_of(answer)
    explanation = answer.explanation
    tokens = list(accumulate(count_tokens(card.text) for card in blocks[: max(TOKENS_AT)]))
    return {
        "ranked": [card.block_id for card in blocks],
        "from_graph": [card.block_id for card in answer.cascade_cards if card.kind == BLOCK],
        "tokens": {str(count): tokens[min(count, len(tokens)) - 1] if tokens else 0 for count in TOKENS_AT},
        "intent": answer.intent,
        "facet": answer.facet,
        "thinking": answer.thinking_mode,
        "confidence": answer.confidence,
        "relevance": explanation.relevance,
        "reranked": explanation.reranked,
        "skipped": {one.step: one.reason for one in explanation.skipped},
        "self_check": answer.self_check,
        "self_check_steps": list(explanation.self_check_steps),
    }


def undegraded(answer: RecallResponse, question: str) -> RecallResponse:
    """Return the answer.

    Raises:
        EvalError: When a part of it was degraded: such a figure would not be the product's.
    """
    if answer.degraded:
        told = ", ".join(f"{one.part} {one.reason} {one.detail}".strip() for one in answer.degraded)
        raise EvalError(f"{question} was answered degraded: {told}")
    return answer


def blocks_of(answer: RecallResponse) -> list[Card]:
    """Blocks of an answer, best first: those that the graph adds carry scores of the same scale (R-14)."""
    cards = [one for one in (*answer.cards, *answer.cascade_cards) if one.kind == BLOCK]
    return sorted(cards, key=lambda card: -card.score) if answer.cascade_cards else cards


def score(scope: Scope, query: Query, told: Mapping[str, Any]) -> Row:
    """Return the row of a question: metrics by turn and, where the set has enough of them, by session."""
    # what may be found is never an error, so that it takes nobody's place
    ranked = [one for one in told["ranked"] if one not in query.also]
    levels = {TURN: measures(ranked, query.gold)}
    if scope.session_of:
        gold = {scope.session_of[one] for one in query.gold}
        also = {scope.session_of[one] for one in query.also if one in scope.session_of} - gold
        sessions = by_session(told["ranked"], scope.session_of)
        levels[SESSION] = measures([one for one in sessions if one not in also], gold)
    return Row(query.id, query.kind, levels, told)


def _context(scope: Scope, variant: Variant) -> dict[str, Any]:
    now = scope.now or datetime.now(UTC)
    return {
        "user_id": scope.user_id,
        "origin": "eval",
        "limit": DEPTH,
        "token_budget": TOKEN_BUDGET,
        "deadline_ms": DEADLINE_MS,
        "time_zone": "UTC",
        "explain": True,
        "evaluation": variant.evaluation | {"now": now.strftime("%Y-%m-%dT%H:%M:%SZ")},
    }
