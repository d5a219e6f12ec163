"""The rankers of a question (R-10, R-11b), and their lists of points read as lists of blocks (R-12)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from memvault.text import search_tokens
from memvault_search.domain.bm25 import SparseVector, idf
from memvault_search.domain.embedding import FloatArray
from memvault_search.domain.fusion import Ranking, Side
from memvault_search.domain.statistics import WordStatistics, term_number
from memvault_search.domain.vault import Vault
from memvault_search.domain.views import VIEWS, View
from memvault_search.ports import RankedPoints, Ranker
from memvault_search.usecases.asking import Question


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
    """All rankers that are switched on and have something to look for."""
    chosen: list[Ranker] = []
    for view in VIEWS:
        if f"view:{view}" in off:
            continue
        chosen.append(Ranker(f"dense_{view}", view, vector, limit))
        chosen.append(Ranker(f"sparse_{view}", view, words_of(question.text, vault.words, view), limit))
    extra = {"hyde": question.hyde_vector, "follow_up": question.follow_up_vector}
    chosen += [Ranker(name, "self", own, limit) for name, own in extra.items() if own is not None]
    return [one for one in chosen if f"ranker:{one.name}" not in off and _asks(one)]


def _asks(ranker: Ranker) -> bool:
    return isinstance(ranker.vector, np.ndarray) or bool(ranker.vector[0])


def words_of(text: str, words: WordStatistics, view: View) -> SparseVector:
    """The question's side of BM25: each term's IDF over the user's own passages, times how often it is said."""
    counts = Counter(term_number(token) for token in search_tokens(text))
    documents = words.documents(view)
    frequencies = words.document_frequencies(view, counts)
    weights = {
        term: count * idf(int(frequency), documents)
        for (term, count), frequency in zip(counts.items(), frequencies, strict=True)
        if frequency > 0
    }
    terms = sorted(weights)
    return tuple(terms), tuple(weights[term] for term in terms)


def coverage_of(text: str, vault: Vault, slots: Sequence[int]) -> np.ndarray:
    """Share of the question's IDF mass that each passage, with its context, holds: float64 [s] in [0, 1]."""
    terms = list({term_number(token) for token in search_tokens(text)})
    documents = vault.words.documents("self")
    frequencies = vault.words.document_frequencies("self", terms)
    weights = np.array([idf(int(one), documents) for one in frequencies])
    wanted = np.array(terms, np.uint32)
    total = weights.sum()
    if not total:
        return np.zeros(len(slots))
    held = [np.isin(wanted, np.concatenate([one.numbers for one in views.values()])) for views in vault.terms_of(slots)]
    return np.array([weights[one].sum() / total for one in held])


def with_self_as_context(found: Mapping[str, RankedPoints], vault: Vault) -> dict[str, RankedPoints]:
    """Let blocks without neighbours stand in the context lists with the scores of their own text.

    Otherwise a turn of a conversation is voted for by four lists and a note by two, whatever they say.
    """
    filled = dict(found)
    for side in ("dense", "sparse"):
        own, context = found.get(f"{side}_self"), found.get(f"{side}_context")
        if own is None or context is None:
            continue
        alone = [place for place, point_id in enumerate(own.point_ids) if _stands_alone(point_id, vault)]
        ids = (*context.point_ids, *(own.point_ids[place] for place in alone))
        filled[f"{side}_context"] = RankedPoints(ids, np.concatenate([context.scores, own.scores[alone]]))
    return filled


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
