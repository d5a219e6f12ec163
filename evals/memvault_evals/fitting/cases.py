"""What a search needs of one question, taken out of the running product once, so that settings can be tried offline."""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from memvault_rerank.domain.maxsim import Directions
from memvault_search.domain.fusion import Ranking
from memvault_search.domain.replies import Reply
from memvault_search.domain.scoring.candidates import Candidates, TimeRange


@dataclass(frozen=True, eq=False)
class Case:
    """One question with everything that any of its rankers found.

    Attributes:
        lists: What each ranker found, with its weight as it was when the base weights are all 1.
        candidates: One row for every block of any list; `base` is 0, because fusion gives it.
        directions: Late interaction of the question with every row, or None where there are no token vectors.
        query_tokens: Of the question.
        known: Share in [0, 1] of the question's words that the vault knows.
        replies: Of the rows that are replies, what they go on with.
        now: Seconds since the epoch, UTC.
        order: Ids as the product gave them, best first, with the numbers that were in force.
    """

    set_name: str
    scope: str
    id: str
    kind: str
    text: str
    gold: frozenset[str]
    also: frozenset[str]
    intent: str
    facet: str
    bare: bool
    grouping: str
    now: float
    time_range: TimeRange | None
    time_explicit: bool
    lists: tuple[Ranking, ...]
    candidates: Candidates
    speakers: tuple[str, ...]
    directions: Directions | None
    query_tokens: int
    known: float
    replies: Mapping[str, Reply]
    order: tuple[str, ...]
    reranked: int

    @cached_property
    def rows(self) -> dict[str, int]:
        """Row of each candidate."""
        return {one: row for row, one in enumerate(self.candidates.ids)}


def taken(candidates: Candidates, rows: Sequence[int], base: npt.NDArray[np.float64]) -> Candidates:
    """Return some rows of the candidates with these base scores, in the order of `rows`."""
    columns: dict[str, object] = {}
    for name, column in vars(candidates).items():
        columns[name] = column[list(rows)] if isinstance(column, np.ndarray) else tuple(column[row] for row in rows)
    return Candidates(**{**columns, "base": base})  # type: ignore[arg-type]


def keep(path: Path, cases: Sequence[Case]) -> None:
    """Write cases to a file of our own cache."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_bytes(pickle.dumps(list(cases), protocol=pickle.HIGHEST_PROTOCOL))
    part.replace(path)


def kept(path: Path) -> list[Case] | None:
    """Read cases back; None when there are none. Read only what `keep` of this machine wrote."""
    if not path.is_file():
        return None
    cases: list[Case] = pickle.loads(path.read_bytes())  # noqa: S301 - our own file, named after data and code
    return cases


def by_set(cases: Sequence[Case]) -> Mapping[str, list[Case]]:
    """Return the cases of each set, in order."""
    sets: dict[str, list[Case]] = {}
    for case in cases:
        sets.setdefault(case.set_name, []).append(case)
    return sets
