"""`python -m memvault_rerank`: the service as a process of its own."""

import asyncio
import sys
from dataclasses import dataclass

from memvault.rpc.server import RunningServer, build_server
from memvault.runtime.lifecycle import run_service
from memvault.runtime.places import Addresses, instance_id
from memvault.runtime.settings import load
from memvault_rerank.app import App, build
from memvault_rerank.settings import RerankSettings

NAME = "rerank"


@dataclass(slots=True)
class Process:
    """The service with its server."""

    app: App
    listen: str
    server: RunningServer | None = None

    @property
    def address(self) -> str:
        """Where it listens."""
        return self.server.address if self.server else self.listen

    async def start(self) -> None:
        """Load the model, then accept calls."""
        await self.app.start()
        self.server = await build_server(self.app.registrations, self.listen, NAME, instance_id())

    async def stop(self) -> None:
        """The reverse."""
        if self.server is not None:
            await self.server.stop()
        await self.app.stop()


async def assemble() -> Process:
    """Read settings and wire the process."""
    return Process(await build(load(NAME, RerankSettings)), load("addresses", Addresses).rerank)


if __name__ == "__main__":
    sys.exit(asyncio.run(run_service(NAME, assemble)))
