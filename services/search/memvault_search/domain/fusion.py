"""Fusing rankings (R-10): reciprocal rank fusion, and the convex combination as a switch.

Score_rrf(d) = sum over rankers of w_r / (k + rank_r(d)), ranks from 1 (Cormack et al. 2009). Ranks vote
and scores do not, because a cosine and a BM25 sum have different scales. A pure function of ours, so
that every card can tell its rank in each ranker.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from memvault_search.domain.scoring.candidates import FloatArray, IntArray
from memvault_search.domain.scoring.ordering import stable_order

Side = Literal["dense", "sparse"]
ABSENT = 0
TIMES = frozenset({"recent", "named"})
"""Rankers whose scores are times: their places mean something, their distances nothing."""
_PART = "#"
"""Behind the name of a ranker that looks for one part of a question, and before the part's number, from 1."""


def of_part(ranker: str, part: int) -> str:
    """Return the name under which a ranker looks for a part of a question; part 0 is the whole."""
    return f"{ranker}{_PART}{part}" if part else ranker


def base_name(ranker: str) -> str:
    """Return the ranker's name without the part that it looks for."""
    return ranker.partition(_PART)[0]


def part_of(ranker: str) -> int:
    """Return the part that a ranker of this name looks for, from 1; 0: the whole question."""
    number = ranker.partition(_PART)[2]
    return int(number) if number.isdecimal() else 0


@dataclass(frozen=True)
class FusionNumbers:
    """`method` is `rrf` or `convex`; `k` the rank offset of RRF.

    `ceiling` says what a base score of 1 means: `one_side` (the best that a block found by one side
    alone could have, better ones are cut to 1) or `all_sides` (first in every ranker; nothing is cut).
    In the convex combination `floor` is the vote of the last of a list: whoever is found has more than who is not.
    A list's range is at least `dense_spread` (of cosines) or `sparse_spread` times its best score, so that a vault in
    which everything is equally near is not ordered by noise.
    """

    method: str
    k: float
    ceiling: str
    floor: float
    dense_spread: float
    sparse_spread: float

    def __post_init__(self) -> None:
        if self.method not in {"rrf", "convex"}:
            message = f"fusion method must be 'rrf' or 'convex', not {self.method!r}"
            raise ValueError(message)
        if self.ceiling not in {"one_side", "all_sides"}:
            message = f"fusion ceiling must be 'one_side' or 'all_sides', not {self.ceiling!r}"
            raise ValueError(message)
        if not (0.0 <= self.dense_spread <= 1.0 and 0.0 <= self.sparse_spread <= 1.0):
            message = f"spreads must lie in [0, 1], not {self.dense_spread} and {self.sparse_spread}"
            raise ValueError(message)
        if not 0.0 <= self.floor < 1.0:
            message = f"the floor of a vote must lie in [0, 1), not {self.floor}"
            raise ValueError(message)
        if self.k < 0.0:
            message = f"k must be at least 0, not {self.k}"
            raise ValueError(message)


@dataclass(frozen=True)
class Ranking:
    """One ranker's list: ids with their scores (higher is better), in any order.

    Scores are finite; ids are unique; `weight` is at least 0. `limit` is how many the ranker was asked
    for: what a full list does not hold lies beyond it.
    """

    name: str
    side: Side
    ids: tuple[str, ...]
    scores: FloatArray
    limit: int
    weight: float = 1.0

    def __post_init__(self) -> None:
        if len(self.ids) != len(self.scores) or len(set(self.ids)) != len(self.ids):
            message = f"ranking {self.name} needs one score for each id and each id once"
            raise ValueError(message)
        if not np.isfinite(self.scores).all() or self.weight < 0.0:
            message = f"ranking {self.name} has a score that is not finite, or a negative weight"
            raise ValueError(message)


@dataclass(frozen=True)
class Cutoffs:
    """What is left of a ranking once its ids are gone, enough to rank a late block in it (R-14).

    `scores` fall from the best to the last.
    """

    name: str
    side: Side
    scores: FloatArray
    limit: int
    weight: float


@dataclass(frozen=True)
class Fused:
    """`score` and `base`: (n,), by falling score, ties by id. `ranks`: (n, r), from 1; ABSENT = 0.

    `base` lies in [0, 1] and is where scoring starts (R-13). `votes`: (n, r), what each ranker gave by the weight
    that it had for this question; a row adds up to `score`. Of a question in parts a row holds the votes of the part
    that speaks most for the candidate, beside those of rankers of the whole.
    """

    ids: tuple[str, ...]
    score: FloatArray
    base: FloatArray
    ranks: IntArray
    votes: FloatArray
    rankers: tuple[str, ...]

    def first(self, count: int) -> Fused:
        """Return the best `count` candidates."""
        return replace(
            self,
            ids=self.ids[:count],
            score=self.score[:count],
            base=self.base[:count],
            ranks=self.ranks[:count],
            votes=self.votes[:count],
        )

    def ranks_of(self, row: int) -> dict[str, int]:
        """Return the rank of one candidate in each ranker that found it."""
        pairs = zip(self.rankers, self.ranks[row].tolist(), strict=True)
        return {name: rank for name, rank in pairs if rank != ABSENT}


def fuse(rankings: Sequence[Ranking], numbers: FusionNumbers) -> Fused:
    """Fuse rankings into one list of all ids that any of them holds; equal scores share a rank.

    Of a question in parts a candidate has the score of the part for which it is best: what answers one part need not
    say anything to the others.
    """
    ids = tuple(sorted({one for ranking in rankings for one in ranking.ids}))
    row_of = {one: row for row, one in enumerate(ids)}
    scores = np.full((len(ids), len(rankings)), np.nan)
    ranks = np.zeros((len(ids), len(rankings)), dtype=np.int64)
    for column, ranking in enumerate(rankings):
        rows = [row_of[one] for one in ranking.ids]
        ranks[rows, column] = np.searchsorted(np.sort(-ranking.scores), -ranking.scores, side="left") + 1
        scores[rows, column] = ranking.scores
    return _ordered(ids, scores, ranks, cutoffs(rankings), numbers)


def fuse_late(scores: Mapping[str, Sequence[float]], reference: Sequence[Cutoffs], numbers: FusionNumbers) -> Fused:
    """Place blocks that came later among the rankings of the first call (R-14).

    `scores` has one value for each of `reference` per id, nan where the ranker has none. A block's rank
    in a ranker is 1 + the scores there above its own; beyond the ranker's list it gets nothing.
    """
    ids = tuple(sorted(scores))
    table = np.array([scores[one] for one in ids], dtype=np.float64).reshape(len(ids), len(reference))
    ranks = np.zeros(table.shape, dtype=np.int64)
    for column, cutoff in enumerate(reference):
        above = np.searchsorted(-cutoff.scores, -table[:, column], side="left") + 1
        found = ~np.isnan(table[:, column]) & (above <= cutoff.limit)
        ranks[:, column] = np.where(found, above, ABSENT)
    table[ranks == ABSENT] = np.nan
    return _ordered(ids, table, ranks, reference, numbers)


def cutoffs(rankings: Sequence[Ranking]) -> tuple[Cutoffs, ...]:
    """Return what late blocks need to know of each ranking."""
    return tuple(Cutoffs(one.name, one.side, np.sort(one.scores)[::-1], one.limit, one.weight) for one in rankings)


def _ordered(
    ids: tuple[str, ...],
    scores: FloatArray,
    ranks: IntArray,
    reference: Sequence[Cutoffs],
    numbers: FusionNumbers,
) -> Fused:
    weights = np.array([one.weight for one in reference], dtype=np.float64)
    votes = (
        _rrf_votes(ranks, numbers.k) if numbers.method == "rrf" else _convex_votes(scores, ranks, reference, numbers)
    )
    groups = _by_part(reference)
    sums = np.stack([np.where(group, votes, 0.0) @ weights for group in groups])
    best, fused = sums.argmax(axis=0), sums.max(axis=0)
    votes = np.where(np.stack(groups)[best], votes * weights, 0.0)
    first = 1.0 / (numbers.k + 1.0) if numbers.method == "rrf" else 1.0
    asked = [[one for one, inside in zip(reference, group, strict=True) if inside] for group in groups]
    ceiling = first * max(_ceiling_weight(one, numbers.ceiling) for one in asked)
    base = np.minimum(fused / ceiling, 1.0) if ceiling > 0.0 else np.zeros_like(fused)
    order = stable_order(fused, ids)
    return Fused(
        ids=tuple(ids[row] for row in order),
        score=fused[order],
        base=base[order],
        ranks=ranks[order],
        votes=votes[order],
        rankers=tuple(one.name for one in reference),
    )


def _by_part(reference: Sequence[Cutoffs]) -> list[npt.NDArray[np.bool_]]:
    """The rankers that speak for each part of the question, (r,) each; those of the whole speak for every part."""
    part = np.array([part_of(one.name) for one in reference], dtype=np.int64)
    numbers = sorted(set(part.tolist()) - {0}) or [0]
    return [(part == 0) | (part == number) for number in numbers]


def _rrf_votes(ranks: IntArray, k: float) -> npt.NDArray[np.float64]:
    return np.where(ranks == ABSENT, 0.0, 1.0 / (k + np.maximum(ranks, 1)))


def _convex_votes(
    scores: FloatArray, ranks: IntArray, reference: Sequence[Cutoffs], numbers: FusionNumbers
) -> npt.NDArray[np.float64]:
    """Min-max each ranker over its own list, from the floor to 1; late values are clipped to it; absent is 0.

    Rankers of times vote by rank, as in RRF, from 1 down.
    """
    by_rank, floor = _rrf_votes(ranks, numbers.k) * (numbers.k + 1.0), numbers.floor
    votes = np.zeros_like(scores)
    for column, cutoff in enumerate(reference):
        if not len(cutoff.scores):
            continue
        if cutoff.name in TIMES:
            votes[:, column] = by_rank[:, column]
            continue
        high = float(cutoff.scores[0])
        least = numbers.dense_spread if cutoff.side == "dense" else numbers.sparse_spread * high
        low = min(float(cutoff.scores[-1]), high - least)
        spread = (scores[:, column] - low) / (high - low) if high > low else np.ones(len(scores))
        raised = floor + (1.0 - floor) * np.clip(spread, 0.0, 1.0)
        votes[:, column] = np.where(np.isnan(scores[:, column]), 0.0, raised)
    return votes


def _ceiling_weight(reference: Sequence[Cutoffs], ceiling: str) -> float:
    total: dict[str, float] = {}
    for one in reference:
        total[one.side] = total.get(one.side, 0.0) + one.weight
    if not total:
        return 0.0
    return max(total.values()) if ceiling == "one_side" else sum(total.values())
