"""`python -m memvault_rerank`: the service as a process of its own."""

import asyncio
import sys

from memvault.rpc.process import Process
from memvault.runtime.lifecycle import run_service
from memvault.runtime.places import Addresses
from memvault.runtime.settings import load
from memvault_rerank.app import App, build
from memvault_rerank.settings import RerankSettings

NAME = "rerank"


async def assemble() -> Process[App]:
    """Read settings and wire the process."""
    return Process(NAME, await build(load(NAME, RerankSettings)), load("addresses", Addresses).rerank)


if __name__ == "__main__":
    sys.exit(asyncio.run(run_service(NAME, assemble)))
