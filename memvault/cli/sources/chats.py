"""What the exports of chat services have in common: a conversation with turns becomes blocks."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from memvault.cli.sources.entry import Bad, Item, Left, clean, in_parts, label, stable_id
from memvault.cli.sources.json_stream import BrokenJson, elements

CONVERSATIONS = "conversations.json"
_WRAPPERS = ("conversations", "results", "memories")
_PACKED = b"PK\x03\x04"
# RuntimeError: a password is missing, or it is packed in a way that is not known here; OSError and ValueError: it names
# a place in itself that there is not
_DAMAGES = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, OSError, ValueError)


class DamagedArchive(ValueError):  # noqa: N818 - says what the file is
    """An archive cannot be unpacked; the message says what to do."""


@dataclass(frozen=True)
class Turn:
    """One thing that was said. `key` is unique in its conversation; `time` as the service wrote it, in RFC 3339."""

    key: str
    speaker: str
    text: str
    time: str | None


def is_packed(path: Path) -> bool:
    """Whether a file is a zip archive, also one whose end is missing."""
    if not path.is_file():
        return False
    with path.open("rb") as stream:
        return stream.read(len(_PACKED)) == _PACKED or zipfile.is_zipfile(path)


def files(path: Path) -> list[str]:
    """Names of the files with conversations in a folder or an archive; empty when there are none.

    Raises:
        DamagedArchive: It cannot be looked into.
    """
    if path.is_dir():
        names = [one.name for one in path.iterdir() if one.is_file()]
    elif is_packed(path):
        with _unpacking(), zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    else:
        return []
    return sorted(name for name in names if _holds_conversations(name.rpartition("/")[2]))


@contextmanager
def opened(path: Path, name: str = "") -> Iterator[IO[bytes]]:
    """A file, or the file of a name in a folder or an archive. Raises DamagedArchive, also where it is read."""
    if not name:
        with path.open("rb") as stream:
            yield stream
    elif path.is_dir():
        with (path / name).open("rb") as stream:
            yield stream
    else:
        with _unpacking(), zipfile.ZipFile(path) as archive, archive.open(name) as stream:
            yield stream


@contextmanager
def _unpacking() -> Iterator[None]:
    try:
        yield
    except BrokenJson:
        raise
    except _DAMAGES as error:
        message = f"the archive is damaged or locked: {error}; unpack it yourself and import the folder"
        raise DamagedArchive(message) from error


def conversations(path: Path) -> Iterator[tuple[str, Any] | Bad]:
    """Every element of every file, with its place for people."""
    try:
        names = files(path) or [""]
    except DamagedArchive as error:
        yield Bad(path.name, str(error))
        return
    for name in names:
        shown, number = name or path.name, 0
        try:
            with opened(path, name) as stream:
                for number, element in enumerate(_unwrapped(elements(stream)), 1):
                    yield f"{shown}, entry {number}", element
        except BrokenJson as error:
            yield Bad(shown, f"{error}; what stands before was read" if number else str(error))
        except DamagedArchive as error:
            yield Bad(shown, str(error))


def read(
    path: Path,
    turns_of: Callable[[Mapping[str, Any]], tuple[str, str, Iterator[Turn | Left]]],
    service: str,
    address: Callable[[str], str],
) -> Iterator[Item]:
    """Blocks of all conversations.

    Args:
        path: a file, a folder or an archive.
        turns_of: makes id, title and turns of one conversation; raises ValueError with what is wrong.
        service: first part of every id.
        address: of a conversation by its id.
    """
    for found in conversations(path):
        if isinstance(found, Bad):
            yield found
            continue
        place, element = found
        try:
            name, title, turns = turns_of(element if isinstance(element, Mapping) else {})
            yield from _blocks(turns, name, title, service, address(name), place)
        except ValueError as error:
            yield Bad(place, str(error))


def _blocks(turns: Iterator[Turn | Left], name: str, title: str, service: str, uri: str, place: str) -> Iterator[Item]:
    position = 0
    for turn in turns:
        if isinstance(turn, Left):
            yield turn
            continue
        text = clean(turn.text)
        if not text:
            yield Left("empty")
            continue
        shared = {
            "service": "chat",
            "title": label(title),
            "speaker": turn.speaker,
            "conversation_id": stable_id(service, name),
            "event_time": turn.time,
            "source": {"kind": source_kind(turn.speaker), "uri": uri},
            "tags": [service],
        }
        rows = in_parts(stable_id(service, f"{name}:{turn.key}"), text, shared, position, place)
        position += len(rows)
        yield from rows


def source_kind(speaker: str) -> str:
    """What an assistant said is trusted less than what a person did (R-61)."""
    return "agent" if speaker == "assistant" else "conversation"


def _holds_conversations(name: str) -> bool:
    return name == CONVERSATIONS or (name.startswith("conversations-") and name.endswith(".json"))


def _unwrapped(found: Iterator[Any]) -> Iterator[Any]:
    for element in found:
        inner = next(
            (
                element[name]
                for name in _WRAPPERS
                if isinstance(element, Mapping) and isinstance(element.get(name), list)
            ),
            None,
        )
        if inner is None:
            yield element
        else:
            yield from inner
