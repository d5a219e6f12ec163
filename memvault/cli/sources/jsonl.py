"""Plain JSONL: one block of the contract a line."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator

from memvault.cli import json_line
from memvault.cli.sources.entry import Bad, Item, Row

_UNNAMED = "line"


def read(stream: Iterable[bytes]) -> Iterator[Item]:
    """Blocks as they stand in the lines; the gateway checks their fields.

    A line without an id gets one that is made of what stands in it: again it is the same block, edited it is another.
    """
    for number, raw in enumerate(stream, 1):
        line = raw.removeprefix(json_line.BOM)
        if not line.strip():
            continue
        place = f"line {number}"
        try:
            block = json_line.read(line)
        except ValueError as error:
            yield Bad(place, f"the line is no JSON: {error}", number, size=len(raw))
            continue
        if not isinstance(block, dict):
            yield Bad(place, "the line is no JSON object", number, size=len(raw))
        elif json_line.half_character(line, block):
            yield Bad(place, "the line holds half of a surrogate pair", number, size=len(raw))
        else:
            if not block.get("id"):
                block["id"] = f"{_UNNAMED}:{hashlib.sha256(line.strip()).hexdigest()[:32]}"
            yield Row(block, place, len(raw), number)
