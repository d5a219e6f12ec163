"""Everything of one user that reading needs, in memory as columns; the store is the record it is made from.

Row = one block, slot = one passage. Rows and slots of removed blocks are reused. Not thread-safe: it
belongs to one event loop, and only the user's writer changes it, between two awaits.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from memvault_search.domain.block import StoredBlock
from memvault_search.domain.columns import grown, number
from memvault_search.domain.embedding import FloatArray
from memvault_search.domain.neighbours import Sessions
from memvault_search.domain.scoring.candidates import Candidates
from memvault_search.domain.scoring.candidates import FloatArray as Float64Array
from memvault_search.domain.selection import Selection
from memvault_search.domain.speakers import Speakers
from memvault_search.domain.statistics import Terms, WordStatistics
from memvault_search.domain.supersession import Statements
from memvault_search.domain.told import ToldAfterwards
from memvault_search.domain.views import View

COLUMNS = (
    "length",
    "event_time",
    "recorded_at",
    "last_accessed_at",
    "access_count",
    "confidence",
    "trust",
    "ups",
    "downs",
    "centrality",
    "valid_from",
    "valid_to",
)
_FIRST_CAPACITY = 64


@dataclass(frozen=True, slots=True, eq=False)
class IndexedPassage:
    """What is kept in memory of a passage. `vector`: float32 [d], centred, of the view `self`."""

    vector: FloatArray
    terms: dict[View, Terms]


class Place(NamedTuple):
    """Where a passage's point belongs."""

    block_id: str
    row: int
    number: int
    slot: int


class Vault:
    """One user's blocks, passages, word statistics, sessions and statements."""

    def __init__(self, user_id: str, dimension: int, write_version: int = 0) -> None:
        self.user_id = user_id
        self.write_version = write_version
        self.words = WordStatistics()
        self.sessions = Sessions()
        self.statements = Statements()
        self.speakers = Speakers()
        self.told = ToldAfterwards()
        self._blocks: list[StoredBlock | None] = []
        self._row_of: dict[str, int] = {}
        self._columns = {name: np.full(_FIRST_CAPACITY, np.nan) for name in COLUMNS}
        self._vectors = np.zeros((_FIRST_CAPACITY, dimension), np.float32)
        self._terms: list[dict[View, Terms] | None] = []
        self._points: list[str] = []
        self._free_rows: list[int] = []
        self._free_slots: list[int] = []
        self._places: dict[str, Place] = {}
        self._slot_row = np.full(_FIRST_CAPACITY, -1, np.int64)
        self._sum = np.zeros(dimension)

    def __len__(self) -> int:
        return len(self._row_of)

    @property
    def passages(self) -> int:
        """How many passages there are."""
        return len(self._places)

    @property
    def common(self) -> FloatArray:
        """Mean of the centred vectors of all passages, float32 [d]; zeros in an empty vault."""
        return (self._sum / max(1, self.passages)).astype(np.float32)

    def get(self, block_id: str) -> StoredBlock | None:
        """The block of this id, if there is one."""
        row = self._row_of.get(block_id)
        return None if row is None else self._blocks[row]

    def at(self, row: int) -> StoredBlock:
        """The block in a row that is in use."""
        stored = self._blocks[row]
        if stored is None:
            raise LookupError(f"row {row} of the vault is empty")
        return stored

    def require_row(self, block_id: str) -> int:
        """The row of a block that is there; KeyError otherwise."""
        return self._row_of[block_id]

    @property
    def places(self) -> Mapping[str, Place]:
        """Where each point belongs; points of blocks that are gone are not in it."""
        return self._places

    def blocks(self, *, after: str = "") -> list[StoredBlock]:
        """All blocks whose id comes after one, ordered by id."""
        names = sorted(name for name in self._row_of if name > after)
        return [self.at(self._row_of[block_id]) for block_id in names]

    def put(self, stored: StoredBlock, passages: Sequence[IndexedPassage]) -> None:
        """Add a block, or replace the one of the same id; one entry of `passages` for each of its passages."""
        self.remove(stored.block.id)
        row = self._new_row(stored)
        for passage, indexed in zip(stored.passages, passages, strict=True):
            slot = self._new_slot(row)
            self._vectors[slot] = indexed.vector
            self._sum += indexed.vector
            self._terms[slot] = dict(indexed.terms)
            self._points[slot] = passage.point_id
            self._places[passage.point_id] = Place(stored.block.id, row, passage.number, slot)
            for view, terms in indexed.terms.items():
                self.words.add(stored.block.service, view, terms.numbers, terms.length)
        self.speakers.add(stored.block.speaker)
        self.sessions.add(stored.block)
        self.statements.add(stored.block)
        self.told.add(stored.block)

    def change(self, stored: StoredBlock) -> None:
        """Replace a block's mutable fields; text, passages, session and triples stay as they are."""
        row = self._row_of[stored.block.id]
        old = self._blocks[row]
        self._blocks[row] = stored
        self._fill(row, stored)
        if old is not None and old.block.known_at != stored.block.known_at:
            self.told.remove(old.block)
            self.told.add(stored.block)

    def change_context(self, point_id: str, terms: Terms | None) -> None:
        """Exchange the words of a passage's context view; None when it has no neighbours any more."""
        place = self._places[point_id]
        service = self.at(place.row).block.service
        held = self._terms[place.slot]
        if held is None:
            raise LookupError(f"slot {place.slot} of the vault is empty")
        old = held.pop("context", None)
        if old is not None:
            self.words.remove(service, "context", old.numbers, old.length)
        if terms is not None:
            held["context"] = terms
            self.words.add(service, "context", terms.numbers, terms.length)

    def remove(self, block_id: str) -> StoredBlock | None:
        """Take a block out; None when it was not there."""
        row = self._row_of.pop(block_id, None)
        if row is None:
            return None
        stored = self.at(row)
        for passage in stored.passages:
            slot = self._places.pop(passage.point_id).slot
            for view, terms in (self._terms[slot] or {}).items():
                self.words.remove(stored.block.service, view, terms.numbers, terms.length)
            self._terms[slot] = None
            self._sum -= self._vectors[slot]
            self._vectors[slot] = 0.0
            self._slot_row[slot] = -1
            self._free_slots.append(slot)
        self._blocks[row] = None
        self._free_rows.append(row)
        self.speakers.remove(stored.block.speaker)
        self.sessions.remove(stored.block)
        self.statements.remove(stored.block)
        self.told.remove(stored.block)
        return stored

    def superseded(self) -> list[StoredBlock]:
        """The blocks that a newer statement replaced."""
        return [one for one in self._blocks if one is not None and one.block.superseded_by]

    def newest(self, selection: Selection, limit: int, *, conversations_first: bool) -> list[StoredBlock]:
        """The newest blocks of a selection by event time (or, without one, by record time), newest first.

        With `conversations_first` what was said in a conversation comes before everything else.
        """
        used = len(self._blocks)
        event, recorded = self._columns["event_time"][:used], self._columns["recorded_at"][:used]
        when = np.where(np.isnan(event), recorded, event)
        talk: list[StoredBlock] = []
        other: list[StoredBlock] = []
        for row in np.argsort(-np.nan_to_num(when, nan=-np.inf), kind="stable"):
            stored = self._blocks[row]
            if stored is None or not selection.holds(stored.block):
                continue
            later = conversations_first and not stored.block.conversation_id
            (other if later else talk).append(stored)
            if len(talk) >= limit:
                break
        return [*talk, *other][:limit]

    def terms_of(self, slots: Iterable[int]) -> list[dict[View, Terms]]:
        """The words of the passages in these slots."""
        return [self._terms[slot] or {} for slot in slots]

    def point_of(self, slot: int) -> str:
        """The point of the passage in a slot that is in use."""
        return self._points[slot]

    def vectors_of(self, slots: Sequence[int]) -> FloatArray:
        """Float32 [s, d], centred, of the passages in these slots."""
        return self._vectors[np.asarray(slots, np.int64)]

    def nearest(self, vectors: FloatArray, without: Sequence[str]) -> list[tuple[float, str]]:
        """Of each centred vector [n, d]: its highest cosine with a passage of any block but its own, and whose it is.

        (0.0, "") where none is above 0.
        """
        close = self._cosines(vectors, without)
        if not len(close):
            return [(0.0, "")] * len(vectors)
        slots = close.argmax(axis=0)
        best = close[slots, np.arange(len(vectors))]
        return [
            (float(cosine), self.at(int(self._slot_row[slot])).block.id) if cosine > 0.0 else (0.0, "")
            for slot, cosine in zip(slots, best, strict=True)
        ]

    def closest(self, vectors: FloatArray, without: Sequence[str]) -> FloatArray:
        """The highest cosine of each centred vector [n, d] with a passage of any block but its own, at least 0: [n]."""
        best: FloatArray = self._cosines(vectors, without).max(axis=0, initial=0.0)
        return best

    def _cosines(self, vectors: FloatArray, without: Sequence[str]) -> FloatArray:
        """Cosines of every slot with each vector, 0 with its own block: [slots, n]."""
        close: FloatArray = self._vectors[: len(self._terms)] @ vectors.T  # in one go: memory is what it waits for
        for column, block_id in enumerate(without):
            if block_id in self._row_of:
                close[self.slots_of(self._row_of[block_id]), column] = 0.0
        return close

    def candidates(
        self, rows: Sequence[int], slots: Sequence[int], base: Float64Array, similarity: Float64Array
    ) -> Candidates:
        """The columns of the blocks in `rows`, each shown by the passage in the slot of the same position."""
        chosen = np.asarray(rows, np.int64)
        stored = [self.at(row) for row in rows]
        numbers = [self._number_of(block, slot) for block, slot in zip(stored, slots, strict=True)]
        return Candidates(
            ids=tuple(one.block.id for one in stored),
            base=base,
            similarity=similarity,
            vectors=self.vectors_of(slots),
            texts=tuple(one.passage_text(number) for one, number in zip(stored, numbers, strict=True)),
            quarantine=tuple(one.block.quarantine for one in stored),
            conversation_ids=tuple(one.block.conversation_id for one in stored),
            superseded_by=tuple(one.block.superseded_by for one in stored),
            **{name: self._columns[name][chosen] for name in COLUMNS},
        )

    def _number_of(self, stored: StoredBlock, slot: int) -> int:
        if len(stored.passages) == 1:
            return 0
        return next(passage.number for passage in stored.passages if self._places[passage.point_id].slot == slot)

    def slots_of(self, row: int) -> list[int]:
        """The slots of a block's passages, in the order of its text."""
        return [self._places[passage.point_id].slot for passage in self.at(row).passages]

    def _new_row(self, stored: StoredBlock) -> int:
        if self._free_rows:
            row = self._free_rows.pop()
            self._blocks[row] = stored
        else:
            row = len(self._blocks)
            self._blocks.append(stored)
            if row >= len(self._columns["length"]):
                self._columns = {name: grown(column) for name, column in self._columns.items()}
        self._row_of[stored.block.id] = row
        self._fill(row, stored)
        return row

    def _new_slot(self, row: int) -> int:
        if self._free_slots:
            slot = self._free_slots.pop()
        else:
            slot = len(self._terms)
            self._terms.append(None)
            self._points.append("")
            if slot >= len(self._slot_row):
                self._slot_row = grown(self._slot_row)
                self._vectors = grown(self._vectors)
        self._slot_row[slot] = row
        return slot

    def _fill(self, row: int, stored: StoredBlock) -> None:
        block = stored.block
        for name in COLUMNS:
            value = len(block.text) if name == "length" else getattr(block, name)
            self._columns[name][row] = number(value)
