"""`memvault export`: all memories of a user as JSONL, page by page."""

from __future__ import annotations

import json as jsonlib
import os
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any

import typer

from memvault.cli import output, profile_line, vault_file, where
from memvault.cli.client import Gateway
from memvault.cli.failure import CommandError
from memvault.cli.options import Json, Timeout, Url, User
from memvault.runtime.exits import Exit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PAGE = 500
"""Blocks asked for at once: all that is ever held of a vault."""
# opened by name, a stdout that goes to a file would be written from its begin, or replaced
_STDOUT = frozenset({"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"})


def export(
    out: Annotated[str, typer.Option("--out", "-o", help="File to write; `-` is stdout.")] = "-",
    with_profile: Annotated[
        bool, typer.Option("--with-profile", help="Add what was learned of your questions; import gives it back.")
    ] = False,
    user: User = None,
    url: Url = None,
    timeout: Timeout = 60.0,
    json: Json = False,
) -> None:
    """Write all memories of a user to a file that `memvault import` takes back just as they are.

    Of a frozen memory that is its summary; the facts that the graph read from its whole text before are not in the
    file.

    A file is written beside its place and put there when it is whole: one that is there already stays until then. It is
    readable for you alone. Where a link stands, what it points to is replaced. The same memories always make the same
    bytes.
    """
    out = "-" if out in _STDOUT else out
    if json and out == "-":
        raise CommandError(Exit.USAGE, "with --json the memories need a place of their own: add --out FILE")
    owner = where.user_id(user)
    gateway = Gateway(url, timeout)
    try:
        learned = profile_line.learned(gateway, owner) if with_profile else None
        with _opened(out) as sink, _progress(silent=json) as show:
            written = _write(sink, gateway, owner, learned, show)
    finally:
        gateway.close()
    if json:
        output.print_json({"user_id": owner, "blocks": written, "file": out})
        return
    said = output.messages()
    said.print(f"[green]✓[/] exported {written} block(s) of [bold]{owner}[/]" + ("" if out == "-" else f" to {out}"))
    if not written:
        said.print("[yellow]![/] there is nothing of this user: is it the right one? See --user")


def pages(gateway: Gateway, user_id: str, after: str = "") -> Iterator[list[dict[str, Any]]]:
    """Blocks of a user in the contract's JSON form, ordered by id, from behind `after` on."""
    while True:
        lines = gateway.lines("/v1/export", user_id=user_id, after=after, limit=PAGE)
        page: list[dict[str, Any]] = [jsonlib.loads(line) for line in lines]
        if page:
            yield page
        if len(page) < PAGE:
            return
        after = page[-1]["id"]


def _write(
    sink: IO[bytes], gateway: Gateway, user_id: str, learned: dict[str, Any] | None, show: Callable[[int], None]
) -> int:
    sink.write(vault_file.header(user_id))
    written = 0
    for page in pages(gateway, user_id):
        for block in page:
            sink.write(vault_file.row(block))
        written += len(page)
        show(written)
    if learned is not None:
        sink.write(vault_file.profile(learned))
    sink.write(vault_file.end(written))
    return written


@contextmanager
def _opened(out: str) -> Iterator[IO[bytes]]:
    """Stdout, a device, or a file that takes its place only when all of it is on the disk."""
    if out == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    path = Path(out)
    if path.is_dir():
        raise CommandError(Exit.USAGE, f"{out} is a folder: name a file in it")
    try:
        # a device or a pipe has no place that another file could take
        special = path.exists() and not path.is_file()
        with path.open("wb") if special else _put_whole(Path(os.path.realpath(path))) as sink:
            yield sink
    except OSError as error:
        raise CommandError(Exit.FAILED, f"{out} cannot be written: {error.strerror or error}") from error


@contextmanager
def _put_whole(path: Path) -> Iterator[IO[bytes]]:
    """A file of one's own beside the path; it follows nobody's link. Raises OSError."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    part.unlink(missing_ok=True)  # of a process with this number that was killed
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as sink:
            yield sink
            sink.flush()
            os.fsync(sink.fileno())
        part.replace(path)
    finally:
        with suppress(OSError):
            part.unlink()


@contextmanager
def _progress(*, silent: bool) -> Iterator[Callable[[int], None]]:
    """One line on stderr for people; nothing where nobody looks."""
    if silent or not sys.stderr.isatty():
        yield lambda _: None
        return
    with output.messages().status("exporting") as spinner:
        yield lambda written: spinner.update(f"exporting: {written} blocks")
