"""A service as a process of its own: its app, its gRPC server, its bus and what it opened, in order."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

import grpc

from memvault.rpc.methods import Registration
from memvault.rpc.server import RunningServer, build_server
from memvault.runtime.places import instance_id

Close = Callable[[], Awaitable[object]]
"""Lets go of something that was opened for the process."""


class App(Protocol):
    """What a service's composition root makes."""

    @property
    def registrations(self) -> Sequence[Registration]:
        """What it serves."""
        ...

    async def start(self) -> None:
        """Load what it needs before it can be asked."""
        ...

    async def stop(self) -> None:
        """Let go of what `start` took."""
        ...


class Listener(Protocol):
    """A connection to the bus: a service hears of facts through it, and tells of them."""

    @property
    def connect_timeout_s(self) -> float:
        """Seconds that a start waits for the bus before it goes on without."""
        ...

    async def start(self, timeout_s: float) -> bool:
        """Connect; False when the bus is away, which is tried on in the background."""
        ...

    async def stop(self) -> None:
        """Disconnect."""
        ...


A = TypeVar("A", bound=App)


@dataclass(slots=True)
class Process(Generic[A]):
    """A service with its server and its bus.

    Attributes:
        name: Of the service.
        app: The service itself.
        listen: `host:port` of its gRPC server.
        bus: None when it hears and tells nothing.
        tells_to_the_end: The app still tells facts while it stops, so that the bus goes after it, else before.
        channels: To the services that it asks; closed at the end.
        opened: How to let go of what else was opened for the process, in this order.
        server: Once it accepts calls.
    """

    name: str
    app: A
    listen: str
    bus: Listener | None = None
    tells_to_the_end: bool = False
    channels: Sequence[grpc.aio.Channel] = ()
    opened: Sequence[Close] = ()
    server: RunningServer | None = field(default=None, init=False)

    @property
    def address(self) -> str:
        """Where it listens."""
        return self.server.address if self.server else self.listen

    async def start(self) -> None:
        """The app first, then questions, then facts."""
        await self.app.start()
        await self.serve()
        await self.hear()

    async def stop(self) -> None:
        """Let no new work in, finish what is under way, close what was opened."""
        if self.bus is not None and not self.tells_to_the_end:
            await self.bus.stop()
        await self.close_doors()
        await self.app.stop()
        if self.bus is not None and self.tells_to_the_end:
            await self.bus.stop()
        for channel in self.channels:
            await channel.close(None)
        for close in self.opened:
            await close()

    async def serve(self) -> None:
        """Accept calls."""
        self.server = await build_server(self.app.registrations, self.listen, self.name, instance_id())

    async def close_doors(self) -> None:
        """Accept no more calls, and let those under way end."""
        if self.server is not None:
            await self.server.stop()

    async def hear(self) -> None:
        """Connect to the bus, or go on trying in the background."""
        if self.bus is not None:
            await self.bus.start(self.bus.connect_timeout_s)
