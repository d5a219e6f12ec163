"""When facts hold (R-34): a newer fact about a single-valued relation closes the older one, and nothing is deleted."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from memvault_cascade.domain.graph.model import Interval

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from memvault_cascade.domain.graph.model import Triple

_BEGINNING = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class _Statement:
    at: datetime
    triple: Triple


def settle(triples: Iterable[Triple], single_valued: Collection[str]) -> tuple[Triple, ...]:
    """The facts with their intervals, from what the writers stated alone, so that the order of arrival never matters.

    Of the statements about one subject and single-valued predicate each holds until the next one that names another
    object. A value that comes back (moved away and returned) has two intervals. Facts of other relations hold from
    their first statement on.
    """
    groups: dict[tuple[str, str], list[Triple]] = defaultdict(list)
    settled: list[Triple] = []
    for triple in triples:
        if triple.predicate_key in single_valued:
            groups[triple.subject_id, triple.predicate_key].append(triple)
        else:
            start = min(_starts(triple))
            settled.append(
                replace(
                    triple, intervals=(Interval(None if start == _BEGINNING else start, triple.given_to),), closed_by=""
                )
            )
    for group in groups.values():
        statements = sorted((_Statement(at, t) for t in group for at in _starts(t)), key=lambda s: (s.at, s.triple.id))
        settled += [_settle_one(triple, statements) for triple in group]
    return tuple(settled)


def superseded_blocks(before: Mapping[str, Triple], after: Iterable[Triple]) -> dict[str, str]:
    """Blocks whose fact has just been closed, by the block that states the newer one (R-17a).

    Old block id to new block id.

    `before` are the facts by id as they were. A block that also states the newer fact is not superseded.
    """
    now = {triple.id: triple for triple in after}
    result: dict[str, str] = {}
    for triple in now.values():
        former = before.get(triple.id)
        closer = now.get(triple.closed_by) or before.get(triple.closed_by)
        if closer is None or (former is not None and former.closed_by == triple.closed_by):
            continue
        newest = max(closer.support, key=lambda s: (s.stated_at, s.block_id), default=None)
        sayers = {s.block_id for s in closer.support}
        if newest is not None:
            result |= {s.block_id: newest.block_id for s in triple.support if s.block_id not in sayers}
    return result


def reinstated_blocks(before: Mapping[str, Triple], after: Iterable[Triple]) -> tuple[str, ...]:
    """Blocks whose fact was closed and is open again, because what contradicted it was forgotten or withdrawn."""
    blocks: set[str] = set()
    for triple in after:
        former = before.get(triple.id)
        if former is not None and former.closed_by and not triple.closed_by:
            blocks |= {s.block_id for s in triple.support}
    return tuple(sorted(blocks))


def _settle_one(triple: Triple, statements: list[_Statement]) -> Triple:
    intervals: list[Interval] = []
    closed_by = ""
    for place, statement in enumerate(statements):
        if statement.triple.id != triple.id:
            continue
        if intervals and (intervals[-1].end is None or statement.at < intervals[-1].end):
            continue
        successor = next(
            (s for s in statements[place + 1 :] if s.triple.object_id != triple.object_id and s.at > statement.at), None
        )
        end, closed_by = (None, "") if successor is None else (successor.at, successor.triple.id)
        if triple.given_to is not None and (end is None or triple.given_to <= end):
            end, closed_by = triple.given_to, ""
        intervals.append(Interval(None if statement.at == _BEGINNING else statement.at, end))
    return replace(triple, intervals=tuple(intervals), closed_by=closed_by)


def _starts(triple: Triple) -> tuple[datetime, ...]:
    """Where validity starts: the bound the writer gave, else each statement."""
    if triple.given_from is not None:
        return (triple.given_from,)
    return tuple(sorted({s.stated_at for s in triple.support})) or (_BEGINNING,)
