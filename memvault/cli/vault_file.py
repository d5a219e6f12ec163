"""The file of an export (R-63): JSONL with a first line that names the format, a line a block, and a last line.

    {"format": "memvault.export", "version": 1, "user_id": "ann"}
    {"id": "n1", "service": "notes", "text": "Ann plays the cello", "recorded_at": "2026-03-01T08:00:00Z", ...}
    {"format": "memvault.export", "profile": {"questions": [...], "lasting_interests": [...]}}
    {"format": "memvault.export", "end": true, "blocks": 1}

A block has the fields of the contract's `Block` without `user_id`, which stands in the first line, and without
`centrality` and `tier`, which memvault works out again. Blocks are ordered by id, fields as in the contract: the same
memories always make the same bytes. The line of the profile is there on request. The last line tells a whole file from
one that was cut off.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from memvault.cli import block_check, json_line

FORMAT = "memvault.export"
VERSION = 1
_LEFT_OUT = frozenset({"user_id", "centrality", "tier"})


class NotAnExport(ValueError):  # noqa: N818 - says what the file is
    """The first line is not that of an export this version can read; the message says what to do."""


@dataclass(frozen=True)
class Header:
    """The first line."""

    user_id: str


@dataclass(frozen=True)
class Line:
    """One block of the file, with the number of its line from 1 and the bytes of that line."""

    number: int
    block: dict[str, Any]
    size: int


@dataclass(frozen=True)
class Fault:
    """A line that cannot be read, and why; `block_id` where it is known."""

    number: int
    block_id: str
    reason: str


@dataclass
class _Seen:
    """What a file must not hold twice, and what its last line has to agree with."""

    ids: dict[str, int] = field(default_factory=dict)
    lines: int = 0
    ended: bool = False


def header(user_id: str) -> bytes:
    """The first line."""
    return _dumped({"format": FORMAT, "version": VERSION, "user_id": user_id})


def row(block: dict[str, Any]) -> bytes:
    """The line of a block in the contract's JSON form."""
    return _dumped({name: value for name, value in block.items() if name not in _LEFT_OUT})


def profile(learned: dict[str, Any]) -> bytes:
    """A line with what the router learned of the user."""
    return _dumped({"format": FORMAT, "profile": learned})


def end(blocks: int) -> bytes:
    """The last line."""
    return _dumped({"format": FORMAT, "end": True, "blocks": blocks})


def is_header(line: bytes) -> bool:
    """Whether a first line is that of an export of any version."""
    parsed = _parsed(line)
    return isinstance(parsed, dict) and parsed.get("format") == FORMAT and "version" in parsed


def read_header(line: bytes) -> Header:
    """Read the first line. Raises NotAnExport."""
    parsed = _parsed(line)
    if not isinstance(parsed, dict) or parsed.get("format") != FORMAT:
        raise NotAnExport(f'the first line is not {{"format": "{FORMAT}", ...}}: is it a file of `memvault export`?')
    if parsed.get("version") != VERSION:
        version = parsed.get("version")
        raise NotAnExport(f"the file has version {version!r} of the format, this memvault reads {VERSION}: update it")
    return Header(str(parsed.get("user_id") or ""))


def read(stream: Iterable[bytes]) -> Iterator[Line | Fault]:
    """Read the lines behind the first one; what is wrong becomes a `Fault`, also a file that was cut off."""
    misfit = block_check.Misfit()
    seen = _Seen()
    number = 1
    for number, line in enumerate(stream, 2):
        if not line.strip():
            continue
        doubled = ""
        try:
            parsed = json_line.read_once(line)
        except json_line.DoubledNameError as error:
            parsed, doubled = _parsed(line), str(error)
        except ValueError:
            parsed = None
        if not isinstance(parsed, dict):
            yield Fault(number, "", "is not a JSON object in UTF-8: correct it, or take it out")
        elif parsed.get("format") == FORMAT:
            yield from _framing(number, parsed, seen)
        else:
            seen.lines += 1
            block_id = str(parsed.get("id") or "")
            reason = doubled or _complaint(parsed, block_id, seen)
            if not reason and json_line.half_character(line, parsed):
                reason = "holds half of a surrogate pair"
            reason = reason or misfit.of(parsed)
            seen.ids.setdefault(block_id, number)
            yield Fault(number, block_id, reason) if reason else Line(number, parsed, len(line))
    if not seen.ended:
        yield Fault(number, "", "is the last one, but the line that ends an export is missing: the file was cut off")


def read_profile(stream: Iterable[bytes]) -> dict[str, Any] | None:
    """The profile in a file, behind its first line or further on; None when there is none."""
    for line in stream:
        if b'"profile"' not in line:
            continue
        parsed = _parsed(line)
        if isinstance(parsed, dict) and parsed.get("format") == FORMAT and isinstance(parsed.get("profile"), dict):
            learned: dict[str, Any] = parsed["profile"]
            return learned
    return None


def _framing(number: int, parsed: dict[str, Any], seen: _Seen) -> Iterator[Fault]:
    if parsed.get("end") is True:
        seen.ended = True
        if parsed.get("blocks") != seen.lines:
            yield Fault(number, "", f"says {parsed.get('blocks')} blocks, the file has {seen.lines}: lines are missing")
    elif "profile" in parsed:
        if not isinstance(parsed["profile"], dict):
            yield Fault(number, "", "holds a profile that is no object: take a whole copy, or take the line out")
    else:
        yield Fault(number, "", "begins another export: import the two files one after the other")


def _complaint(parsed: dict[str, Any], block_id: str, seen: _Seen) -> str:
    if seen.ended:
        return "stands behind the end of the export"
    if block_id and block_id in seen.ids:
        return f"has the id of line {seen.ids[block_id]}"
    return block_check.complaint(parsed)


def _parsed(line: bytes) -> Any:  # noqa: ANN401 - any JSON value; None where it is none
    try:
        return json_line.read(line)
    except ValueError:
        return None


def _dumped(document: dict[str, Any]) -> bytes:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
