"""Progress bars on stderr, so that stdout holds nothing but the result."""

from __future__ import annotations

from types import TracebackType
from typing import Protocol, Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.progress import Progress as RichProgress

SILENT_EVERY = 10  # without a terminal a line is written at each tenth of a stretch


class Progress(Protocol):
    """Shows how far a set is."""

    def begin(self, what: str, total: int) -> None:
        """A new stretch of `total` steps begins, such as `locomo: asking`."""
        ...

    def step(self, count: int = 1) -> None:
        """Some steps are done."""
        ...

    def left(self, count: int) -> None:
        """So many steps are still to go, perhaps more than were known of."""
        ...


class Bars:
    """One bar for each stretch of work; without a terminal, lines."""

    def __init__(self, console: Console) -> None:
        """`console` writes to stderr."""
        self._console = console
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        self._bars = RichProgress(*columns, console=console, disable=not console.is_terminal)
        self._task = TaskID(0)
        self._what, self._total, self._done = "", 0, 0

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bars.stop()

    def begin(self, what: str, total: int) -> None:
        """Begin a stretch of `total` steps."""
        self._what, self._total, self._done = what, total, 0
        self._task = self._bars.add_task(what, total=total)

    def step(self, count: int = 1) -> None:
        """Count some steps."""
        before, self._done = self._done, self._done + count
        self._bars.advance(self._task, count)
        tenth = max(1, self._total // SILENT_EVERY)
        if not self._console.is_terminal and (before // tenth < self._done // tenth or self._done == self._total):
            self._console.print(f"{self._what}: {self._done} of {self._total}", style="dim", highlight=False)

    def left(self, count: int) -> None:
        """Tell how many steps are still to go; more than were known of make the stretch longer."""
        self._total = max(self._total, self._done + count)
        self._bars.update(self._task, total=self._total, description=f"{self._what}, {count} left")
        if self._total - count > self._done:
            self.step(self._total - count - self._done)
