"""Every text of a block, by the way to it: what has to be screened before a block is shown whole (R-40)."""

from __future__ import annotations

from collections.abc import Iterator

from memvault.recall.v1 import types_pb2
from memvault_gateway.domain.model import StoredBlock

_SINGLE = ("text", "summary", "title", "speaker", "service", "conversation_id", "session_id")
_LISTS = ("tags", "heading_path")
_ENDS = ("subject", "predicate", "object")


def stored(block: types_pb2.Block) -> StoredBlock:
    """Return a block with its texts; a way is a field's name, with a place in a list and a field after dots."""
    return StoredBlock(block.id, block.version, dict(_texts(block)), block, block.screened_version)


def _texts(block: types_pb2.Block) -> Iterator[tuple[str, str]]:
    found = [(name, getattr(block, name)) for name in _SINGLE]
    found += [(f"{name}.{place}", text) for name in _LISTS for place, text in enumerate(getattr(block, name))]
    found.append(("source.uri", block.source.uri))
    for place, fact in enumerate(block.triples):
        found += [(f"triples.{place}.{end}", getattr(fact, end)) for end in _ENDS]
    return ((way, text) for way, text in found if text)
