"""From scored candidates to the final order: gate, rerank, blend, what holds now, top (R-15 to R-17a)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np

from memvault.faults import Fault
from memvault_search.domain.arrangement import valid_at, valid_first
from memvault_search.domain.blend import Bounds, blend, blend_late
from memvault_search.domain.embedding import TokenVectors
from memvault_search.domain.gate import GateReason, decide
from memvault_search.domain.scoring.candidates import Candidates, FloatArray, TimeRange
from memvault_search.domain.scoring.pipeline import Scored
from memvault_search.ports import BlockIndex, Embedder, RerankCandidate, Reranked, Reranker
from memvault_search.settings import SearchSettings
from memvault_search.usecases.asking import Conditions, Left, Part, Question, Reference

_NO_BOUNDS = Bounds(0.0, 0.0)


@dataclass(frozen=True, eq=False)
class Ordered:
    """Rows of the kept candidates with their final scores; `rerank`: scores by row.

    `score` is nan for rows that a stage dropped. `lifts`: see `best_of`.
    """

    score: FloatArray
    rerank: dict[int, float]
    degraded: tuple[Left, ...]
    skipped: tuple[Left, ...]
    scoring: Bounds = _NO_BOUNDS
    reranking: Bounds = _NO_BOUNDS
    floor: float = 0.0
    lifts: tuple[float, ...] = ()
    relevance: dict[int, float] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Shown:
    """What the reranker reads of each candidate row: points whose token vectors it takes, and the text.

    `readings(row)`: the row's own point alone, or among its neighbours in the order of the text.
    """

    user_id: str
    point_ids: Sequence[str]
    texts: Sequence[str]
    similarity: FloatArray
    readings: Callable[[int], tuple[str, ...]]


class Finishing:
    """Orders scored candidates; asks the reranker when the gate lets it."""

    def __init__(self, index: BlockIndex, embedder: Embedder, reranker: Reranker) -> None:
        self._index = index
        self._embedder = embedder
        self._reranker = reranker

    async def order(
        self,
        question: Question,
        conditions: Conditions,
        scored: Scored,
        shown: Shown,
        numbers: SearchSettings,
        *,
        weight_scoring: float,
        timeout_s: float,
        reference: Reference | None = None,
    ) -> Ordered:
        """Give every kept candidate its final score in [0, 1].

        A rerank takes at most `timeout_s`. With a reference, the blocks are placed on its
        scale and reranked when its list was.
        """
        ranked = scored.score[scored.order]
        depth, skipped = self._depth(question, ranked, conditions, numbers, reference)
        reranked: Reranked | None = None
        lifts: tuple[float, ...] = ()
        if depth:
            rows = [int(row) for row in scored.order[:depth]]
            answers = await self._rerank(question, rows, scored, shown, timeout_s)
            reranked, lifts = best_of(answers, () if reference is None else reference.rerank_lifts)
        degraded = (
            () if reranked is None or reranked.status == "OK" else (Left("rerank", reranked.status, reranked.detail),)
        )
        if reranked is None or reranked.status != "OK" or not depth:
            return _unblended(scored, degraded, skipped, reference)
        ordered = _blended(scored, reranked, depth, weight_scoring, reference)
        relevance = {
            row: reranked.relevance[scored.candidates.ids[row]]
            for row in ordered.rerank
            if scored.candidates.ids[row] in reranked.relevance
        }
        return Ordered(**{**vars(ordered), "skipped": skipped, "relevance": relevance, "lifts": lifts})

    @staticmethod
    def _depth(
        question: Question,
        ranked: FloatArray,
        conditions: Conditions,
        numbers: SearchSettings,
        reference: Reference | None,
    ) -> tuple[int, tuple[Left, ...]]:
        if "rerank" in conditions.off:
            return 0, (Left("rerank", "switched_off"),)
        if question.bare:
            return 0, (Left("rerank", "no_subject"),)
        if reference is not None:
            return (min(len(ranked), numbers.gate.depth) if reference.reranked else 0), ()
        if "gate" in conditions.off:
            return min(len(ranked), numbers.gate.depth), ()
        decision = decide(ranked, numbers.gate.of(question.intent))
        if decision.reason == GateReason.OPEN:
            return decision.rerank, ()
        return 0, (Left("rerank", str(decision.reason)),)

    async def _rerank(
        self,
        question: Question,
        rows: Sequence[int],
        scored: Scored,
        shown: Shown,
        timeout_s: float,
    ) -> list[Reranked]:
        """Ask the reranker for every part; what it reads is fetched within the same time, not out of the reserve."""
        if timeout_s <= 0.0:
            return [Reranked("TIMEOUT", detail="no time was left for a rerank")]
        try:
            async with asyncio.timeout(timeout_s) as bound:
                candidates = await self._candidates(rows, scored, shown)
                read = any(one.tokens for one in candidates)
                tokens = [await self._query_tokens(one) if read else one.tokens for one in question.asked]
                left_s = max(0.0, (bound.when() or 0.0) - asyncio.get_running_loop().time())
                return await asyncio.gather(
                    *(
                        self._reranker.rerank(part.text, candidates, query_tokens=own, timeout_s=left_s)
                        for part, own in zip(question.asked, tokens, strict=True)
                    )
                )
        except TimeoutError:
            if not bound.expired():
                raise
            return [Reranked("TIMEOUT", detail=f"no answer within {timeout_s:.2f} s")]
        except Fault as fault:  # of the token vectors or the encoder: the scoring order answers without them
            return [Reranked("FAILED", detail=fault.message)]

    async def _candidates(self, rows: Sequence[int], scored: Scored, shown: Shown) -> list[RerankCandidate]:
        """Return what the reranker reads of the rows."""
        readings = {row: shown.readings(row) for row in rows}
        point_ids = list(dict.fromkeys(point for reading in readings.values() for point in reading))
        tokens = await self._index.token_vectors(shown.user_id, point_ids)
        return [
            RerankCandidate(
                id=scored.candidates.ids[row],
                text=shown.texts[row],
                signals={
                    "similarity": float(shown.similarity[row]),
                    "scoring": float(scored.score[row]),
                },
                tokens=joined(readings[row], shown.point_ids[row], tokens),
            )
            for row in rows
        ]

    async def _query_tokens(self, part: Part) -> TokenVectors | None:
        if part.tokens is not None:
            return part.tokens
        embedded = await self._embedder.embed([part.text], "query", token_vectors=True)
        return embedded.tokens[0]


def best_of(answers: Sequence[Reranked], lifts: Sequence[float] = ()) -> tuple[Reranked, tuple[float, ...]]:
    """What the reranker says of a question in parts: of each candidate the most that it has for any of them.

    Every part's scores are lifted until its best has what the best of all has, or by the given `lifts` (R-14), which
    are returned: a part whose words match less well is answered all the same. One answer that is none stands for all:
    scores of some parts alone would favour what answers those.
    """
    failed = next((one for one in answers if one.status != "OK"), None)
    if failed is not None or len(answers) == 1:
        return failed or answers[0], ()
    tops = [max(one.scores.values(), default=0.0) for one in answers]
    added = tuple(lifts) if len(lifts) == len(answers) else tuple(max(tops) - top for top in tops)
    lifted = [
        {name: score + lift for name, score in one.scores.items()} for one, lift in zip(answers, added, strict=True)
    ]
    relevance = _highest([one.relevance for one in answers])
    return Reranked("OK", _highest(lifted), relevance, answers[0].model, answers[0].detail), added


def _highest(tables: Sequence[Mapping[str, float]]) -> dict[str, float]:
    names = dict.fromkeys(name for table in tables for name in table)
    return {name: max(table[name] for table in tables if name in table) for name in names}


def joined(
    reading: Sequence[str], own: str, tokens: Mapping[str, tuple[TokenVectors, ...]]
) -> tuple[TokenVectors, ...]:
    """Token vectors of a passage, all views; among neighbours their first views one after the other, as one view."""
    if own not in tokens or len(reading) == 1:
        return tokens.get(own, ())
    return (TokenVectors(np.concatenate([tokens[point][0].values for point in reading if point in tokens])),)


def _unblended(
    scored: Scored, degraded: tuple[Left, ...], skipped: tuple[Left, ...], reference: Reference | None
) -> Ordered:
    """Without a rerank the scoring order stands; the scale is that of the best, if it is above 1."""
    kept = scored.order
    final = np.full(len(scored.candidates), np.nan)
    if reference is not None and reference.reranked:
        low = reference.scoring_low
        share = scored.score[kept] / low if low > 0.0 else np.zeros(len(kept))
        final[kept] = np.clip(reference.floor * share, 0.0, reference.floor)
    else:
        final[kept] = np.clip(scored.score[kept] / max(1.0, scored.best), 0.0, 1.0)
    return Ordered(final, {}, degraded, skipped)


def _blended(
    scored: Scored, reranked: Reranked, depth: int, weight_scoring: float, reference: Reference | None
) -> Ordered:
    ranked = scored.score[scored.order]
    ids = [scored.candidates.ids[row] for row in scored.order[:depth]]
    rerank = np.array([reranked.scores[one] for one in ids], np.float64)
    rows = scored.order
    final = np.full(len(scored.candidates), np.nan)
    by_row = {int(row): float(score) for row, score in zip(rows[:depth], rerank, strict=True)}
    if reference is not None:
        scoring = Bounds(reference.scoring_low, reference.scoring_high)
        reranking = Bounds(reference.rerank_low, reference.rerank_high)
        final[rows[:depth]] = blend_late(ranked[:depth], rerank, weight_scoring, scoring, reranking)
        tail = ranked[depth:]
        above = float(ranked[depth - 1])
        lowest = float(np.min(final[rows[:depth]]))
        final[rows[depth:]] = lowest * tail / above if above > 0.0 else 0.0
        return Ordered(final, by_row, (), (), scoring, reranking, reference.floor)
    blended = blend(ranked, rerank, weight_scoring)
    final[rows[list(blended.order)]] = blended.score
    floor = float(min(blended.score[:depth], default=0.0))
    return Ordered(final, by_row, (), (), blended.scoring, blended.rerank, floor)


def in_force(
    final: FloatArray,
    candidates: Candidates,
    as_of: datetime | None,
    asked: TimeRange | None,
    margin: float,
) -> FloatArray:
    """Final scores in which no statement outranks the one that replaces it at the time asked about (R-17a)."""
    moment = None if as_of is None else as_of.timestamp()
    holds = valid_at(candidates, moment, asked)
    # a dropped candidate must not pull its counterpart down
    open_ended = np.where(np.isnan(final), np.inf, final)
    arranged = valid_first(open_ended, candidates, holds, margin)
    return np.where(np.isnan(final), np.nan, arranged)
