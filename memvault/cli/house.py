"""`memvault up` and `memvault down`: start and stop everything on this machine."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memvault.cli import output, where
from memvault.cli.failure import CommandError
from memvault.cli.options import Json
from memvault.runtime.exits import Exit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memvault.runtime.folder import Folder, State
    from memvault.runtime.topology import Mode

_POLL_S = 0.05
_DOWN_LIMIT_S = 90.0


def up(
    foreground: Annotated[bool, typer.Option("--foreground", help="Stay, and show the logs; ctrl-C stops.")] = False,
    in_process: Annotated[
        bool, typer.Option("--in-process", help="All six services in one process: less memory, quicker hops.")
    ] = False,
    timeout: Annotated[float, typer.Option(min=1, help="Seconds until everything has to be ready.")] = 180.0,
    json: Json = False,
) -> None:
    """Start everything on this machine and return once it is ready."""
    # imported here: no other command needs what starts processes
    from memvault.runtime import house  # noqa: PLC0415
    from memvault.runtime.folder import Folder  # noqa: PLC0415
    from memvault.runtime.topology import plan  # noqa: PLC0415

    folder = Folder(where.home())
    mode: Mode = "one" if in_process else "six"
    if foreground:
        raise typer.Exit(house.run(folder, mode, sys.stderr))
    try:
        # The detached process looks at all of this again; here it can still be told in one line at once.
        folder.prepare()
        if not folder.held():
            plan(folder, mode)
    except tuple(kind for kind, _ in house.EXITS) as error:
        raise CommandError(house.exit_of(error), str(error)) from error
    if folder.held():
        _already(folder, json=json)
    begin = time.monotonic()
    state = _detach(folder, mode, timeout, silent=json)
    if json:
        output.print_json(where.state())
        return
    console = output.console()
    console.print(
        f"[green]✓[/] memvault is ready after {time.monotonic() - begin:.1f} s ({len(state.processes)} processes)"
    )
    console.print(f"  HTTP [bold]{state.http}[/] · gRPC [bold]{state.grpc}[/] · data and logs in {folder.root}")


def down(json: Json = False) -> None:
    """Stop everything that runs in the folder, also what a killed supervisor left behind."""
    from memvault.runtime.folder import Folder, Identity, end_leftovers, read_state  # noqa: PLC0415 - as above

    folder = Folder(where.home())
    state = read_state(folder)
    held = folder.held()
    ended: list[int] = []
    if held and state is not None:
        supervisor = Identity(state.supervisor, state.started).find()
        if supervisor is None:
            raise CommandError(
                Exit.FAILED, f"{folder.lock_file} is held by a process that is not in {folder.state_file}"
            )
        ended = [item.pid for item in state.processes.values() if item.pid] + [supervisor.pid]
        supervisor.send_signal(signal.SIGTERM)
        give_up = time.monotonic() + _DOWN_LIMIT_S
        while folder.held():
            if time.monotonic() > give_up:
                supervisor.kill()
                break
            time.sleep(_POLL_S)
    if state is not None and (found := end_leftovers(state, grace_s=10.0)):
        ended = sorted({*ended, *found})
    if json:
        output.print_json({"stopped": ended})
    else:
        told = f"[green]✓[/] stopped {len(ended)} processes" if ended else "nothing runs here"
        output.console().print(told)


def _already(folder: Folder, *, json: bool) -> None:
    state = where.state()
    if json:
        output.print_json(state)
    url = state.get("http", "an address that is not known yet")
    raise CommandError(
        Exit.ALREADY_RUNNING, f"a memvault is already running in {folder.root} ({url}): stop it with `memvault down`"
    )


def _detach(folder: Folder, mode: str, timeout_s: float, *, silent: bool) -> State:
    """Start the supervisor as a process of its own and wait until it says that all is ready."""
    command = [sys.executable, "-m", "memvault.runtime.house", "--mode", mode, "--home", str(folder.root)]
    log = folder.logs / "supervisor.log"
    with log.open("ab") as sink:
        process = subprocess.Popen(  # noqa: S603 - our own module
            command, stdin=subprocess.DEVNULL, stdout=sink, stderr=sink, start_new_session=True, cwd="/"
        )
    give_up = time.monotonic() + timeout_s
    with _progress(silent=silent) as show:
        while time.monotonic() < give_up:
            state = _state_of(folder, process.pid)
            if state is not None:
                show(state)
                if state.ready:
                    return state
            if process.poll() is not None:
                raise CommandError(_exit(process.returncode), _last_line(log))
            time.sleep(_POLL_S)
    # before it stops, or all of them are on their way down
    waiting = [name for name, item in where.state().get("processes", {}).items() if item.get("state") != "ready"]
    process.send_signal(signal.SIGTERM)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(_DOWN_LIMIT_S)
    raise CommandError(
        Exit.FAILED, f"not ready within {timeout_s:g} s, waiting for {', '.join(waiting)}: see {folder.logs}"
    )


def _state_of(folder: Folder, supervisor: int) -> State | None:
    from memvault.runtime.folder import read_state  # noqa: PLC0415 - as above

    state = read_state(folder)
    return state if state is not None and state.supervisor == supervisor else None


@contextlib.contextmanager
def _progress(*, silent: bool) -> Iterator[Any]:
    """One line on stderr that tells who is ready; nothing where nobody looks."""
    if silent or not sys.stderr.isatty():
        yield lambda _: None
        return
    with output.messages().status("starting") as spinner:

        def show(state: State) -> None:
            marks = (
                f"[green]{name}[/]" if item.state == "ready" else f"[dim]{name}[/]"
                for name, item in state.processes.items()
            )
            spinner.update(f"starting: {' '.join(marks)}")

        yield show


def _exit(code: int) -> Exit:
    return Exit(code) if code in set(Exit) else Exit.FAILED


def _last_line(log: os.PathLike[str]) -> str:
    with open(log, "rb") as stream:  # noqa: PTH123 - of a path-like
        stream.seek(max(0, os.path.getsize(log) - 4096))  # noqa: PTH202 - of a path-like
        lines = stream.read().decode(errors="replace").strip().splitlines()
    return lines[-1].removeprefix("memvault: ") if lines else f"the supervisor ended at once: see {log}"
