"""Plain JSONL: one block of the contract a line."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from typing import Any

from memvault.cli import block_check, json_line
from memvault.cli.sources.entry import Bad, Item, Row

_UNNAMED = "line"
_USER = re.compile(r"[A-Za-z0-9._@-]{1,128}", re.ASCII)


def read(stream: Iterable[bytes]) -> Iterator[Item]:
    """Blocks as they stand in the lines, each looked at as a line of an export is.

    A line without an id gets one that is made of what stands in it: again it is the same block, edited it is another.
    """
    misfit = block_check.Misfit()
    for number, raw in enumerate(stream, 1):
        line = raw.removeprefix(json_line.BOM)
        if not line.strip():
            continue
        place = f"line {number}"
        try:
            block = json_line.read_once(line)
        except json_line.DoubledNameError as error:
            yield Bad(place, str(error), number, size=len(raw))
            continue
        except ValueError as error:
            yield Bad(place, f"the line is no JSON: {error}", number, size=len(raw))
            continue
        if not isinstance(block, dict):
            yield Bad(place, "the line is no JSON object", number, size=len(raw))
        elif json_line.half_character(line, block):
            yield Bad(place, "the line holds half of a surrogate pair", number, size=len(raw))
        else:
            named = bool(block.get("id"))
            if not named:
                block["id"] = f"{_UNNAMED}:{hashlib.sha256(line.strip()).hexdigest()[:32]}"
            reason = misfit.of(block) or block_check.complaint(block) or _of_nobody(block)
            if reason:
                yield Bad(place, reason, number, str(block["id"]) if named else "", len(raw))
            else:
                yield Row(block, place, len(raw), number)


def _of_nobody(block: dict[str, Any]) -> str:
    """One user that cannot be would have the whole batch refused."""
    user = block.get("user_id")
    if not user or (isinstance(user, str) and _USER.fullmatch(user)):
        return ""
    return 'has no user in the field "user_id": 1 to 128 of letters, digits and . _ @ - are expected'
