"""The point that tells which collections are the index, what made them, and which are being built or going.

It is one point of the collection of blocks, so that one write moves the index from one generation to the next in either
engine: what a name stands for and what its vectors are can never disagree, as an alias and a note beside it could.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from memvault.vectors import CollectionSpec, FieldKind, Point, VectorStore
from memvault_search.domain.made import Made
from memvault_search.domain.passages import encoder_point_id

BLOCKS = "search_blocks"
_PARTS = ("building", "house")
BLOCKS_SPEC = CollectionSpec(
    BLOCKS,
    fields={
        "user_id": FieldKind.KEYWORD,
        "kind": FieldKind.KEYWORD,
        "holds": FieldKind.KEYWORD,
    },
)


@dataclass(frozen=True, slots=True)
class Generation:
    """A set of collections with vectors. `settings`: of the encoder, so that it can be opened again."""

    number: int
    made: Made
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Pointer:
    """`current` answers; `building` is being filled; `former` (a number) is out of use and not removed yet.

    `house`: of the encoder that the rest of the house goes on with, as the graph's vectors do; None: the index's.
    """

    current: Generation
    building: Generation | None = None
    former: int | None = None
    house: Generation | None = None


async def read_pointer(store: VectorStore) -> Pointer | None:
    """Open the collection of blocks and read the point; None when no index was made yet."""
    await store.ensure(BLOCKS_SPEC)
    found = await store.retrieve(BLOCKS, [encoder_point_id()])
    if not found:
        return None
    payload = found[0].payload
    building, house = (None if payload.get(part) is None else _generation(payload[part]) for part in _PARTS)
    return Pointer(_generation(payload), building, payload.get("former"), house)


async def write_pointer(store: VectorStore, pointer: Pointer) -> None:
    """Put the point in the place of the one before, in one step that survives a kill."""
    further = zip(_PARTS, (pointer.building, pointer.house), strict=True)
    parts = {name: None if part is None else _payload(part) for name, part in further}
    payload = {"kind": "encoder", **_payload(pointer.current), **parts, "former": pointer.former}
    await store.upsert(BLOCKS, [Point(encoder_point_id(), payload)])


def _payload(generation: Generation) -> dict[str, Any]:
    made = generation.made
    return {
        "encoder_id": made.encoder_id,
        "prefix_version": made.prefix_version,
        "dimension": made.dimension,
        "words": made.words,
        "generation": generation.number,
        "settings": dict(generation.settings),
    }


def _generation(payload: Mapping[str, Any]) -> Generation:
    made = Made(payload["encoder_id"], payload["prefix_version"], payload.get("dimension", 0), payload.get("words", ""))
    return Generation(payload.get("generation", 0), made, payload.get("settings") or {})
