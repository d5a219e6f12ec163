"""Which passages the reranker reads for a candidate: its own, or its own among its neighbours (R-11b, R-20)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from memvault_search.domain.block import StoredBlock
from memvault_search.domain.contexts import Around, Spot
from memvault_search.domain.replies import Replies
from memvault_search.domain.vault import Vault


def readings_of(
    vault: Vault, rows: Sequence[int], slots: Sequence[int], *, among_neighbours: bool, replies: Replies | None = None
) -> Callable[[int], tuple[str, ...]]:
    """Return a function from a candidate's number to its points, in the order of the text.

    A turn is rarely understandable alone: the reranker that reads "Yes, last week!" needs the question before it, and
    with `replies` also what that question was about.
    """

    def alone(number: int) -> tuple[str, ...]:
        return (vault.point_of(slots[number]),)

    def among(number: int) -> tuple[str, ...]:
        stored, point = vault.at(rows[number]), vault.point_of(slots[number])
        around = Around(vault.get, vault.sessions)
        passage = next(one.number for one in stored.passages if one.point_id == point)
        before, after = around.before(stored, passage), around.after(stored, passage)
        said = _said(before) if passage == 0 and before is not None and _replies(stored) else None
        return tuple(_point(spot) for spot in (said, before, (stored, passage), after) if spot is not None)

    def _replies(stored: StoredBlock) -> bool:
        return replies is not None and replies.of(stored.block.id) is not None

    def _said(question: Spot) -> Spot | None:
        return Around(vault.get, vault.sessions).before(*question) if question[1] == 0 else None

    return among if among_neighbours else alone


def _point(spot: Spot) -> str:
    stored, number = spot
    return stored.passages[number].point_id
