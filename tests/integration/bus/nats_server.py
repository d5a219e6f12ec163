"""A real NATS server for tests."""

import asyncio
import signal
import socket
import subprocess
from collections.abc import Awaitable, Callable
from pathlib import Path
from uuid import uuid4

from memvault.runtime.embedded import EmbeddedSettings, nats_command, nats_ready
from memvault.runtime.settings import load
from memvault.runtime.supervisor import Launch


class NatsServer:
    """A real nats-server of the test, which can be killed and started again over the same data."""

    def __init__(self, data: Path) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.url = f"nats://127.0.0.1:{self.port}"
        self._command = nats_command(data, self.port, load("embedded", EmbeddedSettings, home=data))
        self._process: subprocess.Popen[bytes] | None = None

    async def start(self) -> None:
        instance = uuid4().hex
        command = [word.format(instance_id=instance) for word in self._command]
        self._process = subprocess.Popen(  # noqa: ASYNC220 - killed from synchronous code
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        launch = Launch(name="nats", pid=self._process.pid, instance_id=instance, address=f"127.0.0.1:{self.port}")
        async with asyncio.timeout(20):
            while not await nats_ready(launch):  # noqa: ASYNC110 - another process sets no event
                await asyncio.sleep(0.02)

    def kill(self, how: signal.Signals = signal.SIGKILL) -> None:
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(10)
            self._process = None


async def eventually(condition: Callable[[], Awaitable[bool] | bool], timeout_s: float = 20.0) -> None:
    """Wait until the condition holds; the test fails when it never does."""
    async with asyncio.timeout(timeout_s):
        while True:
            result = condition()
            if result if isinstance(result, bool) else await result:
                return
            await asyncio.sleep(0.02)
