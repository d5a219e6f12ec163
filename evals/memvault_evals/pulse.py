"""Proves that both sides of the search are alive before their figures are believed.

A dead encoder or a dead sparse side answers politely: with the other side's results. So a few memories are asked for by
their own words with one side switched off at a time. Each side alone must put most of them first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from memvault_evals.asking import Variant, ask
from memvault_evals.datasets import Query, Scope
from memvault_evals.house import Client, EvalError
from memvault_search.domain.scoring.pipeline import STAGES

PROFILE = "tuned"
PROBES = 8
LEAST_CHARS, MOST_CHARS = 24, 300
SIDES: Mapping[str, tuple[str, ...]] = {
    "dense": ("ranker:dense_self", "ranker:dense_context"),
    "sparse": ("ranker:sparse_self", "ranker:sparse_context"),
}
# what is found by either side alone: no other list votes, nothing is scored or reranked, no date in a text filters
OTHERS = ("ranker:speaker", "ranker:reply", "ranker:recent", "ranker:named", "ranker:hyde", "ranker:follow_up")
QUIET = (*OTHERS, "gate", "rerank", "cascade", "time_filter", *(f"stage:{stage.name}" for stage in STAGES))


def take_pulse(client: Client, scopes: Sequence[Scope]) -> dict[str, int]:
    """Return how many of the probes each side alone put first, under `probes` how many there were.

    Both profiles ask the same encoder and the same index; the reference profile lets the best of a list tie.

    Raises:
        EvalError: When a side found less than half of them, naming the side.
    """
    scope = max(scopes, key=lambda one: len(one.blocks))
    probes = _probes(scope.blocks)
    if not probes:
        raise EvalError(f"{scope.user_id} holds no text of {LEAST_CHARS} characters to probe the search with")
    found = {"probes": len(probes)}
    for side in SIDES:
        others = tuple(part for name, parts in SIDES.items() if name != side for part in parts)
        alone = Variant(PROFILE, (*others, *QUIET), thinking="fast")
        answers = [ask(client, scope, probe, alone)["ranked"][:1] for probe in probes]
        found[side] = sum(
            set(first) <= probe.gold and bool(first) for first, probe in zip(answers, probes, strict=True)
        )
        if found[side] * 2 < len(probes):
            raise EvalError(
                f"the {side} side is dead: alone it put {found[side]} of {len(probes)} memories of {scope.user_id} "
                "first when asked for them by their own words; see `memvault doctor` and the logs"
            )
    return found


def _probes(blocks: Sequence[Mapping[str, Any]]) -> list[Query]:
    """Memories of different texts, evenly spread; copies of a text count as the same memory."""
    ids: dict[str, set[str]] = {}
    for block in blocks:
        if len(block["text"]) >= LEAST_CHARS:
            ids.setdefault(block["text"][:MOST_CHARS], set()).add(block["id"])
    texts = list(ids)
    chosen = texts[:: max(1, len(texts) // PROBES)][:PROBES]
    return [Query(f"pulse {number}", text, frozenset(ids[text]), "") for number, text in enumerate(chosen)]
