import asyncio
import os
import signal
import subprocess
import sys
import textwrap

import pytest

from memvault.faults import Fault, Reason
from memvault.runtime.lifecycle import FAILED, MISCONFIGURED, OK, run_service
from memvault.runtime.settings import SettingsError


class App:
    address = "127.0.0.1:1"

    def __init__(self, error: Exception | None = None) -> None:
        self.calls: list[str] = []
        self.error = error

    async def start(self) -> None:
        self.calls.append("start")
        if self.error:
            raise self.error
        asyncio.get_running_loop().call_later(0.05, os.kill, os.getpid(), signal.SIGTERM)

    async def stop(self) -> None:
        self.calls.append("stop")


async def run(app: App) -> int:
    async def build() -> App:
        return app

    return await run_service("test", build)


async def test_a_service_runs_until_it_is_told_to_stop_and_then_stops_in_order():
    app = App()
    assert await run(app) == OK
    assert app.calls == ["start", "stop"]


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (SettingsError("config.toml: [search] k: too small: correct it there"), MISCONFIGURED),
        (Fault(Reason.EMBEDDER_CHANGED, "set the former encoder again"), MISCONFIGURED),
        (Fault(Reason.NO_MODEL, "run `memvault models fetch`"), MISCONFIGURED),
        (Fault(Reason.STORE_UNAVAILABLE, "start the store"), FAILED),
        (OSError("127.0.0.1:1 is in use"), FAILED),
    ],
)
async def test_a_service_that_cannot_start_says_why_in_its_last_line_and_lets_go_of_what_it_took(error, code, capfd):
    app = App(error)
    assert await run(app) == code
    assert app.calls == ["start", "stop"]
    assert capfd.readouterr().err.splitlines()[-1] == str(error)


def test_a_service_ends_when_its_supervisor_is_gone():
    script = textwrap.dedent(
        """
        import asyncio, os, sys
        from memvault.runtime.lifecycle import run_service
        class App:
            address = "127.0.0.1:1"
            async def start(self): print("up", flush=True)
            async def stop(self): pass
        async def build(): return App()
        os.environ["MEMVAULT_SUPERVISOR_PID"] = "1000000000"
        sys.exit(asyncio.run(run_service("test", build)))
        """
    )
    done = subprocess.run([sys.executable, "-c", script], timeout=60, check=False, capture_output=True)
    assert done.returncode == OK
    assert b"service.orphaned" in done.stderr
