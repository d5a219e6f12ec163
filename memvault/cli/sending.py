"""Sends blocks in batches, a few at once, and keeps account of what became of each."""

from __future__ import annotations

import re
import sys
from collections import Counter, deque
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from memvault.cli import output
from memvault.cli.client import Gateway
from memvault.cli.failure import CommandError
from memvault.cli.sources.entry import Bad, Item, Left, Remark, Row, Same
from memvault.runtime.exits import Exit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from concurrent.futures import Future

_BATCH_BYTES = 4 << 20
_CONFIRMED = frozenset({"indexed", "unchanged"})
_STORED = ("indexed", "accepted")
# how the gateway names one block of a batch, at the begin of what it says or in it
_NAMED = re.compile(r"\bblocks[\[.](\d{1,6})\]?[.:]? ?")


@dataclass
class Report:
    """What became of the entries: counts by status, the problems in words, what was left out on purpose."""

    counts: Counter[str] = field(default_factory=Counter)
    problems: list[dict[str, Any]] = field(default_factory=list)
    remarks: list[dict[str, str]] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    confirmed: set[str] | None = None
    """Ids of blocks that stand in the vault as they were sent; None: nobody asks."""

    def problem(self, bad: Bad) -> None:
        """Note an entry that was refused or cannot be read."""
        self.counts["refused"] += 1
        told: dict[str, Any] = {"place": bad.place, "block_id": bad.block_id, "reason": bad.reason}
        self.problems.append(told if bad.line is None else {"line": bad.line, **told})

    def rows(self, items: Iterable[Item], advance: Callable[[int], None]) -> Iterator[Row]:
        """The blocks among what a source yields; everything else is noted here."""
        for item in items:
            match item:
                case Row():
                    yield item
                case Bad():
                    self.problem(item)
                    advance(item.size)
                case Same(size):
                    self.counts["unchanged"] += 1
                    advance(size)
                case Left(kind):
                    self.left_out[kind] += 1
                case Remark(place, text):
                    self.remarks.append({"place": place, "text": text})


@dataclass
class _Batch:
    """Blocks of one user with where they come from, and the bytes they took."""

    user_id: str
    rows: list[Row] = field(default_factory=list)
    size: int = 0


class Sender:
    """Writes blocks through the gateway; as many batches are under way as it has connections, no more are read."""

    def __init__(self, url: str | None, timeout_s: float, options: Mapping[str, Any], *, parallel: int) -> None:
        """`options` are the contract's `WriteOptions`; `timeout_s` bounds each batch."""
        self._url = url
        self._timeout_s = timeout_s
        self._options = options
        self._parallel = parallel

    def send(
        self,
        rows: Iterator[Row],
        owner_of: Callable[[Row], str],
        size: int,
        report: Report,
        advance: Callable[[int], None],
    ) -> None:
        """Send all rows, `size` in a batch.

        Raises:
            CommandError: The gateway went away, or refused a whole batch, or the source cannot be read; it says how
                many blocks were stored, and that the command can be repeated where that would help.
        """
        # imported here: no other command needs threads
        import threading  # noqa: PLC0415
        from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415

        local, gateways = threading.local(), []

        def post(batch: _Batch) -> list[dict[str, Any]]:
            if not hasattr(local, "gateway"):
                local.gateway = Gateway(self._url, self._timeout_s)
                gateways.append(local.gateway)
            return self._post(local.gateway, batch)

        under_way: deque[tuple[_Batch, Future[list[dict[str, Any]]]]] = deque()
        try:
            with ThreadPoolExecutor(self._parallel) as pool:
                for ready in _batches(rows, owner_of, size):
                    if len(under_way) >= self._parallel:
                        _take(*under_way.popleft(), report, advance)
                    under_way.append((ready, pool.submit(post, ready)))
                while under_way:
                    _take(*under_way.popleft(), report, advance)
        except CommandError as error:
            for batch, future in under_way:  # what was sent beside it has its answer by now
                with suppress(CommandError):
                    _take(batch, future, report, advance)
            raise CommandError(error.code, error.message + _standing(error, report), error.problem) from error
        finally:
            for gateway in gateways:
                gateway.close()

    def _post(self, gateway: Gateway, batch: _Batch) -> list[dict[str, Any]]:
        """An outcome a row; where the gateway refuses all because of one that it names, the others are sent again."""
        outcomes: dict[int, dict[str, Any]] = {}
        left = list(range(len(batch.rows)))
        while left:
            body = {
                "user_id": batch.user_id,
                "blocks": [batch.rows[n].block for n in left],
                "options": self._options,
            }
            try:
                answer = gateway.post("/v1/blocks:batch", body)
            except CommandError as error:
                if error.code is not Exit.REFUSED:
                    raise
                detail = str(error.problem.get("detail") or error.message)
                named = _NAMED.search(detail)
                if named is None or int(named[1]) >= len(left):
                    message = f"{error.message}: refused as a whole were {_places(batch.rows)}"
                    raise CommandError(error.code, message, error.problem) from error
                outcomes[left.pop(int(named[1]))] = {
                    "status": "refused",
                    "reason": error.problem.get("reason"),
                    "detail": _NAMED.sub("", detail),
                }
            else:
                outcomes |= zip(left, answer.get("outcomes", []), strict=True)
                break
        return [outcomes[n] for n in range(len(batch.rows))]


def _places(rows: list[Row]) -> str:
    first, last = rows[0].place, rows[-1].place
    return first if first == last else f"{first} to {last}"


def _standing(error: CommandError, report: Report) -> str:
    """What was stored before an error; only where nobody answered does the same command help."""
    stored = sum(report.counts[status] for status in _STORED)
    if not stored:
        return ""
    again = ", the same command goes on from there" if error.code is Exit.UNAVAILABLE else ""
    return f"; {stored} were stored before{again}"


def _take(batch: _Batch, future: Future[list[dict[str, Any]]], report: Report, advance: Callable[[int], None]) -> None:
    for row, outcome in zip(batch.rows, future.result(), strict=True):
        status, block_id = str(outcome.get("status")), str(row.block.get("id", ""))
        if status == "refused":
            reason = ": ".join(part for part in (outcome.get("reason"), outcome.get("detail")) if part)
            report.problem(Bad(row.place, reason, row.line, block_id))
            continue
        report.counts[status] += 1
        if report.confirmed is not None and status in _CONFIRMED:
            report.confirmed.add(block_id)
    advance(batch.size)


def _batches(rows: Iterator[Row], owner_of: Callable[[Row], str], size: int) -> Iterator[_Batch]:
    current: _Batch | None = None
    for row in rows:
        owner = owner_of(row)
        if current is not None:
            full = len(current.rows) >= size or current.size + row.size > _BATCH_BYTES
            if full or owner != current.user_id:
                yield current
                current = None
        current = current or _Batch(owner)
        current.rows.append(row)
        current.size += row.size
    if current is not None:
        yield current


@contextmanager
def progress(total: int | None, report: Report, *, silent: bool) -> Iterator[Callable[[int], None]]:
    """A bar on stderr for people, `total` in bytes; nothing where nobody looks."""
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
