"""Which format a path has, and by what it is recognised."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from memvault.cli import json_line, vault_file
from memvault.cli.sources import FORMATS, Format, chats, markdown, transcript
from memvault.cli.sources.entry import Bad

_LINES_READ = 50
_LONGEST_LINE = 8 << 20


class Unrecognised(ValueError):  # noqa: N818 - says what the path is
    """No format fits; the message says what to do."""


@dataclass(frozen=True)
class Detected:
    """A format and the sign of it, for people."""

    format: Format
    sign: str


def of(path: Path) -> Detected:
    """Look at a file or a folder.

    Raises:
        Unrecognised: It is none of the formats, or several.
        OSError: It cannot be read.
    """
    try:
        found = chats.files(path)
    except chats.DamagedArchive as error:
        raise Unrecognised(f"{path}: {error}") from error
    if found:
        return _of_element(path, f"{found[0]} in it")
    if path.is_dir():
        return _of_folder(path)
    if chats.is_packed(path):
        raise _unrecognised(path, f"the archive holds no {chats.CONVERSATIONS}")
    if path.suffix.lower() in markdown.ENDINGS:
        return Detected("markdown", f"ends in {path.suffix}")
    lines = _first_lines(path)
    if len(lines) < _LINES_READ and not b"".join(lines).removeprefix(json_line.BOM).strip():
        raise Unrecognised(f"{path}: it is empty")
    return of_lines(lines) or _of_element(path, "its first entry")


def of_lines(lines: list[bytes]) -> Detected | None:
    """What the first lines of a file say; None when it is not JSON by lines."""
    parsed = [_object(line) for line in lines if line.strip()]
    if not parsed or not any(parsed):
        return None
    if lines and vault_file.is_header(lines[0]):
        return Detected("memvault", "its first line names the format")
    if any(transcript.is_event(one) for one in parsed):
        return Detected("transcript", "lines with `type` and `message`")
    if any(one is not None and isinstance(one.get("text"), str) for one in parsed):
        return Detected("jsonl", "lines with `text`")
    return None


def _of_folder(path: Path) -> Detected:
    notes, sessions = bool(markdown.files(path)), bool(transcript.files(path))
    if notes and sessions:
        raise _unrecognised(path, "it holds notes (.md) and transcripts (.jsonl)")
    if notes:
        return Detected("markdown", "notes (.md) in it")
    if sessions:
        return Detected("transcript", "transcripts (.jsonl) in it")
    raise _unrecognised(path, f"it holds no {chats.CONVERSATIONS}, no .md and no .jsonl")


def _of_element(path: Path, where: str) -> Detected:
    first = next(chats.conversations(path), None)
    if first is None:
        raise _unrecognised(path, "it is empty")
    if isinstance(first, Bad):
        if chats.is_packed(path):  # known what it is: a format named with --from would not help
            raise Unrecognised(f"{path}: {first.reason}")
        raise _unrecognised(path, f"it {first.reason}")
    element = first[1]
    if isinstance(element, Mapping):
        if "mapping" in element:
            return Detected("chatgpt", f"`mapping` in {where}")
        if "chat_messages" in element:
            return Detected("claude", f"`chat_messages` in {where}")
        if "memory" in element:
            return Detected("mem0", f"`memory` in {where}")
    raise _unrecognised(path, f"{where} has nothing that tells a format")


def _first_lines(path: Path) -> list[bytes]:
    with path.open("rb") as stream:
        return list(islice(iter(lambda: stream.readline(_LONGEST_LINE), b""), _LINES_READ))


def _object(line: bytes) -> dict[str, Any] | None:
    try:
        parsed = json_line.read(line)
    except ValueError:
        return None
    return parsed if isinstance(parsed, dict) else None


def _unrecognised(path: Path, why: str) -> Unrecognised:
    return Unrecognised(f"{path}: {why}; say what it is with --from, one of {', '.join(FORMATS)}")
