"""`python -m memvault.runtime.house`: a whole memvault on this machine under one supervisor, until told to stop."""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, TextIO, get_args

from memvault.runtime.embedded import MissingBinaryError
from memvault.runtime.exits import Exit
from memvault.runtime.folder import (
    AlreadyRunningError,
    Folder,
    FolderError,
    Identity,
    State,
    end_leftovers,
    read_state,
    write_state,
)
from memvault.runtime.logs import Log
from memvault.runtime.settings import SettingsError, home, load
from memvault.runtime.supervisor import StartFailedError, Supervisor, SupervisorSettings
from memvault.runtime.topology import Mode, Plan, PortTakenError, plan

if TYPE_CHECKING:
    from collections.abc import Callable

EXITS: tuple[tuple[type[Exception], Exit], ...] = (
    (AlreadyRunningError, Exit.ALREADY_RUNNING),
    (PortTakenError, Exit.PORT_TAKEN),
    (FolderError, Exit.FOLDER),
    (SettingsError, Exit.MISCONFIGURED),
    (MissingBinaryError, Exit.MISCONFIGURED),
    (StartFailedError, Exit.FAILED),
)
"""What can keep a memvault from starting, and the exit code of each. All messages are one line."""


def exit_of(error: Exception) -> Exit:
    """The exit code for an error of `EXITS`."""
    return next(code for kind, code in EXITS if isinstance(error, kind))


def run(folder: Folder, mode: Mode, terminal: TextIO | None = None, make: Callable[[Folder, Mode], Plan] = plan) -> int:
    """Run until SIGTERM or SIGINT; returns the exit code after everything has stopped.

    Args:
        folder: Where the data lives.
        mode: `six` processes, or all services in `one`.
        terminal: Where log lines go beside the files; None: nowhere.
        make: What to run; for tests.
    """
    try:
        folder.prepare()
        with folder.locked():
            return asyncio.run(_supervise(folder, mode, terminal, make))
    except tuple(kind for kind, _ in EXITS) as error:
        sys.stderr.write(f"memvault: {error}\n")
        return exit_of(error)


async def _supervise(folder: Folder, mode: Mode, terminal: TextIO | None, make: Callable[[Folder, Mode], Plan]) -> int:
    settings = load("supervisor", SupervisorSettings, home=folder.root)
    left = read_state(folder)
    if left is not None:
        await asyncio.to_thread(end_leftovers, left, settings.grace_s)
    folder.state_file.unlink(missing_ok=True)
    made = make(folder, mode)
    own = Identity.of(os.getpid())
    state = State(own.pid, own.started, mode, f"http://{made.http}", made.grpc, made.nats, made.redis)
    log = Log(folder, settings.log_max_bytes, terminal, width=max(len(spec.name) for spec in made.specs))
    supervisor = Supervisor(made.specs, state, folder, settings, log)
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    try:
        await _start_unless(stop, supervisor, log)
        await stop.wait()
    except StartFailedError as error:
        state.failure = str(error)
        raise
    finally:
        await supervisor.stop()
        log.close()
        state.ready = False
        write_state(folder, state)
    return Exit.OK


async def _start_unless(stop: asyncio.Event, supervisor: Supervisor, log: Log) -> None:
    """Start everything, but break off at once when a stop is asked for meanwhile."""
    begin = time.monotonic()
    starting = asyncio.create_task(supervisor.start())
    stopping = asyncio.create_task(stop.wait())
    await asyncio.wait({starting, stopping}, return_when=asyncio.FIRST_COMPLETED)
    stopping.cancel()
    if starting.done():
        await starting
        log.note("memvault", f"everything is ready after {time.monotonic() - begin:.2f} s")
    else:
        starting.cancel()
        await asyncio.gather(starting, return_exceptions=True)


def main() -> int:
    """Entry of the detached process; its arguments are those that `memvault up` passes."""
    parser = argparse.ArgumentParser(prog="python -m memvault.runtime.house", description=__doc__)
    parser.add_argument("--mode", choices=get_args(Mode), default="six")
    parser.add_argument("--home", type=Path, default=None)
    chosen = parser.parse_args()
    return run(Folder((chosen.home or home()).absolute()), chosen.mode)


if __name__ == "__main__":
    sys.exit(main())
