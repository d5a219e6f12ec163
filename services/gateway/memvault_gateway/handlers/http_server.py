"""Runs an ASGI application on one address, inside the event loop of the service."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import uvicorn

Asgi = Callable[
    [
        MutableMapping[str, Any],
        Callable[[], Awaitable[MutableMapping[str, Any]]],
        Callable[[MutableMapping[str, Any]], Awaitable[None]],
    ],
    Awaitable[None],
]
_POLL_S = 0.01
_STOP_S = 5


class HttpServer:
    """An HTTP server that its owner starts and stops; signals are the owner's business."""

    def __init__(self, application: Asgi, address: str) -> None:
        host, _, port = address.rpartition(":")
        config = uvicorn.Config(
            application,
            host=host.strip("[]"),
            port=int(port),
            log_config=None,
            access_log=False,
            lifespan="off",
            timeout_graceful_shutdown=_STOP_S,
        )
        self._server = _Server(config)
        self._address = address
        self._running: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Listen.

        Raises:
            OSError: When the address cannot be taken.
        """
        self._running = asyncio.create_task(self._serve(), name="http")
        while not self._server.started:
            if self._running.done():
                await self._running
                raise OSError(f"cannot listen on {self._address}: is the port taken?")
            await asyncio.sleep(_POLL_S)

    async def stop(self) -> None:
        """Let running requests finish, then close."""
        self._server.should_exit = True
        if self._running is not None:
            await self._running

    async def _serve(self) -> None:
        try:
            await self._server.serve()
        except SystemExit as error:  # uvicorn's word for an address that cannot be taken
            raise OSError(f"cannot listen on {self._address}: is the port taken?") from error


class _Server(uvicorn.Server):
    """uvicorn without its own signal handlers."""

    def install_signal_handlers(self) -> None:
        """Signals belong to the process's lifecycle."""
