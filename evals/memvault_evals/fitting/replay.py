"""Answers a collected question again with other numbers, by the product's own functions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from memvault_evals.fitting.cases import Case, taken
from memvault_rerank.domain.maxsim import Directions, combined
from memvault_search.adapters.strengths_file import load_strengths
from memvault_search.domain.arrangement import valid_at, valid_first
from memvault_search.domain.blend import blend
from memvault_search.domain.fusion import Fused, Ranking, fuse
from memvault_search.domain.gate import GateReason, decide
from memvault_search.domain.replies import with_replies
from memvault_search.domain.scoring.candidates import ScoringContext
from memvault_search.domain.scoring.numbers import Strengths, StrengthTables
from memvault_search.domain.scoring.pipeline import Scored, score
from memvault_search.settings import SearchSettings
from memvault_search.usecases.searching import top_rows

FloatArray = npt.NDArray[np.float64]
ROUNDING = 5e-5
"""Of a score: the product holds what it wrote as it was, the replay reads 16 bits of it (docs/decisions/0032)."""


@dataclass(frozen=True)
class Setup:
    """Numbers to answer with. `off` names stages (`LengthNorm`), `rerank` and `gate`."""

    numbers: SearchSettings
    tables: StrengthTables = field(default_factory=load_strengths)
    off: frozenset[str] = frozenset()

    def strengths(self, case: Case) -> Strengths:
        """Those of a question's intent and facet."""
        numbers = self.numbers
        return self.tables.choose(numbers.strengths, case.intent, case.facet, numbers.strengths_by_intent)


@dataclass(frozen=True, eq=False)
class Replayed:
    """Ids, best first; what the gate decided; how many were reranked.

    `scores`: of stage 11, best first. `final`: of each of the ids.
    """

    ids: tuple[str, ...]
    gate: GateReason | None
    reranked: int
    scores: FloatArray
    final: FloatArray


def replay(case: Case, setup: Setup, limit: int = 100) -> Replayed:
    """Answer a question again."""
    fused = _fused(case, setup)
    scored = _scored(case, fused, setup)
    final, reason, depth = _final(case, scored, setup)
    asked = case.time_range if case.time_explicit and case.time_range and case.time_range.end < case.now else None
    holds = valid_at(scored.candidates, None, asked)
    arranged = valid_first(
        np.where(np.isnan(final), np.inf, final), scored.candidates, holds, setup.numbers.validity.margin
    )
    final = np.where(np.isnan(final), np.nan, arranged)
    share = setup.numbers.finding.grouping_share
    rows = top_rows(final, scored, grouping=case.grouping, limit=limit, share=share)
    ids = tuple(scored.candidates.ids[row] for row in rows)
    return Replayed(ids, reason, depth, scored.score[scored.order], final[rows])


def agrees(case: Case, setup: Setup) -> bool:
    """Whether the replay gives the product's order; scores that are equal but for rounding may change places."""
    again = replay(case, setup)
    score = dict(zip(again.ids, again.final.tolist(), strict=True))
    near = (
        mine == theirs or abs(score[mine] - score.get(theirs, np.inf)) <= ROUNDING
        for mine, theirs in zip(again.ids, case.order, strict=False)
    )
    return len(again.ids) == len(case.order) and again.reranked == case.reranked and all(near)


def weighed(lists: tuple[Ranking, ...], weights: Mapping[str, float]) -> list[Ranking]:
    """Return the lists with other base weights."""
    return [replace(one, weight=one.weight * weights.get(one.name, 1.0)) for one in lists]


def _fused(case: Case, setup: Setup) -> Fused:
    numbers = setup.numbers
    fused = fuse(weighed(case.lists, numbers.finding.weights), numbers.fusion)
    if numbers.finding.reply_share:
        fused, _ = with_replies(fused, case.replies.get, numbers.finding.reply_share)
    return fused.first(numbers.finding.candidates)


def _scored(case: Case, fused: Fused, setup: Setup) -> Scored:
    rows = case.rows
    candidates = taken(case.candidates, [rows[one] for one in fused.ids], fused.base)
    strengths = setup.strengths(case)
    if setup.numbers.finding.length_by_unknown_share and not case.bare:
        strengths = strengths.where_words_tell_length(case.known)
    context = ScoringContext(
        now=case.now,
        strengths=strengths,
        numbers=setup.numbers.scoring,
        time_range=case.time_range,
        switched_off=setup.off,
    )
    return score(candidates, context)


def _final(case: Case, scored: Scored, setup: Setup) -> tuple[FloatArray, GateReason | None, int]:
    ranked = scored.score[scored.order]
    final = np.full(len(scored.candidates), np.nan)
    depth, reason = _depth(case, ranked, setup)
    if not depth or case.directions is None:
        final[scored.order] = np.clip(ranked / max(1.0, scored.best), 0.0, 1.0)
        return final, reason, 0
    rerank = late(case, [scored.candidates.ids[row] for row in scored.order[:depth]])
    share = setup.strengths(case).blend_scoring
    blended = blend(ranked, rerank, share)
    final[scored.order[list(blended.order)]] = blended.score
    return final, reason, depth


def _depth(case: Case, ranked: FloatArray, setup: Setup) -> tuple[int, GateReason | None]:
    gate = setup.numbers.gate
    if "rerank" in setup.off or case.bare:
        return 0, None
    if "gate" in setup.off:
        return min(len(ranked), gate.depth), None
    decision = decide(ranked, gate.of(case.intent))
    return decision.rerank, decision.reason


def late(case: Case, ids: list[str]) -> FloatArray:
    """Return the scores that the reranker gives a list of candidates."""
    if case.directions is None:
        raise ValueError(f"{case.id} has no token vectors")
    rows = [case.rows[one] for one in ids]
    both = case.directions
    part = Directions(both.from_query[rows], both.from_document[rows], both.lengths[rows])
    return combined(part, case.query_tokens).astype(np.float64)
