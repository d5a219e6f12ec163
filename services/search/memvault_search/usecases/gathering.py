"""Gathers the candidates of a question: the rankers' lists, what is recent, and what held in a time asked about."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from memvault_search.domain.block import Block, StoredBlock
from memvault_search.domain.days import NamedDay, days_in
from memvault_search.domain.deeds import DeedWords
from memvault_search.domain.embedding import FloatArray
from memvault_search.domain.fusion import of_part
from memvault_search.domain.selection import Selection
from memvault_search.domain.similarity import EncoderMeans
from memvault_search.domain.speakers import PersonWords, asks_of_a_talk
from memvault_search.domain.vault import Vault
from memvault_search.ports import BlockIndex, RankedPoints, Ranker
from memvault_search.settings import SearchSettings
from memvault_search.usecases.apart import without_common
from memvault_search.usecases.asking import Conditions, Left, Question, Reference
from memvault_search.usecases.marks import with_speaker
from memvault_search.usecases.pooling import Pool, depth_of, pool_of, replies_in, selection_of
from memvault_search.usecases.rankers import (
    as_blocks,
    known_share,
    merged,
    rankers_of,
    side_of,
    with_self_as_context,
    words_of,
)

RECENT = "recent"
COMMON = "common"
"""Among what is switched off: the list of meanings keeps what all of the vault has in common."""
TOLD = "told_afterwards"
"""Among what is switched off: what was told after a time asked about, in words that name that time, stays out."""
NAMED = "named"
_BEFORE_ALL_ELSE_S = 1e12
"""Added to the time of what was said, where that comes first: later than any time of the calendar."""
_OF_OWN_WORDS = ("dense_", "sparse_")

_EMPTY_RANGE = Left("time_filter", "nothing_in_range")

Lists = dict[str, RankedPoints]


@dataclass(frozen=True, eq=False)
class Gathered:
    """The pool, whether the question's time filtered it, and what was left out."""

    pool: Pool
    time_filtered: bool
    skipped: tuple[Left, ...]


class Gathering:
    """Asks the index."""

    def __init__(self, index: BlockIndex, persons: PersonWords, deeds: DeedWords, means: EncoderMeans) -> None:
        """`persons`: by which a question names a speaker; `deeds`: what was done; `means`: of the index's encoder."""
        self._index = index
        self._persons = persons
        self._deeds = deeds
        self._means = means

    async def gather(
        self,
        question: Question,
        conditions: Conditions,
        vector: FloatArray,
        vault: Vault,
        numbers: SearchSettings,
        reference: Reference | None,
    ) -> Gathered:
        """Find candidates; a time in which nothing happened narrows nothing, and the answer says so."""
        selection, filters = selection_of(question, conditions)
        rankers, found = await self._lists(question, conditions, vector, vault, numbers, selection)
        skipped: tuple[Left, ...] = ()
        if filters and reference is None and not _any(found):
            unbound = replace(conditions, off=conditions.off | {"time_filter"})
            selection, _ = selection_of(question, unbound)
            rankers, found = await self._lists(question, unbound, vector, vault, numbers, selection)
            filters, skipped = False, (_EMPTY_RANGE,) if _any(found) else ()
        if numbers.finding.without_common and COMMON not in conditions.off:
            found = without_common(rankers, found, vault, self._means, numbers.finding.common_half_at)
        if numbers.finding.self_as_context:
            rankers, found = with_self_as_context(rankers, found, vault, off=conditions.off)
        weights = _weights(question, numbers, vault)
        rankings, best = as_blocks(found, rankers, vault, weights)
        later = reference is not None
        rankings = with_speaker(rankings, question, vault, weights, self._persons, off=conditions.off, later=later)
        replies = replies_in(vault, numbers, conditions.off)
        return Gathered(pool_of(rankings, best, reference, numbers, replies), filters, skipped)

    async def _lists(
        self,
        question: Question,
        conditions: Conditions,
        vector: FloatArray,
        vault: Vault,
        numbers: SearchSettings,
        selection: Selection,
    ) -> tuple[list[Ranker], Lists]:
        limit = depth_of(numbers, selection, vault)
        rankers = rankers_of(question, vector, vault, off=conditions.off, limit=limit)
        held = _held_then(question, selection, vault)
        told: tuple[str, ...] = ()
        if numbers.finding.told_afterwards and not asks_of_a_talk(question.text, vault.speakers, self._persons):
            told = _told_afterwards(question, conditions, selection, vault)
        if not held and not told:
            rankers += self._of_what_is_named(question, conditions, vault, numbers, limit)
            found = await self._index.find(question.user_id, rankers, selection)
            rankers, found = _named_by_time(rankers, found, vault, days_in(question.text))
            if question.bare and f"ranker:{RECENT}" not in conditions.off:
                return _with_recent(rankers, found, question, selection, vault, numbers)
            return rankers, found
        names = tuple(dict.fromkeys((*held, *told)))
        anytime = replace(selection, event_start=None, event_end=None, block_ids=names)
        within, beside = await asyncio.gather(
            self._index.find(question.user_id, rankers, selection),
            self._index.find(question.user_id, rankers, anytime),
        )
        if not _any(within):  # what speaks of a time must not keep out all that was told without naming it
            beside = {name: _only(points, frozenset(held), vault) for name, points in beside.items()}
        return rankers, {one.name: merged(within[one.name], beside[one.name], limit) for one in rankers}

    def _of_what_is_named(
        self, question: Question, conditions: Conditions, vault: Vault, numbers: SearchSettings, limit: int
    ) -> list[Ranker]:
        """What finds memories of the deed or the day that a question without a subject names: "what did we decide?".

        Who asks for advice is after nothing that was done.
        """
        if f"ranker:{NAMED}" in conditions.off or not numbers.finding.weights[NAMED] or not question.bare:
            return []
        deeds = "" if question.facet == "advice" else self._deeds.asked(question.text)
        named = " ".join((deeds, *(day.words for day in days_in(question.text))))
        words = words_of(named, vault.words, "self")
        return [Ranker(NAMED, "self", words, limit)] if words[0] else []


def _named_by_time(
    rankers: list[Ranker], found: Lists, vault: Vault, days: Sequence[NamedDay]
) -> tuple[list[Ranker], Lists]:
    """The list of what is named as that of what is recent: by time; without it when nothing of it may be found.

    Of `days` that are asked about only what names one of them counts.
    """
    if NAMED not in found:
        return rankers, found
    points: dict[int, str] = {}
    for point in found[NAMED].point_ids:
        if point in vault.places and _names(vault.at(vault.places[point].row).block, days):
            points.setdefault(vault.places[point].row, point)
    if not points:
        return [one for one in rankers if one.name != NAMED], {
            name: own for name, own in found.items() if name != NAMED
        }
    return rankers, {
        **found,
        NAMED: _newest_first({point: vault.at(row) for row, point in points.items()}, recall=False),
    }


def _names(block: Block, days: Sequence[NamedDay]) -> bool:
    return not days or not {*days}.isdisjoint(days_in(f"{block.title}\n{block.text}"))


def _newest_first(blocks: Mapping[str, StoredBlock], *, recall: bool) -> RankedPoints:
    """Blocks by a point of each, newest first, scored by their time; with `recall` what was said before all else."""
    times = {point: _recency(one.block, recall=recall) for point, one in blocks.items()}
    best = sorted(times, key=lambda point: (-times[point], point))
    return RankedPoints(tuple(best), np.array([times[point] for point in best], np.float64))


def _weights(question: Question, numbers: SearchSettings, vault: Vault) -> dict[str, float]:
    """Weights of the rankers, those of parts by their own names; a question's words without a subject say little."""
    share = numbers.finding.bare_share if question.bare else 1.0
    weights = dict(numbers.finding.weights)
    weights[RECENT] *= numbers.finding.recent_shares.get(question.facet, 1.0)
    for number, part in enumerate(question.asked, 1 if question.parts else 0):
        known = known_share(part.text, vault.words) if numbers.finding.words_by_known_share else 1.0
        for name, weight in numbers.finding.weights.items():
            if name.startswith(_OF_OWN_WORDS):
                shares = share * (known if side_of(name) == "sparse" else 1.0)
                weights[of_part(name, number)] = weight * shares
    return weights


def _held_then(question: Question, selection: Selection, vault: Vault) -> tuple[str, ...]:
    """Blocks that state what held in the time asked about, though they were written before it (R-17a).

    "Where did I live in March?" is answered by a statement of January that was replaced in May.
    """
    asked = question.time_range
    if asked is None or not question.time_explicit or selection.event_start is None:
        return ()
    allowed = replace(selection, event_start=None, event_end=None)
    held: list[str] = []
    for stored in vault.superseded():
        block = stored.block
        began = block.valid_from or block.known_at
        if began is None or block.valid_to is None or not allowed.holds(block):
            continue
        if began.timestamp() < asked.start < block.valid_to.timestamp():
            held.append(block.id)
    return tuple(held)


def _told_afterwards(question: Question, conditions: Conditions, selection: Selection, vault: Vault) -> tuple[str, ...]:
    """Blocks of a later time that speak of the time asked about: "last weekend", said on a Monday."""
    asked = question.time_range
    narrowed = selection.event_start is not None or selection.event_end is not None
    if TOLD in conditions.off or asked is None or not question.time_explicit or not narrowed:
        return ()
    own = conditions.selection
    allowed = replace(selection, event_start=own.event_start, event_end=own.event_end)
    told: list[str] = []
    for one in vault.told.of(asked.start, asked.end):
        stored = vault.get(one)
        when = None if stored is None else stored.block.known_at
        if stored is not None and when is not None and when.timestamp() >= asked.end and allowed.holds(stored.block):
            told.append(one)
    return tuple(told)


def _only(points: RankedPoints, blocks: frozenset[str], vault: Vault) -> RankedPoints:
    kept = [
        number
        for number, point in enumerate(points.point_ids)
        if (place := vault.places.get(point)) is not None and place.block_id in blocks
    ]
    return RankedPoints(tuple(points.point_ids[number] for number in kept), points.scores[kept])


def _any(found: Lists) -> bool:
    return any(points.point_ids for points in found.values())


def _with_recent(
    rankers: Sequence[Ranker],
    found: Lists,
    question: Question,
    selection: Selection,
    vault: Vault,
    numbers: SearchSettings,
) -> tuple[list[Ranker], Lists]:
    """One more list for a question without a subject: what is recent, newest first, scored by its time.

    Asked to recall, what was said in conversations comes first. Scores are times and no places in a list,
    so that a block that comes later finds its own place (R-14).
    """
    recall = question.facet == "recollection"
    limit = numbers.finding.recent if selection.block_ids is None else max(1, len(selection.block_ids))
    newest = vault.newest(selection, limit, conversations_first=recall)
    points = _newest_first({one.passages[0].point_id: one for one in newest}, recall=recall)
    ranker = Ranker(RECENT, "self", ((), ()), numbers.finding.recent)
    return [*rankers, ranker], {**found, RECENT: points}


def _recency(block: Block, *, recall: bool) -> float:
    time = block.known_at
    seconds = time.timestamp() if time is not None else 0.0
    return seconds + (_BEFORE_ALL_ELSE_S if recall and block.conversation_id else 0.0)
