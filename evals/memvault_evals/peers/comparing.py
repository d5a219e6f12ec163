"""Scores answers, and says of each peer where it is ahead and where memvault is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memvault_evals.asking import SESSION, TURN, score
from memvault_evals.datasets import Scope
from memvault_evals.metrics import MRR, NDCG, Figure
from memvault_evals.peers.asking_peers import Answers
from memvault_evals.results import Figures, SetReport, averaged, paired

HEADLINE = ("recall@5", "recall@10", MRR, NDCG)
OURS = "memvault"


@dataclass(frozen=True)
class Standing:
    """One contestant on one set.

    Attributes:
        name: Of the peer, or `memvault`.
        report: Its figures.
        ahead: memvault's figures minus this one's, question by question; empty for memvault itself.
        answers: What it answered, and how fast.
        reused: Whether the answers are of an earlier run, so that its times do not compare with the others.
    """

    name: str
    report: SetReport
    ahead: Figures
    answers: Answers
    reused: bool = False


def scored(scopes: Sequence[Scope], answers: Answers) -> SetReport:
    """Return the figures of a set: ids that may be found but need not take nobody's place."""
    return averaged(
        [score(scope, query, {"ranked": list(answers.ranked[query.id])}) for scope in scopes for query in scope.queries]
    )


def standings(
    scopes: Sequence[Scope], ours: Answers, theirs: Mapping[str, Answers], reused: frozenset[str]
) -> list[Standing]:
    """Return memvault's standing first, then each peer's with the paired differences."""
    mine = scored(scopes, ours)
    found = [Standing(OURS, mine, {}, ours)]
    for name, answers in theirs.items():
        report = scored(scopes, answers)
        found.append(Standing(name, report, paired(mine, report), answers, name in reused))
    return found


def verdict(ahead: Figures) -> str:
    """Say in words who is ahead in the headline metrics by turn; significant: the 95 % interval leaves out 0."""
    differences = {metric: ahead[TURN][metric] for metric in HEADLINE}
    sides = {
        "PEER AHEAD": [metric for metric, one in differences.items() if one.high < 0],
        "memvault ahead": [metric for metric, one in differences.items() if one.low > 0],
        "peer higher, not significantly": [metric for metric, one in differences.items() if one.value < 0 <= one.high],
    }
    told = [f"{side}: {', '.join(metrics)}" for side, metrics in sides.items() if metrics]
    return "; ".join(told) or "no significant difference"


def session_figure(report: SetReport) -> Figure | None:
    """Recall@5 by session, where the set has sessions enough to rank."""
    return report.figures[SESSION]["recall@5"] if SESSION in report.figures else None
