"""A real Valkey for the stores of the router."""

from __future__ import annotations

import asyncio
import socket
import subprocess
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from redis.asyncio import Redis

from memvault.runtime.embedded import EmbeddedSettings, valkey_command, valkey_ready
from memvault.runtime.settings import load
from memvault.runtime.supervisor import Launch


@pytest.fixture(scope="session")
def valkey_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    data: Path = tmp_path_factory.mktemp("valkey")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = valkey_command(data, port, load("embedded", EmbeddedSettings, home=data))
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    launch = Launch(name="redis", pid=process.pid, instance_id=uuid4().hex, address=f"127.0.0.1:{port}")

    async def ready() -> None:
        async with asyncio.timeout(20):
            while not await valkey_ready(launch):  # noqa: ASYNC110 - another process sets no event
                await asyncio.sleep(0.02)

    asyncio.run(ready())
    yield f"redis://127.0.0.1:{port}/0"
    process.terminate()
    process.wait(10)


@pytest.fixture
async def redis(valkey_url: str) -> AsyncIterator[Redis]:
    client = Redis.from_url(valkey_url)
    await client.flushdb()
    yield client
    await client.aclose()
