"""The names of what each generation of the index holds beside the blocks: passages, and their token vectors."""

from __future__ import annotations

from memvault.vectors import CollectionSpec, DenseSpec, FieldKind
from memvault_search.domain.views import VIEWS

PASSAGES = "search_passages"
TOKENS = "search_tokens"


def named(collection: str, generation: int) -> str:
    """The name of a collection with vectors; that of the first generation stands alone."""
    return f"{collection}_{generation}" if generation else collection


def passages_spec(dimension: int, generation: int = 0) -> CollectionSpec:
    """The passages of one generation for an encoder of this dimension."""
    return CollectionSpec(
        named(PASSAGES, generation),
        dense={view: DenseSpec(dimension) for view in VIEWS},
        sparse=tuple(f"{view}_words" for view in VIEWS),
        fields={
            "user_id": FieldKind.KEYWORD,
            "block_id": FieldKind.KEYWORD,
            "service": FieldKind.KEYWORD,
            "tags": FieldKind.KEYWORD,
            "source_kind": FieldKind.KEYWORD,
            "conversation_id": FieldKind.KEYWORD,
            "known_at": FieldKind.TIME,
        },
    )
