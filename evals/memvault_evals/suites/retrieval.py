"""Suites recall, chinese and multihop: is what answers a question among the first that a recall returns?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean
from typing import Any

from memvault_evals.asking import TOKENS_AT, TURN, Variant, ask, score
from memvault_evals.datasets import Query, read_set
from memvault_evals.pulse import take_pulse
from memvault_evals.results import Row, SetReport, averaged
from memvault_evals.suites.suite import Run

RETRY = ": retry"  # how the answer names the self-check's second try


@dataclass(frozen=True)
class RetrievalSuite:
    """Each scope of a set becomes a user; its questions are asked one day after its last memory."""

    name: str
    sets: tuple[str, ...]

    def fill(self, set_name: str, run: Run) -> None:
        """Write the blocks of every scope."""
        scopes = read_set(run.data, set_name, run.scopes)
        run.progress.begin(f"{set_name}: writing", sum(len(scope.blocks) for scope in scopes))
        for scope in scopes:
            for count in run.vault.fill(run.gateway.client, scope.user_id, scope.blocks):
                run.progress.step(count)

    def measure(self, set_name: str, run: Run) -> Mapping[str, SetReport]:
        """Ask every question under every variant, side by side."""
        scopes = read_set(run.data, set_name, run.scopes)
        pulse = take_pulse(run.gateway.client, scopes)
        rows: dict[str, list[Row]] = {variant.label: [] for variant in run.variants}
        each = [(scope, query, variant) for scope in scopes for query in scope.queries for variant in run.variants]
        run.progress.begin(f"{set_name}: asking", len(each))
        asks = [
            (_key(set_name, query, variant), partial(ask, run.gateway.client, scope, query, variant))
            for scope, query, variant in each
        ]
        for (scope, query, variant), told in zip(each, run.answers(asks), strict=True):
            rows[variant.label].append(score(scope, query, told))
        return {label: averaged(some, facts(some) | {"pulse": pulse}) for label, some in rows.items()}


def _key(set_name: str, query: Query, variant: Variant) -> str:
    return f"{set_name}|{variant.label}|{query.id}"


def facts(rows: Sequence[Row]) -> dict[str, Any]:
    """Return how questions were answered.

    `tokens`: means over questions. `gate_skips`: why there was no rerank. `second_try`: questions whose first answer
    was graded incorrect, and those of them that then had something wanted in the first five. `unsupported`: answers
    that held nothing wanted, and those of them that did not say so (hallucination risk).
    """
    told = [row.told for row in rows]
    lost = [row for row in rows if not row.levels[TURN]["hit@10"]]
    retried = [row for row in rows if any(step.endswith(RETRY) for step in row.told["self_check_steps"])]
    return {
        "asked": len(rows),
        "intents": _counted(one["intent"] for one in told),
        "thinking": _counted(one["thinking"] for one in told),
        "reranked": sum(one["reranked"] > 0 for one in told),
        "gate_skips": _counted(one["skipped"]["rerank"] for one in told if "rerank" in one["skipped"]),
        "tokens": {f"first {count}": round(fmean(one["tokens"][str(count)] for one in told)) for count in TOKENS_AT},
        "confidence": _counted(one["confidence"] for one in told),
        "unsupported": {
            "asked": len(rows),
            "no_gold": len(lost),
            "no_gold_confident": sum(row.told["confidence"] != "low" for row in lost),
        },
        "self_check": _counted(one["self_check"] for one in told if one["self_check"]),
        "second_try": {"tried": len(retried), "saved": sum(row.levels[TURN]["hit@5"] > 0 for row in retried)},
        "from_graph_in_first_10": sum(bool(set(one["from_graph"]) & set(one["ranked"][:10])) for one in told),
    }


def _counted(words: Iterable[str]) -> dict[str, int]:
    return dict(Counter(words).most_common())


RECALL = RetrievalSuite("recall", ("locomo", "lme_s_partial", "beam100k", "ikat_ptkb"))
CHINESE = RetrievalSuite("chinese", ("memorybank_zh", "madial_zh", "memdaily_zh", "drcd_zh", "xquad_zh2en"))
MULTIHOP = RetrievalSuite("multihop", ("musique", "hotpot", "twowiki", "musique_openie"))
