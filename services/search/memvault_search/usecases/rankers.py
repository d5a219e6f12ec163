"""The rankers of a question (R-10, R-11b), and their lists of points read as lists of blocks (R-12)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from memvault.text import fold, search_tokens
from memvault_search.domain.bm25 import SparseVector, idf
from memvault_search.domain.embedding import FloatArray
from memvault_search.domain.fusion import Ranking, Side, base_name, of_part
from memvault_search.domain.statistics import WordStatistics, term_number
from memvault_search.domain.vault import Vault
from memvault_search.domain.views import VIEWS, View
from memvault_search.ports import RankedPoints, Ranker
from memvault_search.usecases.asking import Question

_NOTHING = RankedPoints((), np.empty(0))
_CODE = re.compile(r"(?<![\w.-])[a-z]+(?:[-_][0-9]|[0-9]{2}|[0-9]\.[0-9])(?:[\w.-]*\w)?", re.ASCII)
_FORM_OF_CODE = re.compile(r"[a-z].*[0-9]|[0-9]\.[0-9]")
"""`srv-0042`, `srv0042`, `v2.4.1` and `2.4.1`, but neither `srv` nor `0042`, which other codes hold as well."""


@dataclass(frozen=True, eq=False)
class Best:
    """Where each block was found: its row, and the slot of its best passage."""

    rows: dict[str, int]
    slots: dict[str, int]


def side_of(ranker: str) -> Side:
    """Whether a ranker of this name reads meanings or words."""
    return "sparse" if ranker.startswith("sparse") else "dense"


def rankers_of(
    question: Question, vector: FloatArray, vault: Vault, *, off: frozenset[str], limit: int
) -> list[Ranker]:
    """All rankers that are switched on and have something to look for; of a question in parts, those of each part."""
    chosen: list[Ranker] = []
    for number, part in enumerate(question.parts, 1):
        chosen += _rankers(part.text, part.vector, number, vault, off=off, limit=limit)
    if not question.parts:
        chosen += _rankers(question.text, vector, 0, vault, off=off, limit=limit)
    extra = {"hyde": question.hyde_vector, "follow_up": question.follow_up_vector}
    chosen += [Ranker(name, "self", own, limit) for name, own in extra.items() if own is not None]
    return [one for one in chosen if f"ranker:{base_name(one.name)}" not in off and _asks(one)]


def _rankers(
    text: str, vector: FloatArray | None, part: int, vault: Vault, *, off: frozenset[str], limit: int
) -> list[Ranker]:
    chosen: list[Ranker] = []
    for view in VIEWS:
        if f"view:{view}" in off:
            continue
        if vector is not None:
            chosen.append(Ranker(of_part(f"dense_{view}", part), view, vector, limit))
        chosen.append(Ranker(of_part(f"sparse_{view}", part), view, words_of(text, vault.words, view), limit))
    return chosen


def _asks(ranker: Ranker) -> bool:
    return isinstance(ranker.vector, np.ndarray) or bool(ranker.vector[0])


@lru_cache(maxsize=256)
def _terms(text: str) -> tuple[int, ...]:
    """Numbers of a question's words; kept for a moment, because every view and the relevance ask for them."""
    return tuple(map(term_number, search_tokens(text)))


def words_of(text: str, words: WordStatistics, view: View) -> SparseVector:
    """The question's side of BM25: each term's IDF over the user's own passages, times how often it is said."""
    counts = Counter(_terms(text))
    documents = words.documents(view)
    frequencies = words.document_frequencies(view, counts)
    weights = {
        term: count * idf(int(frequency), documents)
        for (term, count), frequency in zip(counts.items(), frequencies, strict=True)
        if frequency > 0
    }
    terms = sorted(weights)
    return tuple(terms), tuple(weights[term] for term in terms)


def known_share(text: str, words: WordStatistics) -> float:
    """Share in [0, 1] of the question's IDF mass that the user's passages know at all; 1 without a word.

    The best of a list that matches one word of a question in another language is first there all the same:
    its vote must not count as much as that of a list that knows every word.
    """
    terms = list(set(_terms(text)))
    frequencies = words.document_frequencies("self", terms)
    weights = np.array([idf(int(one), words.documents("self")) for one in frequencies])
    return float(weights[frequencies > 0].sum() / weights.sum()) if weights.sum() else 1.0


def names_unknown_code(text: str, words: WordStatistics) -> bool:
    """Tell whether a question names codes and none of the user's passages holds any of them.

    `srv-0042` is asked for, and what is found is `srv-0024`: all words but the one that matters. A code is letters and
    then digits, so that neither dates nor amounts are codes, nor `Q3`; its other spellings count as itself.
    """
    codes = _CODE.findall(fold(text))
    forms = [one for code in codes for one in search_tokens(code) if _FORM_OF_CODE.search(one)]
    if not forms:
        return False
    return not words.document_frequencies("self", list(map(term_number, forms))).any()


def known_share_of(question: Question, vault: Vault) -> float:
    """`known_share` of a question: the mean of its parts."""
    return float(np.mean([known_share(part.text, vault.words) for part in question.asked]))


def coverage_of(text: str, vault: Vault, slots: Sequence[int]) -> np.ndarray:
    """Share of the question's IDF mass that each passage, with its context, holds: float64 [s] in [0, 1]."""
    terms = list(dict.fromkeys(_terms(text)))
    documents = vault.words.documents("self")
    frequencies = vault.words.document_frequencies("self", terms)
    weights = np.array([idf(int(one), documents) for one in frequencies])
    wanted = np.array(terms, np.uint32)
    total = weights.sum()
    if not total:
        return np.zeros(len(slots))
    # compared one by one: what is wanted is short, and np.isin sorts both sides
    held = [
        (np.concatenate([one.numbers for one in views.values()])[:, np.newaxis] == wanted).any(axis=0)
        for views in vault.terms_of(slots)
    ]
    return np.array([weights[one].sum() / total for one in held])


def with_self_as_context(
    rankers: Sequence[Ranker], found: Mapping[str, RankedPoints], vault: Vault, *, off: frozenset[str]
) -> tuple[list[Ranker], dict[str, RankedPoints]]:
    """Let blocks without neighbours stand in the context lists with the scores of their own text.

    Otherwise a turn of a conversation is voted for by four lists and a note by two, whatever they say.
    """
    asked, filled = list(rankers), dict(found)
    for own in rankers:
        name = own.name.replace("_self", "_context")
        if name == own.name or "view:context" in off or f"ranker:{base_name(name)}" in off:
            continue
        if name not in filled:
            asked.append(replace(own, name=name, view="context"))
        mine = found[own.name]
        alone = [place for place, point_id in enumerate(mine.point_ids) if _stands_alone(point_id, vault)]
        extra = RankedPoints(tuple(mine.point_ids[place] for place in alone), mine.scores[alone])
        filled[name] = merged(filled.get(name, _NOTHING), extra)
    return asked, filled


def merged(left: RankedPoints, right: RankedPoints, limit: int | None = None) -> RankedPoints:
    """Join two lists of one ranker, best first, ties by id; a point in both has its score of `left`."""
    scores = dict(zip(right.point_ids, right.scores.tolist(), strict=True))
    scores.update(zip(left.point_ids, left.scores.tolist(), strict=True))
    best = sorted(scores.items(), key=lambda item: (-item[1], item[0]))[:limit]
    return RankedPoints(tuple(point_id for point_id, _ in best), np.array([score for _, score in best], np.float64))


def _stands_alone(point_id: str, vault: Vault) -> bool:
    place = vault.places.get(point_id)
    return place is not None and "context" not in vault.terms_of([place.slot])[0]


def as_blocks(
    found: Mapping[str, RankedPoints],
    rankers: Sequence[Ranker],
    vault: Vault,
    weights: Mapping[str, float],
) -> tuple[list[Ranking], Best]:
    """Read lists of points as lists of blocks: a block stands where its best passage stands.

    The passage that is shown is the one with the best rank in any ranker.
    """
    rows: dict[str, int] = {}
    slots: dict[str, int] = {}
    best_rank: dict[str, int] = {}
    rankings: list[Ranking] = []
    places = vault.places
    for ranker in rankers:
        points = found[ranker.name]
        scores: dict[str, float] = {}
        for point_id, score in zip(points.point_ids, points.scores.tolist(), strict=True):
            place = places.get(point_id)
            if place is None or place.block_id in scores:
                continue
            block_id = place.block_id
            scores[block_id] = score
            if len(scores) < best_rank.get(block_id, len(scores) + 1):
                best_rank[block_id] = len(scores)
                rows[block_id], slots[block_id] = place.row, place.slot
        rankings.append(
            Ranking(
                name=ranker.name,
                side=side_of(ranker.name),
                ids=tuple(scores),
                scores=np.fromiter(scores.values(), np.float64, len(scores)),
                limit=ranker.limit,
                weight=weights.get(ranker.name, 1.0),
            )
        )
    return rankings, Best(rows, slots)
