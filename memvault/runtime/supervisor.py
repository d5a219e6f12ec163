"""Keeps the processes of one memvault running: dependency order, readiness, restarts, logs, an orderly stop."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated
from uuid import uuid4

from pydantic import BaseModel, ConfigDict, Field

from memvault.runtime.child import die_with_parent
from memvault.runtime.exits import Exit
from memvault.runtime.folder import Folder, Identity, ProcessState, State, write_state

if TYPE_CHECKING:
    from memvault.runtime.logs import Log

Seconds = Annotated[float, Field(gt=0)]


class SupervisorSettings(BaseModel):
    """Section `supervisor`; times in seconds.

    Attributes:
        probe_every_s: Between two looks at a process that is not ready yet.
        watch_every_s: Between two looks at one that is.
        hang_after_s: A process that was ready and answers no more for so long is restarted.
        ready_timeout_s: One that does not become ready in so long is restarted.
        restart_first_s: Pause before the first restart; doubles up to `restart_cap_s`.
        stable_after_s: Having run so long, a process starts again with the first pause.
        give_up_after: Failed first starts of a process after which the whole start fails.
        grace_s: To stop by itself before it is killed.
        log_max_bytes: A log file above it is put aside when a process starts.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    probe_every_s: Seconds
    watch_every_s: Seconds
    hang_after_s: Seconds
    ready_timeout_s: Seconds
    restart_first_s: Seconds
    restart_cap_s: Seconds
    stable_after_s: Seconds
    give_up_after: Annotated[int, Field(ge=1)]
    grace_s: Seconds
    log_max_bytes: Annotated[int, Field(ge=1024)]


@dataclass(frozen=True)
class Launch:
    """One start of one process: `address` is `host:port`, `instance_id` is known to no other start."""

    name: str
    pid: int
    instance_id: str
    address: str


@dataclass(frozen=True)
class ProcessSpec:
    """A process to keep running. `{instance_id}` in the command is filled in at every start.

    Attributes:
        name: Of the process, its log file and its entry in the state file.
        command: Program and arguments.
        address: `host:port` that it listens on.
        ready: Whether this very start takes calls.
        after: Names of the processes that must be ready before it is started; they are stopped after it.
        environment: Beside the supervisor's own.
        asks: Names of the processes that it asks once it runs: started together with it, stopped after it.
    """

    name: str
    command: tuple[str, ...]
    address: str
    ready: Callable[[Launch], Awaitable[bool]]
    after: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    asks: tuple[str, ...] = ()


class StartFailedError(Exception):
    """A process could not be started; the message names its log."""


@dataclass
class _Child:
    spec: ProcessSpec
    state: ProcessState
    ready: asyncio.Event = field(default_factory=asyncio.Event)
    process: asyncio.subprocess.Process | None = None
    failures: int = 0
    was_ready: bool = False


class Supervisor:
    """Starts the processes of `specs` and keeps them running until `stop`."""

    def __init__(
        self, specs: Sequence[ProcessSpec], state: State, folder: Folder, settings: SupervisorSettings, log: Log
    ) -> None:
        """`state` is kept up to date and written to `folder`; `log` gets every line of every process."""
        self._children = {spec.name: _Child(spec, ProcessState(spec.address)) for spec in specs}
        self._state = state
        self._folder = folder
        self._settings = settings
        self._log = log
        self._stop = asyncio.Event()
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._failed: asyncio.Future[None] | None = None
        state.processes = {name: child.state for name, child in self._children.items()}

    async def start(self) -> None:
        """Start everything and return once all are ready.

        Raises:
            StartFailedError: When one could not be started in several tries.
        """
        self._failed = asyncio.get_running_loop().create_future()
        for name, child in self._children.items():
            self._tasks[name] = asyncio.create_task(self._keep(child), name=f"keep-{name}")
        everything = asyncio.gather(*(child.ready.wait() for child in self._children.values()))
        try:
            awaited: set[asyncio.Future[object]] = {everything, self._failed}  # type: ignore[arg-type] # only waited for
            await asyncio.wait(awaited, return_when=asyncio.FIRST_COMPLETED)
            if self._failed.done():
                await self._failed
        finally:
            everything.cancel()
            await asyncio.gather(everything, return_exceptions=True)
        self._state.ready = True
        write_state(self._folder, self._state)

    async def stop(self) -> None:
        """Stop everything, dependants before what they depend on."""
        self._stop.set()
        remaining = dict(self._children)
        while remaining:
            needed = {name for child in remaining.values() for name in (*child.spec.after, *child.spec.asks)}
            level = [child for name, child in remaining.items() if name not in needed] or list(remaining.values())
            await asyncio.gather(*(self._end(child) for child in level))
            for child in level:
                del remaining[child.spec.name]
        write_state(self._folder, self._state)

    async def _keep(self, child: _Child) -> None:
        for name in child.spec.after:
            await self._children[name].ready.wait()
        while not self._stop.is_set():
            begin = time.monotonic()
            code = await self._run_once(child)
            child.ready.clear()
            if self._stop.is_set():
                return
            self._count(child, code, ran_s=time.monotonic() - begin)
            pause = min(self._settings.restart_cap_s, self._settings.restart_first_s * 2 ** min(child.failures - 1, 16))
            self._log.note(child.spec.name, f"ended with {_told(code)}; starting again in {pause:g} s")
            self._note(child, "restarting")
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stop.wait(), pause)

    async def _run_once(self, child: _Child) -> int:
        launch, process = await self._launch(child)
        assert process.stdout is not None  # noqa: S101 - it was asked for
        pump = asyncio.create_task(self._log.pump(child.spec.name, process.stdout))
        watch = asyncio.create_task(self._watch(child, launch))
        try:
            code = await process.wait()
        finally:
            watch.cancel()
            await asyncio.gather(watch, return_exceptions=True)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(pump, self._settings.restart_first_s)  # a grandchild may hold the pipe open
        child.process = None
        return code

    async def _launch(self, child: _Child) -> tuple[Launch, asyncio.subprocess.Process]:
        spec, instance = child.spec, uuid4().hex
        own = {"MEMVAULT_INSTANCE_ID": instance, "MEMVAULT_SUPERVISOR_PID": str(os.getpid()), "PYTHONUNBUFFERED": "1"}
        process = await asyncio.create_subprocess_exec(
            *(word.replace("{instance_id}", instance) for word in spec.command),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            env={**os.environ, **spec.environment, **own},
            start_new_session=True,
            preexec_fn=die_with_parent(os.getpid()),
        )
        child.process = process
        identity = Identity.of(process.pid)
        child.state.pid, child.state.started, child.state.instance_id = process.pid, identity.started, instance
        self._note(child, "starting")
        return Launch(spec.name, process.pid, instance, spec.address), process

    async def _watch(self, child: _Child, launch: Launch) -> None:
        """Look whether the process is ready; kill it when it never gets there, or hangs later."""
        settings = self._settings
        begin = last_answer = time.monotonic()
        while True:
            ready = await child.spec.ready(launch)
            now = time.monotonic()
            if ready:
                last_answer = now
                if not child.ready.is_set():
                    self._log.note(launch.name, f"ready after {now - begin:.2f} s")
                    child.was_ready = True
                    child.ready.set()
                    self._note(child, "ready")
            patience = settings.hang_after_s if child.ready.is_set() else settings.ready_timeout_s
            if now - last_answer > patience:
                self._log.note(launch.name, f"no answer for {patience:g} s: killed")
                _signal(child, signal.SIGKILL)
                return
            await asyncio.sleep(settings.watch_every_s if child.ready.is_set() else settings.probe_every_s)

    def _count(self, child: _Child, code: int, ran_s: float) -> None:
        child.failures = 1 if ran_s > self._settings.stable_after_s else child.failures + 1
        child.state.restarts += 1
        hopeless = code == Exit.MISCONFIGURED or child.failures >= self._settings.give_up_after
        never = not child.was_ready and hopeless
        if never and self._failed is not None and not self._failed.done():
            last = self._log.last(child.spec.name)
            log = self._log.path(child.spec.name)
            self._failed.set_exception(StartFailedError(f"{child.spec.name} does not start: {last} (see {log})"))

    async def _end(self, child: _Child) -> None:
        _signal(child, signal.SIGTERM)
        task = self._tasks.get(child.spec.name)
        if task is not None:
            if child.process is None:
                task.cancel()
            _, pending = await asyncio.wait({task}, timeout=self._settings.grace_s)
            if pending:
                self._log.note(child.spec.name, f"did not stop within {self._settings.grace_s:g} s: killed")
                _signal(child, signal.SIGKILL)
                await asyncio.wait({task}, timeout=self._settings.grace_s)
                task.cancel()
        child.state.pid = 0
        self._note(child, "stopped")

    def _note(self, child: _Child, state: str) -> None:
        child.state.state = state
        write_state(self._folder, self._state)


def _signal(child: _Child, how: signal.Signals) -> None:
    if child.process is not None and child.process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.process.pid, how)


def _told(code: int) -> str:
    return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
