"""Runs the HTTP face on its address, inside the process's own event loop and life."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import socket
from collections.abc import Iterator

import uvicorn
from starlette.types import ASGIApp

from memvault.rpc.server import AddressTakenError

_BACKLOG = 2048
_KEEP_ALIVE_S = 75
_GRACE_S = 5
_POLL_S = 0.005
_HEADER_BYTES = 65_536


class _Server(uvicorn.Server):
    """A server that leaves signals to the process it lives in."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class HttpServer:
    """Serves an ASGI application at `host:port`; port 0 takes a free one."""

    def __init__(self, face: ASGIApp, address: str) -> None:
        host, _, port = address.rpartition(":")
        self._host, self._port = host.strip("[]"), int(port)
        self._face = face
        self._server: _Server | None = None
        self._running: asyncio.Task[None] | None = None

    @property
    def address(self) -> str:
        """`host:port`, with the port that was really taken once it runs."""
        return f"[{self._host}]:{self._port}" if ":" in self._host else f"{self._host}:{self._port}"

    async def start(self) -> None:
        """Listen, and return once requests are answered.

        Raises:
            AddressTakenError: When the address cannot be listened on.
        """
        listening = self._listen()
        self._port = listening.getsockname()[1]
        config = uvicorn.Config(
            self._face,
            log_config=None,
            access_log=False,
            lifespan="off",
            server_header=False,
            timeout_keep_alive=_KEEP_ALIVE_S,
            timeout_graceful_shutdown=_GRACE_S,
            h11_max_incomplete_event_size=_HEADER_BYTES,
        )
        self._server = _Server(config)
        self._running = asyncio.create_task(self._server.serve(sockets=[listening]))
        while not self._server.started and not self._running.done():  # noqa: ASYNC110 - uvicorn has only a flag
            await asyncio.sleep(_POLL_S)
        if self._running.done():
            await self._running

    async def stop(self) -> None:
        """Let running requests finish, for five seconds at most, and close."""
        if self._server is None or self._running is None:
            return
        self._server.should_exit = True
        await self._running

    def _listen(self) -> socket.socket:
        family = socket.AF_INET6 if ":" in self._host else socket.AF_INET
        # asyncio sets TCP_NODELAY only on sockets that name their protocol; without it every answer on a kept-alive
        # connection waits 40 ms for a delayed acknowledgement
        listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((self._host, self._port))
            listening.listen(_BACKLOG)
        except OSError as error:
            listening.close()
            message = f"cannot listen on {self.address}: stop the process that uses it, or set another http.address"
            raise AddressTakenError(errno.EADDRINUSE, message) from error
        listening.setblocking(False)  # noqa: FBT003 - the socket's own signature
        return listening
