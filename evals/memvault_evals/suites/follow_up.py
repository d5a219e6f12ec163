"""Suite follow_up: is what is said next understood with what was said before it (R-08)?

At each point of the conversations of the prefetch sets the real next utterance is asked, with the utterances before it
in its context, and it is counted whether the first cards hold a document that it needs. `--off completion` asks the
same without completing anything. Nothing is played: no prepared answer can serve.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from memvault_evals.asking import DEADLINE_MS, DEPTH, TOKEN_BUDGET, Variant, blocks_of, undegraded
from memvault_evals.house import Client
from memvault_evals.metrics import measures
from memvault_evals.results import Row, SetReport, averaged
from memvault_evals.suites.conversations import KDCONV, MTRAG, Conversation, Point, drawn, read_conversations
from memvault_evals.suites.prefetch import PREFETCH
from memvault_evals.suites.suite import Run

NEXT = {"mtrag_next": MTRAG, "kdconv_next": KDCONV}
"""Sets by name, and the files that hold them: a report has one entry for each name, so that prefetch keeps its own."""
ALL, COMPLETED, BESIDE = "all", "completed", "beside"
METRICS = ("hit@5", "hit@10", "recall@5", "recall@10", "MRR")


class FollowUpSuite:
    """Asks every point under every variant, side by side."""

    name = "follow_up"
    sets: tuple[str, ...] = tuple(NEXT)

    def fill(self, set_name: str, run: Run) -> None:
        """Write what the users remember, as the suite prefetch does."""
        PREFETCH.fill(NEXT[set_name], run)

    def measure(self, set_name: str, run: Run) -> Mapping[str, SetReport]:
        """Ask, and report all points, those that any variant completed, and those that it searched completed beside."""
        conversations = drawn(read_conversations(run.data, NEXT[set_name], run.scopes), run.points)
        points = [(one, point) for one in conversations for point in one.points]
        each = [(variant, one, point) for one, point in points for variant in run.variants]
        run.progress.begin(f"{set_name}: asking", len(each))
        asks = [
            (f"{set_name}|{variant.label}|{point.id}", partial(ask, run.gateway.client, one, point, variant))
            for variant, one, point in each
        ]
        told: dict[str, dict[str, Any]] = {variant.label: {} for variant in run.variants}
        for (variant, _, point), answer in zip(each, run.answers(asks), strict=True):
            told[variant.label][point.id] = answer
        return report([point for _, point in points], told)


def ask(client: Client, conversation: Conversation, point: Point, variant: Variant) -> dict[str, Any]:
    """Ask what is said next and return what was found and how it was understood.

    Raises:
        EvalError: When a part of the answer was degraded.
    """
    before = conversation.turns[: point.after + 1]
    context = {
        "user_id": conversation.user_id,
        "recent_utterances": [{"speaker": speaker, "text": text} for speaker, text in before],
        "origin": "eval",
        "limit": DEPTH,
        "token_budget": TOKEN_BUDGET,
        "deadline_ms": DEADLINE_MS,
        "explain": True,
        "evaluation": variant.evaluation | {"off": sorted({*variant.off, "prefetch"})},
    }
    answer = undegraded(client.ask(point.following, context), f"{point.id} under {variant.label!r}")
    return {
        "ranked": list(dict.fromkeys(card.block_id for card in blocks_of(answer))),
        COMPLETED: answer.explanation.completed_query != point.following,
        BESIDE: any(one.step == "completion" for one in answer.explanation.skipped),
    }


def report(points: Sequence[Point], told: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> dict[str, SetReport]:
    """Return a report for each variant; a level holds the same points in all of them."""
    levels = {
        level: {point.id for point in points if any(answers[point.id][level] for answers in told.values())}
        for level in (COMPLETED, BESIDE)
    }
    return {
        label: averaged(
            [_row(point, answers[point.id], levels) for point in points],
            {
                "points": len(points),
                **{level: sum(answers[point.id][level] for point in points) for level in levels},
            },
        )
        for label, answers in told.items()
    }


def _row(point: Point, told: Mapping[str, Any], levels: Mapping[str, set[str]]) -> Row:
    found = measures(told["ranked"], point.need)
    kept = {name: found[name] for name in METRICS}
    own = [ALL, *(level for level, ids in levels.items() if point.id in ids)]
    return Row(point.id, point.kind, dict.fromkeys(own, kept), told)


FOLLOW_UP = FollowUpSuite()
