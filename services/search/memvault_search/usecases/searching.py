"""Search (R-10 to R-17): find, fuse, score, gate, rerank, blend, pick; and the same for named blocks (R-14)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from memvault.faults import Fault, Reason
from memvault.text import is_chinese
from memvault_search.domain.arrangement import by_conversation
from memvault_search.domain.embedding import FloatArray
from memvault_search.domain.fusion import Cutoffs, Ranking, cutoffs
from memvault_search.domain.intake import checked_user
from memvault_search.domain.relevance import Confidence, Relevance, assess
from memvault_search.domain.scoring.candidates import FloatArray as FloatArray64
from memvault_search.domain.scoring.candidates import ScoringContext
from memvault_search.domain.scoring.numbers import Strengths, StrengthTables
from memvault_search.domain.scoring.ordering import stable_order
from memvault_search.domain.scoring.pipeline import CLAMP, Scored, score
from memvault_search.domain.similarity import EncoderMeans, centred
from memvault_search.domain.vault import Vault
from memvault_search.domain.withholding import withheld_by
from memvault_search.ports import Embedder
from memvault_search.settings import Profile, SearchSettings
from memvault_search.usecases.asking import Conditions, Found, Hit, Question, Reference, Withheld
from memvault_search.usecases.dividing import Dividing
from memvault_search.usecases.explaining import Explaining
from memvault_search.usecases.finishing import Finishing, Ordered, Shown, in_force
from memvault_search.usecases.gathering import Gathering
from memvault_search.usecases.pooling import Pool, replies_in
from memvault_search.usecases.rankers import coverage_of, known_share_of, names_unknown_code
from memvault_search.usecases.readings import readings_of
from memvault_search.usecases.stopwatch import Stopwatch
from memvault_search.usecases.vaults import Vaults

_STAGE_PREFIX = "stage:"


class Searching:
    """The use case; one object serves all users and both profiles."""

    def __init__(  # noqa: PLR0913 - each is a port or a table of its own
        self,
        vaults: Vaults,
        embedder: Embedder,
        means: EncoderMeans,
        gathering: Gathering,
        finishing: Finishing,
        profiles: Mapping[Profile, SearchSettings],
        strengths: StrengthTables,
        dividing: Dividing,
        *,
        time_left_s: Callable[[float], float],
        stopwatch: Callable[[], Stopwatch],
    ) -> None:
        """`time_left_s(default)` tells what is left of the deadline; `stopwatch` makes one for each search."""
        self._vaults = vaults
        self._embedder = embedder
        self._means = means
        self._gathering = gathering
        self._finishing = finishing
        self._profiles = profiles
        self._strengths = strengths
        self._dividing = dividing
        self._time_left_s = time_left_s
        self._stopwatch = stopwatch

    async def search(self, question: Question, conditions: Conditions, *, limit: int) -> Found:
        """Find the best blocks for a question.

        Raises:
            Fault: for a user or profile that is none; a reranker that fails is no fault.
        """
        return await self._answer(question, conditions, limit, None)

    async def score(
        self,
        question: Question,
        conditions: Conditions,
        block_ids: Sequence[str],
        reference: Reference | None,
        *,
        limit: int,
    ) -> Found:
        """Score named blocks by the same code; with a reference on its scale, scores already given stay (R-14)."""
        named = tuple(dict.fromkeys(block_ids))
        only = replace(conditions, selection=replace(conditions.selection, block_ids=named))
        return await self._answer(question, only, limit, reference)

    async def _answer(
        self, question: Question, conditions: Conditions, limit: int, reference: Reference | None
    ) -> Found:
        checked_user(question.user_id)
        numbers = next((one for name, one in self._profiles.items() if name == conditions.profile), None)
        if numbers is None:
            known = ", ".join(sorted(self._profiles))
            raise Fault(Reason.FIELD_INVALID, f"profile must be one of {known}", field="profile")
        question = replace(question, bare=question.bare and numbers.finding.bare_by_recency)
        watch = self._stopwatch()
        vault = await self._vaults.of(question.user_id)
        with watch.step("search.embed"):
            question, vector = await self._with_vector(question, conditions)
            question, undivided = await self._dividing.divided(question, conditions, numbers)
        with watch.step("search.index"):
            gathered = await self._gathering.gather(question, conditions, vector, vault, numbers, reference)
        pool, best = gathered.pool, gathered.pool.best
        with watch.step("search.score"):
            shown, scored = self._scored(question, conditions, numbers, vault, vector, pool, reference)
        with watch.step("search.rerank"):
            ordered = await self._finishing.order(
                question,
                conditions,
                scored,
                shown,
                numbers,
                weight_scoring=self._chosen(question, numbers).blend_scoring,
                timeout_s=self._rerank_time(numbers),
                reference=reference,
            )
        final = _final(ordered, scored, conditions, question, numbers, reference)
        share = numbers.finding.grouping_share
        allowed, withheld = _without_withheld(final, scored, vault, limit)
        rows = top_rows(allowed, scored, grouping=question.grouping, limit=limit, share=share)
        slots = [best.slots[scored.candidates.ids[row]] for row in rows]
        relevance = self._relevance(question, vault, slots, shown, rows, ordered, numbers)
        explaining = Explaining(vault, pool.fused, pool.scores, scored, ordered, shown, best)
        return Found(
            hits=tuple(explaining.hit(row, float(final[row]), why=conditions.explain) for row in rows),
            confidence=_confidence(question, relevance, rows, vault, in_time=not gathered.skipped),
            relevance=relevance.best,
            candidates=_candidates(explaining, final) if conditions.include_candidates else (),
            reference=_reference(pool.rankings, scored, ordered, final) if reference is None else reference,
            degraded=(*undivided, *ordered.degraded),
            skipped=(*gathered.skipped, *ordered.skipped),
            times=watch.times,
            found=len(pool.fused.ids),
            reranked=len(ordered.rerank),
            write_version=vault.write_version,
            profile=conditions.profile,
            strengths=question.intent if question.facet == "none" else f"{question.intent}+{question.facet}",
            vector=vector,
            time_filtered=gathered.time_filtered,
            withheld=withheld,
            parts=tuple(one.text for one in question.parts),
        )

    async def _with_vector(self, question: Question, conditions: Conditions) -> tuple[Question, FloatArray]:
        if question.vector is not None:
            return question, question.vector
        with_tokens = "rerank" not in conditions.off and question.tokens is None
        embedded = await self._embedder.embed([question.text], "query", token_vectors=with_tokens)
        tokens = embedded.tokens[0] if with_tokens else question.tokens
        return replace(question, tokens=tokens), embedded.vectors[0]

    def _rerank_time(self, numbers: SearchSettings) -> float:
        """Seconds a rerank may take, so that enough is left of the deadline to answer without one."""
        calls = numbers.calls
        most, share = calls.rerank_timeout_s, calls.rerank_reserve_share
        left = self._time_left_s(most / (1 - share) + calls.rerank_reserve_s)
        return min(most, left - max(calls.rerank_reserve_s, share * left))

    def _chosen(self, question: Question, numbers: SearchSettings) -> Strengths:
        own = numbers.strengths_by_intent
        return self._strengths.choose(numbers.strengths, question.intent, question.facet, own)

    def _scoring_strengths(self, question: Question, numbers: SearchSettings, vault: Vault) -> Strengths:
        chosen = self._chosen(question, numbers)
        if question.bare or not numbers.finding.length_by_unknown_share:
            return chosen
        return chosen.where_words_tell_length(known_share_of(question, vault))

    def _scored(
        self,
        question: Question,
        conditions: Conditions,
        numbers: SearchSettings,
        vault: Vault,
        vector: FloatArray,
        pool: Pool,
        reference: Reference | None,
    ) -> tuple[Shown, Scored]:
        ids = pool.fused.ids
        rows = [pool.best.rows[one] for one in ids]
        slots = [pool.best.slots[one] for one in ids]
        own = [one.vector for one in question.parts if one.vector is not None]
        queries = np.stack([centred(one, self._means.query) for one in own or [vector]])
        close = (vault.vectors_of(slots) @ queries.T).max(axis=1) if ids else np.zeros(0)
        similarity = np.clip(close, 0.0, 1.0).astype(np.float64)
        candidates = vault.candidates(rows, slots, pool.fused.base, similarity)
        context = ScoringContext(
            now=conditions.now.timestamp(),
            strengths=self._scoring_strengths(question, numbers, vault),
            numbers=numbers.scoring,
            time_range=question.time_range,
            switched_off=frozenset(
                one.removeprefix(_STAGE_PREFIX) for one in conditions.off if one.startswith(_STAGE_PREFIX)
            ),
            best=None if reference is None else reference.best,
            centre=None if reference is None else reference.centre,
        )
        points = [vault.point_of(slot) for slot in slots]
        replies = replies_in(vault, numbers, conditions.off)
        among = numbers.finding.rerank_among_neighbours
        readings = readings_of(vault, rows, slots, among_neighbours=among, replies=replies)
        shown = Shown(question.user_id, points, candidates.texts, similarity, readings)
        return shown, score(candidates, context)

    @staticmethod
    def _relevance(
        question: Question,
        vault: Vault,
        slots: Sequence[int],
        shown: Shown,
        rows: Sequence[int],
        ordered: Ordered,
        numbers: SearchSettings,
    ) -> Relevance:
        by_final = np.argsort([-ordered.score[row] for row in rows], kind="stable")
        first = [int(place) for place in by_final[: numbers.relevance.looked_at]]
        shares = [coverage_of(one.text, vault, [slots[place] for place in first]) for one in question.asked]
        coverage = np.max(shares, axis=0)
        similarity = np.array([shown.similarity[rows[place]] for place in first], np.float64)
        chinese = is_chinese(question.text)
        across = np.array([is_chinese(shown.texts[rows[place]]) != chinese for place in first], np.bool_)
        return assess(similarity, coverage, across, numbers.relevance)


def _final(
    ordered: Ordered,
    scored: Scored,
    conditions: Conditions,
    question: Question,
    numbers: SearchSettings,
    reference: Reference | None,
) -> FloatArray64:
    asked = question.time_range
    if asked is None or not question.time_explicit or asked.end >= conditions.now.timestamp():
        asked = None  # it is the present that counts
    final = in_force(ordered.score, scored.candidates, conditions.as_of, asked, numbers.validity.margin)
    if reference is not None:
        for row, one in enumerate(scored.candidates.ids):
            final[row] = reference.scored.get(one, final[row])
    return final


def _confidence(
    question: Question, relevance: Relevance, rows: Sequence[int], vault: Vault, *, in_time: bool
) -> Confidence:
    """What is recent answers a question without a subject, whatever words it holds, unless its time has none.

    No answer is sure that is after a code which no memory holds.
    """
    if question.bare and in_time and rows and relevance.confidence == Confidence.LOW:
        return Confidence.MEDIUM
    if relevance.confidence == Confidence.HIGH and names_unknown_code(question.text, vault.words):
        return Confidence.MEDIUM
    return relevance.confidence


def _without_withheld(
    final: FloatArray64, scored: Scored, vault: Vault, limit: int
) -> tuple[FloatArray64, tuple[Withheld, ...]]:
    """Scores in which what may not be shown has none (nan), and what was met until `limit` blocks could be shown."""
    ids = scored.candidates.ids
    kept = np.flatnonzero(~np.isnan(final))
    allowed, withheld, shown = final.copy(), [], 0
    for place in stable_order(final[kept], [ids[row] for row in kept]):
        if shown == limit:
            break
        row = int(kept[place])
        block = vault.at(vault.require_row(ids[row])).block
        if rules := withheld_by(block):
            allowed[row] = np.nan
            withheld.append(Withheld(block.id, rules, block.screened_version))
        else:
            shown += 1
    return allowed, tuple(withheld)


def top_rows(final: FloatArray64, scored: Scored, *, grouping: str, limit: int, share: float) -> list[int]:
    """Rows of the best; grouped by conversation where asked for, but only those near enough to the best."""
    kept = np.flatnonzero(~np.isnan(final))
    ids = [scored.candidates.ids[row] for row in kept]
    rows = [int(kept[place]) for place in stable_order(final[kept], ids)[:limit]]
    if grouping != "conversation" or not rows:
        return rows
    # by scoring: the blend stretches its scores until the last of the reranked has none
    least = share * max(float(scored.score[row]) for row in rows)
    near = [row for row in rows if scored.score[row] >= least]
    far = [row for row in rows if scored.score[row] < least]
    return [*by_conversation(near, scored.candidates), *far]


def _candidates(explaining: Explaining, final: FloatArray64) -> tuple[Hit, ...]:
    """All candidates with their reasons, best first, those that a stage dropped last."""
    order = stable_order(np.nan_to_num(final, nan=-1.0), explaining.scored.candidates.ids)
    return tuple(explaining.hit(int(row), float(np.nan_to_num(final[row])), why=True) for row in order)


def _reference(
    rankings: Sequence[Ranking],
    scored: Scored,
    ordered: Ordered,
    final: FloatArray64,
) -> Reference:
    lists: tuple[Cutoffs, ...] = cutoffs(rankings)
    return Reference(
        lists=lists,
        best=scored.best,
        centre=scored.centre if CLAMP in scored.names else None,
        reranked=bool(ordered.rerank),
        scoring_low=ordered.scoring.low,
        scoring_high=ordered.scoring.high,
        rerank_low=ordered.reranking.low,
        rerank_high=ordered.reranking.high,
        floor=ordered.floor,
        rerank_lifts=ordered.lifts,
        scored={
            one: float(value) for one, value in zip(scored.candidates.ids, final, strict=True) if not np.isnan(value)
        },
    )
