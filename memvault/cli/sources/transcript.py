"""Transcripts of coding agents: JSONL, a line an event, one file a session; a file or a folder of them.

Lines with `type` user or assistant and a `message` are what was said. Results and calls of tools, thinking, sub-agents,
output of commands and what the program itself put in are left out: a memory of a session is its talk.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import tzinfo
from pathlib import Path, PureWindowsPath
from typing import Any

from memvault.cli import json_line
from memvault.cli.sources.chats import source_kind
from memvault.cli.sources.entry import Bad, Item, Left, clean, in_parts, instant, label, stable_id

SERVICE = "transcript"
_SPOKEN = frozenset({"user", "assistant"})
_ASIDE = re.compile(r"<(system-reminder|ide_\w+|local-command-caveat)>.*?</\1>", re.DOTALL)
_COMMAND = re.compile(
    r"\s*(?:<(?:command-|local-command-|bash-|user-memory-)|Caveat: The messages below|\[Request inter)"
)


def files(path: Path) -> list[Path]:
    """The transcripts of a folder, or the file itself."""
    if path.is_file():
        return [path]
    found = [Path(folder) / name for folder, _, names in os.walk(path) for name in names if name.endswith(".jsonl")]
    return sorted(found)


def read(path: Path, zone: tzinfo | None) -> Iterator[Item]:
    """Blocks of all sessions. A message that a resumed session repeats is taken once; its position goes on."""
    seen: set[str] = set()
    positions: Counter[str] = Counter()
    for file in files(path):
        shown = file.relative_to(path).as_posix() if path.is_dir() else file.name
        yield from _session(file, shown, positions, seen, zone)


def is_event(parsed: object) -> bool:
    """Whether a line of JSON is a message of a transcript."""
    if not isinstance(parsed, Mapping) or not isinstance(parsed.get("message"), Mapping):
        return False
    return str(parsed.get("type")) in _SPOKEN


def _session(file: Path, shown: str, positions: Counter[str], seen: set[str], zone: tzinfo | None) -> Iterator[Item]:
    with file.open("rb") as stream:
        for number, line in enumerate(stream, 1):
            if not line.strip():
                continue
            place = f"{shown}:{number}"
            try:
                event = json_line.read(line)
            except ValueError:
                yield Bad(place, "the line is no JSON in UTF-8", line=number)
                continue
            if not isinstance(event, Mapping):
                yield Bad(place, "the line is no JSON object", line=number)
                continue
            yield from _event(event, place, shown, number, positions, seen, zone)


def _event(
    event: Mapping[str, Any],
    place: str,
    shown: str,
    number: int,
    positions: Counter[str],
    seen: set[str],
    zone: tzinfo | None,
) -> Iterator[Item]:
    if not is_event(event):
        yield Left("other events")
        return
    if event.get("isSidechain") or event.get("isMeta") or event.get("isCompactSummary"):
        yield Left("sub-agents and notes of the program")
        return
    text, heard = _text(event["message"])
    if not text:
        yield Left("tools" if heard else "empty")
        return
    session = str(event.get("sessionId") or shown.removesuffix(".jsonl"))
    name = str(event.get("uuid") or f"{session}:L{number}")
    if name in seen:
        yield Left("repeated by a resumed session")
        return
    seen.add(name)
    speaker = str(event["type"])
    project = label(PureWindowsPath(str(event.get("cwd") or "")).name)
    shared = {
        "service": "agent",
        "title": project,
        "speaker": speaker,
        "conversation_id": stable_id(SERVICE, session),
        "event_time": instant(event.get("timestamp"), zone),
        "source": {"kind": source_kind(speaker), "uri": label(shown)},
        "tags": [tag for tag in (SERVICE, project) if tag],
    }
    rows = in_parts(stable_id(SERVICE, name), text, shared, positions[session], place, number)
    positions[session] += len(rows)
    yield from rows


def _text(message: Mapping[str, Any]) -> tuple[str, bool]:
    """What was said, and whether there was anything else, such as a tool."""
    content = message.get("content")
    if isinstance(content, str):
        spoken = [content]
        other = False
    else:
        blocks = [one for one in (content if isinstance(content, list) else []) if isinstance(one, Mapping)]
        spoken = [str(one.get("text") or "") for one in blocks if one.get("type") == "text"]
        other = len(spoken) < len(blocks)
        if any(one.get("type") == "image" for one in blocks) and any(map(str.strip, spoken)):
            spoken.append("[image]")
    kept = [clean(_ASIDE.sub("", text)) for text in spoken if not _COMMAND.match(text)]
    return clean("\n\n".join(text for text in kept if text)), other or len(kept) < len(spoken)
