"""`memvault reindex`: leads the service from the index it answers with to the one that the settings ask for.

The next index is filled beside the present one, in rounds, while questions and writes go on. When a round found little
left, writers wait for a moment: the last of it is brought over, and one write moves the pointer. Before that write the
former index is whole and answers; after it the next one does. Questions are embedded by the encoder of the index that
answers them, because encoder, vectors and what is in memory change hands together.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from contextvars import copy_context
from dataclasses import dataclass
from typing import Literal, Protocol

from memvault_search.domain.made import Made
from memvault_search.usecases.reindexing import Reindexing
from memvault_search.usecases.write_barrier import WriteBarrier

MOST_ROUNDS = 8
"""Whoever writes faster than this machine encodes must wait in the end."""
_FEW = 64
"""Passages left from which on the writers may be made to wait for the last of them: seconds."""

State = Literal["none", "needed", "unfinished", "running", "failed"]
"""`none`: the index is what the settings ask for. `unfinished`: begun, and cut off; it goes on where it stopped."""


@dataclass(frozen=True)
class Told:
    """How it stands: blocks looked at, of how many; passages built; what the index is made with, and shall be."""

    state: State
    done: int
    total: int
    built: int
    made: Made
    wanted: Made
    detail: str = ""

    def __str__(self) -> str:
        if self.state == "running":
            return f"running {self.done}/{self.total}"
        return self.state


class Steps(Protocol):
    """What the service does to itself."""

    async def begin(self) -> Reindexing:
        """Open the next index and its encoder."""
        ...

    async def prepare(self) -> None:
        """Read into memory what will be asked first."""
        ...

    async def take_over(self, changed: AbstractSet[str]) -> None:
        """Answer from the next index; users `changed` since `prepare`. Nobody writes meanwhile."""
        ...

    async def tidy(self) -> None:
        """Remove the former index once nobody reads it."""
        ...


class Renewing:
    """One renewal at a time; it can be started, watched and stopped."""

    def __init__(
        self,
        steps: Steps,
        barrier: WriteBarrier,
        *,
        present: Callable[[], Made],
        wanted: Made,
        begun: Callable[[], Made | None],
        failed: Callable[[Exception], None],
    ) -> None:
        """`present`: what made the index that answers; `begun`: what makes the next one; `failed` is told errors."""
        self._steps = steps
        self._barrier = barrier
        self._present = present
        self._wanted = wanted
        self._begun = begun
        self._failed = failed
        self._detail = ""
        self._reindexing: Reindexing | None = None
        self._task: asyncio.Task[None] | None = None
        self._in_the_end = False
        # a run outlives the call that starts it, and so must not have that call's deadline
        self._own = copy_context()

    @property
    def told(self) -> Told:
        """How it stands."""
        progress = None if self._reindexing is None else self._reindexing.progress
        done, total, built = (0, 0, 0) if progress is None else (progress.done, progress.total, progress.built)
        return Told(self._state(), done, total, built, self._present(), self._wanted, self._detail)

    def _state(self) -> State:
        if self._task is not None and not self._task.done():
            return "running"
        begun = self._begun()
        if self._present() == self._wanted and begun != self._wanted:
            return "none"
        if self._detail:
            return "failed"
        return "needed" if begun is None else "unfinished"

    def start(self, *, anew: bool = False) -> None:
        """Begin, or go on where a run stopped; nothing when one runs, or none is needed and it is not to be `anew`."""
        state = self._state()
        if state != "running" and (anew or state != "none"):
            self._detail = ""
            self._in_the_end = False
            self._task = asyncio.get_running_loop().create_task(self._run(), name="reindex", context=self._own)

    async def stop(self) -> None:
        """Stop the run; what was built stays for the next one. The last step is not cut off."""
        if self._task is not None and not self._in_the_end:
            self._task.cancel()
        await self.finished()

    async def finished(self) -> None:
        """Wait until nothing runs."""
        if self._task is not None:
            await asyncio.wait([self._task])

    async def _run(self) -> None:
        try:
            await self._renew()
        except Exception as error:  # noqa: BLE001 - whatever it was, the former index answers, and the next run goes on
            self._detail = f"{type(error).__name__}: {error}"
            self._failed(error)

    async def _renew(self) -> None:
        reindexing = self._reindexing = await self._steps.begin()
        for _ in range(MOST_ROUNDS):
            before = reindexing.progress.built
            await reindexing.round()
            if reindexing.progress.built - before <= _FEW:
                break
        await self._steps.prepare()
        async with self._barrier.closed():
            changed = await reindexing.round()
            self._in_the_end = True
            await self._steps.take_over(changed)
        await self._steps.tidy()
