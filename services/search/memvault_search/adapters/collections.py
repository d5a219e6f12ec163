"""The collections of the search service: one of blocks, and two of vectors for every generation of the index."""

from __future__ import annotations

from memvault.vectors import CollectionSpec, DenseSpec, FieldKind
from memvault_search.adapters.pointer import BLOCKS_SPEC
from memvault_search.domain.views import VIEWS

PASSAGES = "search_passages"
TOKENS = "search_tokens"


def named(collection: str, generation: int) -> str:
    """The name of a collection with vectors; that of the first generation stands alone."""
    return f"{collection}_{generation}" if generation else collection


def vector_specs(dimension: int, generation: int) -> tuple[CollectionSpec, ...]:
    """The collections of one generation for an encoder of this dimension."""
    return (
        CollectionSpec(
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
        ),
        CollectionSpec(named(TOKENS, generation), fields={"user_id": FieldKind.KEYWORD}),
    )


def specs(dimension: int, generation: int = 0) -> tuple[CollectionSpec, ...]:
    """All collections of the search service, with one generation of vectors."""
    return (BLOCKS_SPEC, *vector_specs(dimension, generation))
