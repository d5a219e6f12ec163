"""Who is ahead is said plainly, and a list of what was dropped goes with it."""

from __future__ import annotations

import io
from datetime import UTC, datetime

from rich.console import Console

from memvault_evals.asking import TURN
from memvault_evals.datasets import Query, Scope
from memvault_evals.metrics import MRR, NDCG, Figure
from memvault_evals.peers.asking_peers import Answers
from memvault_evals.peers.comparing import HEADLINE, standings, verdict
from memvault_evals.peers.tables import as_document, dropped_line, markdown, show

COUNT = 20


def scope() -> Scope:
    blocks = tuple({"id": f"b{number}", "text": "t"} for number in range(COUNT))
    queries = tuple(
        Query(f"q{number}", "?", frozenset({f"b{number}"}), "", frozenset({f"b{(number + 1) % COUNT}"}))
        for number in range(COUNT)
    )
    return Scope("u", blocks, queries, datetime(2026, 1, 1, tzinfo=UTC), {})


def answers(rank: int) -> Answers:
    """The gold of every question at `rank`, behind ids that are wrong."""
    ranked = {}
    for number in range(COUNT):
        wrong = [f"b{(number + 2 + step) % COUNT}" for step in range(rank - 1)]
        ranked[f"q{number}"] = [*wrong, f"b{number}"]
    return Answers(ranked, dict.fromkeys(ranked, 4.0), COUNT, 2.0, kept_vectors=False, at="then", load="0 0 0")


def differences(value: float, low: float, high: float) -> dict[str, dict[str, Figure]]:
    return {TURN: dict.fromkeys(HEADLINE, Figure(value, low, high, COUNT))}


def test_a_peer_that_is_better_on_every_question_is_said_to_be_ahead() -> None:
    ours, theirs = standings([scope()], answers(7), {"rival": answers(1)}, frozenset())
    assert ours.report.figures[TURN]["recall@5"].value == 0
    assert theirs.ahead[TURN]["recall@5"].value == -100
    assert verdict(theirs.ahead).startswith(f"PEER AHEAD: recall@5, {MRR}, {NDCG}")


def test_what_may_be_found_takes_nobodys_place() -> None:
    with_also = Answers(
        {f"q{number}": [f"b{(number + 1) % COUNT}", f"b{number}"] for number in range(COUNT)},
        {f"q{number}": 1.0 for number in range(COUNT)}, COUNT, 1.0, kept_vectors=False, at="then", load="0 0 0",
    )  # fmt: skip
    ours, _ = standings([scope()], with_also, {"rival": answers(1)}, frozenset())
    assert ours.report.figures[TURN][MRR].value == 100


def test_a_difference_within_noise_is_no_verdict_for_anybody() -> None:
    assert verdict(differences(-1, -3, 1)).startswith("peer higher, not significantly: recall@5")
    assert verdict(differences(1, -1, 3)) == "no significant difference"
    assert verdict(differences(2, 1, 3)).startswith("memvault ahead: recall@5")


def test_the_report_names_who_was_dropped_and_marks_what_was_reused() -> None:
    rows = standings([scope()], answers(1), {"rival": answers(2)}, frozenset({"rival"}))
    dropped = [{"peer": "other", "set": "", "reason": "it needs a network"}]
    text = markdown({"some": rows}, dropped)
    assert "- dropped: other altogether: it needs a network" in text
    assert "| rival (reused) |" in text
    document = as_document({"some": rows}, dropped, {}, {})
    assert document["dropped"] == dropped
    assert document["results"]["some"]["rival"]["figures"][TURN][MRR]["value"] == 50
    assert document["results"]["some"]["rival"]["ms"]["p50"] == 4.0
    assert document["results"]["some"]["memvault"]["missed"] == []
    assert dropped_line({"peer": "a", "set": "b", "reason": "c"}) == "dropped: a on b: c"


def test_the_terminal_shows_the_verdict_and_who_was_dropped() -> None:
    rows = standings([scope()], answers(7), {"rival": answers(1)}, frozenset())
    shown = io.StringIO()
    show(Console(file=shown, width=400), {"some": rows}, [{"peer": "other", "set": "some", "reason": "it hangs"}])
    assert "PEER AHEAD: recall@5" in shown.getvalue()
    assert "-100.0 [-100.0, -100.0]" in shown.getvalue()
    assert "dropped: other on some: it hangs" in shown.getvalue()
