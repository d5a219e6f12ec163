"""All six services in one process: the hops between them are method calls, everything else is as ever."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import grpc

import memvault_cascade.__main__ as cascade
import memvault_gateway.__main__ as gateway
import memvault_rerank.__main__ as rerank
import memvault_router.__main__ as router
import memvault_search.__main__ as search
import memvault_slow_thinker.__main__ as slow_thinker
from memvault.rpc.local import LocalChannel
from memvault.rpc.methods import Registration
from memvault.rpc.process import App

# embeddings have a contract of their own, but live in search
_OWNERS = {"embed": "search"}


class Process(Protocol):
    """What a service's `assemble` makes: the service, and how it would run as a process of its own."""

    @property
    def app(self) -> App:
        """The service itself."""
        ...

    @property
    def address(self) -> str:
        """Where it listens, if it does."""
        ...

    async def start(self) -> None:
        """Start everything, its servers included."""
        ...

    async def hear(self) -> None:
        """Connect to the bus."""
        ...

    async def stop(self) -> None:
        """Stop everything that was started."""
        ...


@dataclass(slots=True)
class Switchboard:
    """Gives every service local channels to the others; who is not built yet is looked up at the first call."""

    served: dict[str, Sequence[Registration]] = field(default_factory=dict)

    def connect(self, name: str) -> grpc.aio.Channel:
        """Return the channel to a service by its name."""
        owner = _OWNERS.get(name, name)
        return LocalChannel(lambda: self.served[owner], owner)


@dataclass(slots=True)
class House:
    """The six services. Only the gateway listens, on its public addresses."""

    rerank: Process
    search: Process
    router: Process
    cascade: Process
    gateway: Process
    slow_thinker: Process

    @property
    def address(self) -> str:
        """Where the gateway's gRPC face listens."""
        return self.gateway.address

    async def start(self) -> None:
        """Start whoever is asked before whoever asks, the bus and the public faces last."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self.search.app.start(), name="start-search")
            group.create_task(self.rerank.app.start(), name="start-rerank")
        async with asyncio.TaskGroup() as group:
            for process in (self.router, self.cascade, self.slow_thinker):
                group.create_task(_start(process), name="start-service")
        await self.gateway.start()
        async with asyncio.TaskGroup() as group:
            for process in (self.search, self.router, self.cascade, self.slow_thinker):
                group.create_task(process.hear(), name="start-bus")

    async def stop(self) -> None:
        """Close the doors first, then stop in reverse order; one that fails keeps none of the others from stopping."""
        processes: tuple[Process, ...] = (
            self.gateway,
            self.slow_thinker,
            self.cascade,
            self.router,
            self.search,
            self.rerank,
        )
        failures: list[Exception] = []
        for process in processes:
            try:
                await process.stop()
            except Exception as error:  # noqa: BLE001 - all are told together below
                failures.append(error)
        if failures:
            raise ExceptionGroup("services that did not stop cleanly", failures)


async def _start(process: Process) -> None:
    await process.app.start()


async def assemble() -> House:
    """Build the six services from the settings of this process and wire them to each other."""
    switchboard = Switchboard()
    house = House(
        rerank=await rerank.assemble(),
        search=await search.assemble(switchboard.connect),
        router=await router.assemble(switchboard.connect),
        cascade=await cascade.assemble(switchboard.connect),
        gateway=await gateway.assemble(switchboard.connect),
        slow_thinker=await slow_thinker.assemble(switchboard.connect),
    )
    parts: dict[str, Process] = {
        "rerank": house.rerank,
        "search": house.search,
        "router": house.router,
        "cascade": house.cascade,
        "gateway": house.gateway,
        "slow_thinker": house.slow_thinker,
    }
    switchboard.served.update({name: process.app.registrations for name, process in parts.items()})
    return house
