"""`memvault import`: JSONL in, streamed in batches, with progress."""

from __future__ import annotations

import json as jsonlib
import sys
from collections import Counter, deque
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any

import typer

from memvault.cli import output, where
from memvault.cli.client import Gateway
from memvault.cli.failure import CommandError
from memvault.cli.options import Json, OnUnsafe, Timeout, Url, User, Wait
from memvault.runtime.exits import Exit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from concurrent.futures import Future

_BATCH_BYTES = 4 << 20
_SHOWN_PROBLEMS = 20


@dataclass
class _Batch:
    """Blocks of one user with the lines that they come from, and the bytes they took."""

    user_id: str
    blocks: list[dict[str, Any]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    size: int = 0


@dataclass
class _Report:
    """What became of the lines: counts by status, and the first problems in words."""

    counts: Counter[str] = field(default_factory=Counter)
    problems: list[dict[str, Any]] = field(default_factory=list)

    def problem(self, line: int, block_id: str, reason: str) -> None:
        self.counts["refused"] += 1
        self.problems.append({"line": line, "block_id": block_id, "reason": reason})


def import_(
    file: Annotated[str, typer.Argument(help="JSONL, one block a line; `-` reads stdin.")],
    batch: Annotated[int, typer.Option(min=1, max=1000, help="Blocks in one request.")] = 64,
    parallel: Annotated[int, typer.Option(min=1, max=16, help="Requests under way at once.")] = 3,
    on_unsafe: OnUnsafe = "refuse",
    wait: Wait = "indexed",
    user: User = None,
    url: Url = None,
    timeout: Timeout = 300.0,
    json: Json = False,
) -> None:
    """Store many memories: one JSON block a line, of which `text` is required and `id` makes it repeatable.

    A line without `user_id` belongs to the user of this command. Lines that are refused are told with their number
    and the reason; all others are stored, and the exit code is then 9. Importing the same file again changes nothing.
    """
    # imported here: no other command needs threads
    import threading  # noqa: PLC0415
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415

    report = _Report()
    options = {"wait": wait, "on_unsafe": on_unsafe, "wait_ms": max(1, min(600_000, int(timeout * 1000)))}
    local, gateways = threading.local(), []

    def send(batch_: _Batch) -> dict[str, Any]:
        if not hasattr(local, "gateway"):
            local.gateway = Gateway(url, timeout + 5)
            gateways.append(local.gateway)
        answer: dict[str, Any] = local.gateway.post(
            "/v1/blocks:batch", {"user_id": batch_.user_id, "blocks": batch_.blocks, "options": options}
        )
        return answer

    with ExitStack() as stack:
        stream, total = stack.enter_context(_opened(file))
        advance = stack.enter_context(_progress(total, report, silent=json))
        pool = stack.enter_context(ThreadPoolExecutor(parallel))
        under_way: deque[tuple[_Batch, Future[dict[str, Any]]]] = deque()
        for ready in _batches(stream, where.user_id(user), batch, report):
            if len(under_way) >= parallel:
                _take(*under_way.popleft(), report, advance)
            under_way.append((ready, pool.submit(send, ready)))
        while under_way:
            _take(*under_way.popleft(), report, advance)
    for gateway in gateways:
        gateway.close()
    _tell(report, json=json)


def _take(batch: _Batch, future: Future[dict[str, Any]], report: _Report, advance: Callable[[int], None]) -> None:
    answer = future.result()
    for line, block, outcome in zip(batch.lines, batch.blocks, answer.get("outcomes", []), strict=True):
        if outcome.get("status") == "refused":
            reason = ": ".join(part for part in (outcome.get("reason"), outcome.get("detail")) if part)
            report.problem(line, str(block.get("id", "")), reason)
        else:
            report.counts[str(outcome.get("status"))] += 1
    advance(batch.size)


def _batches(stream: IO[bytes], user_id: str, size: int, report: _Report) -> Iterator[_Batch]:
    current = _Batch(user_id)
    for number, line in enumerate(stream, 1):
        if not line.strip():
            current.size += len(line)
            continue
        try:
            block = jsonlib.loads(line)
        except ValueError as error:
            report.problem(number, "", f"the line is no JSON: {error}")
            continue
        if not isinstance(block, dict):
            report.problem(number, "", "the line is no JSON object")
            continue
        owner = str(block.get("user_id") or user_id)
        full = len(current.blocks) >= size or current.size + len(line) > _BATCH_BYTES
        if current.blocks and (full or owner != current.user_id):
            yield current
            current = _Batch(owner)
        current.user_id = owner
        current.blocks.append(block)
        current.lines.append(number)
        current.size += len(line)
    if current.blocks:
        yield current


@contextmanager
def _opened(file: str) -> Iterator[tuple[IO[bytes], int | None]]:
    if file == "-":
        yield sys.stdin.buffer, None
        return
    path = Path(file)
    try:
        stream = path.open("rb")
    except OSError as error:
        raise CommandError(Exit.USAGE, f"{file} cannot be read: {error.strerror}") from error
    with stream:
        yield stream, path.stat().st_size


@contextmanager
def _progress(total: int | None, report: _Report, *, silent: bool) -> Iterator[Callable[[int], None]]:
    """A bar on stderr for people; nothing where nobody looks."""
    if silent or not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn  # noqa: PLC0415

    bar = Progress(
        SpinnerColumn(),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %" if total else ""),
        TextColumn("{task.fields[stored]} stored"),
        TextColumn("{task.fields[refused]}"),
        TimeElapsedColumn(),
        console=output.messages(),
        transient=True,
    )
    with bar:
        task = bar.add_task("import", total=total, stored=0, refused="")

        def advance(amount: int) -> None:
            refused = report.counts["refused"]
            stored = sum(report.counts.values()) - refused
            told = f"[yellow]{refused} refused[/]" if refused else ""
            bar.update(task, advance=amount, stored=stored, refused=told)

        yield advance


def _tell(report: _Report, *, json: bool) -> None:
    refused = report.counts["refused"]
    if json:
        output.print_json({"counts": dict(report.counts), "problems": report.problems})
    else:
        told = output.console()
        parts = [f"{count} {status}" for status, count in sorted(report.counts.items()) if status != "refused"]
        told.print(f"[green]✓[/] {', '.join(parts) or 'nothing stored'}")
        for problem in report.problems[:_SHOWN_PROBLEMS]:
            name = f" ({problem['block_id']})" if problem["block_id"] else ""
            output.complain(f"line {problem['line']}{name} was refused: {problem['reason']}")
        if len(report.problems) > _SHOWN_PROBLEMS:
            output.complain(f"and {len(report.problems) - _SHOWN_PROBLEMS} more; --json lists all")
    if refused:
        raise typer.Exit(Exit.PARTIAL)
