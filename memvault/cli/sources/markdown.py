"""Markdown: a note, or a folder of them (Obsidian, Logseq, Hugo, ...), one block a note.

Front matter gives title, tags, dates, aliases and a summary; a first heading the title where there is none; `#tags` in
the text are tags too. The text stays as it was written: wiki links in it, `[[X]]`, are read by the graph as names, so
that notes that link to one another are near one another.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, tzinfo
from pathlib import Path
from typing import Any

from memvault.cli.sources.entry import Bad, Item, Left, Remark, Row, clean, instant, label, part_id, parts, stable_id

SERVICE = "md"
ENDINGS = (".md", ".markdown")
_NAME_CHARS = 60
_TOO_MUCH = 10**18  # of a number in a field; Python writes none of more than 4300 digits
_PART = re.compile(r"#\d{4}\Z")
_FRONT = re.compile(r"\A---[ \t]*\n(?:(.*?)\n)??(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_TAG = re.compile(r"(?<![\w/#&])#([^\W\d_][\w/-]*|\d[\w/-]*[^\W\d][\w/-]*)")
_HEADING = re.compile(r"\A\s*# +(.+)")
_DAY = re.compile(r"(?<!\d)(\d{4})[-_.]?(\d{2})[-_.]?(\d{2})(?!\d)")
_DAY_OR_TIME = "tag:yaml.org,2002:timestamp"
_HAPPENED = ("date", "created", "created_at", "created-at", "datetime", "日期", "建立時間")
_STORED = ("updated", "modified", "updated_at", "lastmod", "last_modified")
_SUMMARY = ("summary", "description", "abstract", "摘要")


@dataclass(frozen=True)
class Folder:
    """Notes with the name that their ids begin with."""

    root: Path
    name: str

    @property
    def prefix(self) -> str:
        """What the ids of all its notes begin with."""
        return f"{SERVICE}:{self.name}/"


@dataclass
class _Note:
    """What a note says of itself."""

    text: str
    about: Mapping[str, Any] = field(default_factory=dict)
    remark: str = ""


def folder_of(path: Path, name: str) -> Folder:
    """The folder of a path, which is a note or the folder; `name` empty: what the folder is called."""
    root = path if path.is_dir() else path.parent
    return Folder(root, label(name or root.resolve().name)[:_NAME_CHARS] or "notes")


def whole_of(block_id: str) -> str:
    """The id of the note that a block is a part of."""
    return _PART.sub("", block_id)


def files(path: Path) -> list[Path]:
    """The notes of a folder without hidden places, or the note itself."""
    if path.is_file():
        return [path]
    found: list[Path] = []
    for place, folders, names in os.walk(path):
        folders[:] = [name for name in folders if not name.startswith((".", "node_modules"))]
        found += [Path(place) / name for name in names if name.lower().endswith(ENDINGS) and not name.startswith(".")]
    return sorted(found)


def read(path: Path, zone: tzinfo | None, name: str) -> Iterator[Item]:
    """Blocks of all notes. Ids come from the folder's name and the path in it: an edited note replaces the old one."""
    folder = folder_of(path, name)
    for file in files(path):
        shown = file.relative_to(folder.root).as_posix()
        try:
            raw = file.read_bytes()
            note = _split(raw.decode("utf-8-sig").replace("\r\n", "\n"))
        except OSError as error:
            yield Bad(shown, f"cannot be read: {error.strerror}")
            continue
        except UnicodeDecodeError as error:
            yield Bad(shown, f"is not UTF-8 at byte {error.start}: save it as UTF-8")
            continue
        if note.remark:
            yield Remark(shown, note.remark)
        text = clean(note.text)
        if not text:
            yield Left("empty")
            continue
        yield from _blocks(folder, file, shown, text, note.about, zone)


def _blocks(
    folder: Folder, file: Path, shown: str, text: str, about: Mapping[str, Any], zone: tzinfo | None
) -> Iterator[Item]:
    happened, unread = _time(about, _HAPPENED, zone)
    if unread:
        yield Remark(
            shown, f"the date {unread!r} is not understood: write it as 2026-03-01 or 2026-03-01T09:30:00+08:00"
        )
    pieces = parts(text)
    also = ", ".join(_words(about.get("aliases") or about.get("alias")))
    block_id = stable_id(SERVICE, f"{folder.name}/{shown}")
    if not block_id.startswith(folder.prefix):  # a name too long for an id: what is told by its prefix stays so
        block_id = folder.prefix + block_id.removeprefix(f"{SERVICE}:")
    for number, piece in enumerate(pieces, 1):
        block = {
            "id": part_id(block_id, number),
            "service": "notes",
            "text": f"({also})\n\n{piece}" if also and number == 1 else piece,
            "summary": label(next((about[key] for key in _SUMMARY if _is_plain(about.get(key))), ""))
            if number == 1
            else "",
            "title": _title(about, text, file),
            "heading_path": [label(part) for part in Path(shown).parent.parts],
            "speaker": label(", ".join(_words(about.get("author")))),
            "position": number - 1 if len(pieces) > 1 else None,
            "event_time": happened or _day_of(file.stem, zone),
            "recorded_at": _time(about, _STORED, zone)[0] or _changed(file),
            "source": {"kind": "document", "uri": label(f"{folder.name}/{shown}")},
            "tags": list(dict.fromkeys([*_tags(about), *_inline_tags(text)])),
        }
        yield Row({key: value for key, value in block.items() if value not in (None, "", [])}, shown, len(piece))


def _split(text: str) -> _Note:
    """Front matter and text; front matter that is no YAML stays a part of the text."""
    # imported here: only notes need it
    import yaml  # noqa: PLC0415

    found = _FRONT.match(text)
    if found is None:
        return _Note(text)
    try:
        about = _fields(found[1] or "")
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f" in line {mark.line + 2}" if mark is not None else ""
        return _Note(text, {}, f"its front matter is no YAML{where}: stored as a part of the text, without its fields")
    if about is None:
        return _Note(text[found.end() :])
    if not isinstance(about, Mapping):
        return _Note(text)  # a rule and a paragraph, not front matter
    return _Note(text[found.end() :], {key.lower(): value for key, value in about.items() if isinstance(key, str)})


def _fields(front: str) -> Any:  # noqa: ANN401 - any YAML value
    """What the front matter holds; a day that no calendar has is a text, and takes no other field with it."""
    # imported here: only notes need it
    import yaml  # noqa: PLC0415

    loader = yaml.SafeLoader(front)
    usual = loader.yaml_constructors[_DAY_OR_TIME]

    def day_or_text(reading: Any, node: Any) -> Any:  # noqa: ANN401 - PyYAML has no types
        try:
            return usual(reading, node)
        except ValueError:
            return reading.construct_scalar(node)

    loader.yaml_constructors = {**loader.yaml_constructors, _DAY_OR_TIME: day_or_text}
    try:
        return loader.get_single_data()
    finally:
        loader.dispose()


def _title(about: Mapping[str, Any], text: str, file: Path) -> str:
    heading = _HEADING.match(text)
    named = about.get("title")
    return label(named if _is_plain(named) else heading[1] if heading else file.stem)


def _is_plain(value: object) -> bool:
    """Whether a field has one value that can be written out: a list in YAML may stand for billions, and so a number."""
    if isinstance(value, int):
        return value is not False and abs(value) < _TOO_MUCH
    return isinstance(value, str | float | date) and value != ""


def _tags(about: Mapping[str, Any]) -> Iterator[str]:
    for key in ("tags", "tag", "keywords", "categories", "標籤"):
        for word in _words(about.get(key)):
            yield word.lstrip("#")


def _inline_tags(text: str) -> Iterator[str]:
    yield from (label(found[1]) for found in _TAG.finditer(_CODE.sub(" ", text)))


def _words(value: object) -> list[str]:
    """A list, or a text with commas."""
    if isinstance(value, str):
        values: list[object] = list(re.split(r"[,，、]", value))
    elif isinstance(value, list):
        values = value
    else:
        values = [value]
    plain = dict.fromkeys(one for one in values if _is_plain(one))  # an alias may repeat a long one very often
    return [word for one in plain if (word := label(one).lstrip("#"))]


def _time(about: Mapping[str, Any], keys: tuple[str, ...], zone: tzinfo | None) -> tuple[str | None, str]:
    """The first time of these fields, and what stands there where none of it is a time."""
    unread = ""
    for key in keys:
        value = about.get(key)
        if value in (None, ""):
            continue
        found = instant(value, zone) if isinstance(value, str | date) else None
        if found is not None:
            return found, ""
        unread = unread or (str(value)[:80] if _is_plain(value) else "of several values")
    return None, unread


def _day_of(stem: str, zone: tzinfo | None) -> str | None:
    """The day in the name of a daily note, such as `2026-03-01`."""
    found = _DAY.search(stem)
    return instant("-".join(found.groups()), zone) if found else None


def _changed(file: Path) -> str:
    seconds = int(file.stat().st_mtime)
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")
