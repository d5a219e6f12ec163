"""What is read into memory before anybody asks for it."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence

from memvault.text import search_tokens
from memvault_search.domain.scoring.telling_apart import tell_apart
from memvault_search.usecases.vaults import Vaults


def load_dictionaries() -> None:
    """Load the dictionaries, which takes half a second: the first question shall not wait for them."""
    search_tokens("熱身 warming up")
    tell_apart("the first of 2 texts", "第二段文字")


class Warming:
    """Reads users' vaults: a thousand blocks take half a second, so that many users cannot all be waited for."""

    def __init__(self) -> None:
        self._left: deque[str] = deque()
        self._task: asyncio.Task[None] | None = None

    def begin(self, vaults: Vaults, users: Sequence[str]) -> None:
        """Read the vaults of these users, one after the other.

        Whoever asks before their turn comes has theirs read then; what fails here fails visibly there.
        """
        self._left.extend(users)
        self._task = asyncio.create_task(self._run(vaults))

    async def first(self, within_s: float) -> None:
        """Wait until all are read, or so many seconds: whoever asks right after the start shall not wait then."""
        if self._task is not None:
            await asyncio.wait({self._task}, timeout=within_s)

    async def _run(self, vaults: Vaults) -> None:
        while self._left:
            await vaults.of(self._left.popleft())

    async def end(self) -> None:
        """Read no further users, and wait for the one that is being read."""
        self._left.clear()
        if self._task is not None:
            await asyncio.gather(self._task, return_exceptions=True)
