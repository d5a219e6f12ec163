"""A barrier that writers pass and that can be closed for a moment, when nobody may be inside."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class WriteBarrier:
    """Open at first. It belongs to one event loop."""

    def __init__(self) -> None:
        self._inside = 0
        self._closed = False
        self._changed = asyncio.Condition()

    @asynccontextmanager
    async def passing(self) -> AsyncIterator[None]:
        """Wait while the barrier is closed, then be inside."""
        async with self._changed:
            await self._changed.wait_for(lambda: not self._closed)
            self._inside += 1
        try:
            yield
        finally:
            async with self._changed:
                self._inside -= 1
                self._changed.notify_all()

    @asynccontextmanager
    async def closed(self) -> AsyncIterator[None]:
        """Let nobody in, wait until all are out, and open again at the end."""
        async with self._changed:
            await self._changed.wait_for(lambda: not self._closed)
            self._closed = True
        try:
            async with self._changed:
                await self._changed.wait_for(lambda: self._inside == 0)
            yield
        finally:
            async with self._changed:
                self._closed = False
                self._changed.notify_all()
