"""The work of `memvault import`: find out what a source is, read it, send it, and tell what became of it."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections import Counter
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from memvault.cli import output, profile_line, times, where
from memvault.cli.client import Gateway
from memvault.cli.failure import CommandError
from memvault.cli.known import Known, ids_below
from memvault.cli.restoring import Export
from memvault.cli.sending import Report, Sender, progress
from memvault.cli.sources import FORMATS, chatgpt, chats, claude, detection, jsonl, markdown, mem0, transcript
from memvault.runtime.exits import Exit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from datetime import tzinfo

    from memvault.cli.sources import Format
    from memvault.cli.sources.entry import Item, Row

_FORGOTTEN_AT_ONCE = 1000
_OF_FILES = frozenset({"memvault", "jsonl"})
_OF_CHATS = frozenset({"chatgpt", "claude", "mem0"})
_ON_UNSAFE = ("refuse", "redact", "mark")
_PROFILE_PARTS = (("questions", "questions"), ("interests", "lasting_interests"))
_WAITS = ("accepted", "indexed")


@dataclass(frozen=True)
class _Source:
    """What is to be read, and for whom."""

    path: Path
    format: Format
    user_id: str
    export: Export | None
    zone: tzinfo | None
    name: str
    owner: str

    def items(self, known: Known | None = None) -> Iterator[Item]:
        """Everything in it; of an export without what is known just so."""
        match self.format:
            case "memvault" if self.export is not None:
                yield from self.export.items(known)
            case "markdown":
                yield from markdown.read(self.path, self.zone, self.name)
            case "chatgpt":
                yield from chatgpt.read(self.path, self.zone)
            case "claude":
                yield from claude.read(self.path, self.zone)
            case "transcript":
                yield from transcript.read(self.path, self.zone)
            case "mem0":
                yield from mem0.read(self.path, self.zone, self.owner)
            case _:
                with self.path.open("rb") as stream:
                    yield from jsonl.read(stream)

    def owner_of(self, row: Row) -> str:
        """Whose a block is: in plain JSONL a line may name its user."""
        return str((self.format == "jsonl" and row.block.get("user_id")) or self.user_id)

    @property
    def bytes(self) -> int | None:
        """Bytes that will be read, where that is known."""
        return self.path.stat().st_size if self.format in {"memvault", "jsonl"} else None


@dataclass(frozen=True)
class Wanted:
    """What was asked for; see the options of the command."""

    file: str
    format: str
    user: str | None
    dry_run: bool
    skip_bad: bool
    time_zone: str
    name: str
    owner: str
    on_unsafe: str
    wait: str
    batch: int
    parallel: int


def take_in(wanted: Wanted, url: str | None, timeout: float, *, json: bool) -> None:
    """Read the source and store it.

    Raises:
        CommandError: Nothing could be read, or nobody answers.
        typer.Exit: Some of it was refused.
    """
    _require("--on-unsafe", wanted.on_unsafe or "refuse", _ON_UNSAFE)
    _require("--wait", wanted.wait, _WAITS)
    report = Report()
    with ExitStack() as stack:
        path = stack.enter_context(_on_disk(wanted.file))
        found = _detected(path, wanted.format, wanted.file)
        if not json and not wanted.format and found.format != "jsonl":
            output.messages().print(f"this is [bold]{found.format}[/] ({found.sign}); if not, say so with --from")
        export = Export(path) if found.format == "memvault" else None
        if export is not None and not wanted.skip_bad:
            export.require_whole()
        user_id = where.user_id(wanted.user if wanted.user is not None or export is None else export.user_id or None)
        source = _Source(path, found.format, user_id, export, times.zone(wanted.time_zone), wanted.name, wanted.owner)
        unsafe = wanted.on_unsafe or ("mark" if export else "refuse")
        with closing(Gateway(url, timeout)) as gateway:
            if wanted.dry_run:
                _count(source, gateway, report, unsafe)
            else:
                known = Known(gateway, user_id) if export else None
                options = {
                    "wait": wanted.wait,
                    "on_unsafe": unsafe,
                    "wait_ms": max(1, min(600_000, int(timeout * 1000))),
                }
                sender = Sender(
                    url, timeout + 5, options | ({"restore": True} if export else {}), parallel=wanted.parallel
                )
                advance = stack.enter_context(progress(source.bytes, report, silent=json))
                rows = report.rows(_readable(source.items(known)), advance)
                if found.format == "markdown":
                    _take_in_notes(source, gateway, sender, rows, wanted.batch, report, advance)
                else:
                    sender.send(rows, source.owner_of, wanted.batch, report, advance)
            if export is not None:
                _take_in_profile(export, user_id, gateway, report, dry_run=wanted.dry_run)
    _tell(report, source, json=json, dry_run=wanted.dry_run)


def _detected(path: Path, named: str, shown: str) -> detection.Detected:
    try:
        if named:
            _require("--from", named, FORMATS)
            chosen = next(one for one in FORMATS if one == named)
            if path.is_dir() and (chosen in _OF_FILES or (chosen in _OF_CHATS and not chats.files(path))):
                raise CommandError(Exit.USAGE, f"{shown} is a folder: name the file in it")
            path.stat()
            return detection.Detected(chosen, "named")
        return detection.of(path)
    except OSError as error:
        raise CommandError(Exit.USAGE, f"{shown} cannot be read: {error.strerror or error}") from error
    except detection.Unrecognised as error:
        told = str(error) if shown != "-" else str(error).replace(str(path), "stdin")
        raise CommandError(Exit.USAGE, told) from error


def _require(option: str, value: str, known: Sequence[str]) -> None:
    if value not in known:
        raise CommandError(Exit.USAGE, f"{option} is {value!r}: use one of {', '.join(known)}")


def _readable(items: Iterator[Item]) -> Iterator[Item]:
    """The items of a source; what keeps it from being read at all ends the command."""
    try:
        yield from items
    except mem0.SeveralPeople as error:
        raise CommandError(Exit.USAGE, str(error)) from error
    except OSError as error:
        raise CommandError(Exit.FAILED, f"{error.filename} cannot be read: {error.strerror or error}") from error


def _noted(rows: Iterator[Row], ids: set[str]) -> Iterator[Row]:
    for row in rows:
        ids.add(str(row.block.get("id")))
        yield row


def _count(source: _Source, gateway: Gateway, report: Report, on_unsafe: str) -> None:
    """Read everything and compare it with the vault, as far as that answers."""
    # imported here: only a dry run screens by itself
    from memvault.screening import scan  # noqa: PLC0415

    known: dict[str, Known | None] = {}
    read: set[str] = set()
    for row in _noted(report.rows(_readable(source.items()), lambda _: None), read):
        user_id = source.owner_of(row)
        if user_id not in known:
            known[user_id] = _known(gateway, user_id, report)
        if on_unsafe == "refuse" and scan(str(row.block.get("text", ""))):
            report.counts["would be refused as unsafe"] += 1
            continue
        there = known[user_id]
        if there is None:
            report.counts["blocks"] += 1
        elif row.block.get("id") not in there:
            report.counts["new"] += 1
        elif source.export is None:
            report.counts["there by id"] += 1
        else:
            report.counts["unchanged" if there.has(row.block) else "changed"] += 1
    there = known.get(source.user_id)
    if source.format == "markdown" and there is not None:
        prefix = markdown.folder_of(source.path, source.name).prefix
        _tell_of_others(source, prefix, there.below(prefix), read, report)


def _known(gateway: Gateway, user_id: str, report: Report) -> Known | None:
    try:
        return Known(gateway, user_id)
    except CommandError as error:
        report.remarks.append({"place": "memvault", "text": f"not compared with what is there: {error.message}"})
        return None


def _take_in_notes(
    source: _Source,
    gateway: Gateway,
    sender: Sender,
    rows: Iterator[Row],
    size: int,
    report: Report,
    advance: Callable[[int], None],
) -> None:
    """Send notes, `size` in a batch, then look at what else stands below their folder's name."""
    sent: set[str] = set()
    report.confirmed = set()
    sender.send(_noted(rows, sent), source.owner_of, size, report, advance)
    prefix = markdown.folder_of(source.path, source.name).prefix
    there = [name for name in ids_below(gateway, source.user_id, prefix) if name not in sent]
    _forget_stale_parts(source, gateway, there, sent, report)
    _tell_of_others(source, prefix, there, sent, report)


def _take_in_profile(export: Export, user_id: str, gateway: Gateway, report: Report, *, dry_run: bool) -> None:
    """Give back what was learned of the user, where it was taken along."""
    learned = export.profile()
    if learned is None:
        return
    if not profile_line.can_come_back(learned):
        text = "it is of an older memvault, which took it along to look at: it is not given back"
        report.remarks.append({"place": "profile", "text": text})
        return
    if dry_run:
        new = {name: len(learned.get(part, [])) for name, part in _PROFILE_PARTS}
    else:
        new = profile_line.restore(gateway, user_id, learned)
    for name, count in new.items():
        report.counts[f"profile {name}"] += count


def _tell_of_others(source: _Source, prefix: str, there: list[str], sent: set[str], report: Report) -> None:
    """Two folders of one name have the same ids; beside a single note its neighbours are no surprise."""
    others = sum(markdown.whole_of(name) not in sent for name in there)
    if others and source.path.is_dir():
        text = (
            f"memories below this name that are of none of these notes: {others}. If they are of another folder, "
            "notes at the same path take each other's place: import both, each with a --name of its own. "
            "Notes that were deleted or renamed stay until `memvault forget`"
        )
        report.remarks.insert(0, {"place": prefix, "text": text})


def _forget_stale_parts(source: _Source, gateway: Gateway, there: list[str], sent: set[str], report: Report) -> None:
    """A long note that became shorter has fewer parts: forget the others, which speak of what is gone.

    Not where a part of the note was refused or is still under way: then the old parts may be all that is left of it.
    """
    unsure = {markdown.whole_of(name) for name in sent - (report.confirmed or set())}
    stale = [name for name in there if (whole := markdown.whole_of(name)) in sent and whole not in unsure]
    for start in range(0, len(stale), _FORGOTTEN_AT_ONCE):
        part = stale[start : start + _FORGOTTEN_AT_ONCE]
        gateway.post("/v1/forget", {"user_id": source.user_id, "block_ids": part})
    report.counts["forgotten parts of shortened notes"] += len(stale)


@contextmanager
def _on_disk(file: str) -> Iterator[Path]:
    """The path; stdin as a file of its own, because a source is looked at before it is read."""
    if file != "-":
        yield Path(file)
        return
    with tempfile.NamedTemporaryFile(prefix="memvault-import-", suffix=".jsonl") as spool:
        shutil.copyfileobj(sys.stdin.buffer, spool)
        spool.flush()
        yield Path(spool.name)


def _tell(report: Report, source: _Source, *, json: bool, dry_run: bool) -> None:
    counts = Counter({name: count for name, count in report.counts.items() if count})
    refused = counts["refused"]
    if json:
        told = {
            "format": source.format,
            "user_id": source.user_id,
            "dry_run": dry_run,
            "counts": dict(counts),
            "left_out": dict(report.left_out),
            "remarks": report.remarks,
            "problems": report.problems,
        }
        output.print_json(told)
    else:
        _tell_people(report, counts, source, dry_run=dry_run)
    if refused:
        raise typer.Exit(Exit.PARTIAL)


def _tell_people(report: Report, counts: Counter[str], source: _Source, *, dry_run: bool) -> None:
    parts = [f"{count} {status}" for status, count in sorted(counts.items()) if status != "refused"]
    what = "nothing is stored, this was a dry run: " if dry_run else ""
    output.console().print(f"[green]✓[/] {what}{', '.join(parts) or 'nothing stored'}, user [bold]{source.user_id}[/]")
    if report.left_out:
        left = ", ".join(f"{count} {kind}" for kind, count in sorted(report.left_out.items()))
        output.messages().print(f"left out: {left}", markup=False)
    for remark in report.remarks[: output.MOST_PROBLEMS]:
        output.complain(f"{remark['place']}: {remark['text']}")
    for problem in report.problems[: output.MOST_PROBLEMS]:
        name = f" ({problem['block_id']})" if problem["block_id"] else ""
        output.complain(f"{problem['place']}{name} was refused: {problem['reason']}")
    hidden = max(0, len(report.problems) - output.MOST_PROBLEMS) + max(0, len(report.remarks) - output.MOST_PROBLEMS)
    if hidden:
        output.complain(f"and {hidden} more; --json lists all")
    if any("UNSAFE_CONTENT" in problem["reason"] for problem in report.problems):
        output.complain("what is unsafe can be stored with --on-unsafe mark (as it is) or redact")
