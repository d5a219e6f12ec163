"""The folder that holds everything of one memvault: its parts, its lock, and the record of what runs."""

from __future__ import annotations

import fcntl
import json
import os
import stat
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil

if TYPE_CHECKING:
    from collections.abc import Iterator

_SAME_START_S = 1.0
_PRIVATE = stat.S_IRWXU


class FolderError(Exception):
    """The folder cannot be used; the message is one line that says why and what to do."""


class AlreadyRunningError(Exception):
    """Another supervisor holds the folder's lock."""


@dataclass(frozen=True)
class Folder:
    """`MEMVAULT_HOME` and its parts."""

    root: Path

    @property
    def state_file(self) -> Path:
        """What runs, where and since when."""
        return self.root / "run" / "state.json"

    @property
    def lock_file(self) -> Path:
        """Held by the supervisor as long as it lives."""
        return self.root / "run" / "lock"

    @property
    def logs(self) -> Path:
        """One log file per process."""
        return self.root / "logs"

    @property
    def bytecode(self) -> Path:
        """Compiled modules, where they cannot lie beside their sources."""
        return self.root / "cache" / "bytecode"

    def data(self, name: str) -> Path:
        """Where the process `name` keeps its data."""
        return self.root / "data" / name

    def create(self) -> None:
        """Create the folder for its owner alone; one that is there stays as open as it is. Raises OSError."""
        self.root.mkdir(mode=_PRIVATE, parents=True, exist_ok=True)

    def open_to(self) -> str:
        """Who else than the owner has any right to the folder itself: `group`, `others`, both, or empty."""
        mode = self.root.stat().st_mode
        return " and ".join(name for name, right in (("group", stat.S_IRWXG), ("others", stat.S_IRWXO)) if mode & right)

    def prepare(self) -> None:
        """Create the folder, for its owner alone, and prove that it can be written to.

        Raises:
            FolderError: When it cannot.
        """
        advice = "set MEMVAULT_HOME to a folder that can be written to"
        try:
            self.create()
            for part in (self.state_file.parent, self.logs, self.root / "data"):
                part.mkdir(parents=True, exist_ok=True)
                probe = part / f".probe-{os.getpid()}"
                probe.write_bytes(b"")
                probe.unlink()
        except OSError as error:
            raise FolderError(f"{self.root} cannot be used ({error.strerror or error}): {advice}") from error

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the folder alone.

        Raises:
            AlreadyRunningError: When somebody else holds it.
        """
        descriptor = os.open(self.lock_file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise AlreadyRunningError(f"a memvault is already running in {self.root}") from error
            yield
        finally:
            os.close(descriptor)

    def held(self) -> bool:
        """True while a supervisor holds the lock."""
        if not self.lock_file.exists():
            return False
        try:
            with self.locked():
                return False
        except AlreadyRunningError:
            return True


@dataclass(frozen=True)
class Identity:
    """A process that cannot be mistaken for a later one with the same id. `started`: seconds since 1970."""

    pid: int
    started: float

    @classmethod
    def of(cls, pid: int) -> Identity:
        """The process that has this id now; `started` is 0 when it has ended already."""
        try:
            return cls(pid, psutil.Process(pid).create_time())
        except psutil.NoSuchProcess:
            return cls(pid, 0.0)

    def find(self) -> psutil.Process | None:
        """The process, if it still runs and is the one that was meant."""
        try:
            process = psutil.Process(self.pid)
            same = abs(process.create_time() - self.started) < _SAME_START_S
            return process if same and process.status() != psutil.STATUS_ZOMBIE else None
        except psutil.NoSuchProcess:
            return None


@dataclass
class ProcessState:
    """One supervised process as the state file tells it. `state`: `starting`, `ready`, `restarting` or `stopped`."""

    address: str
    instance_id: str = ""
    pid: int = 0
    started: float = 0.0
    state: str = "starting"
    restarts: int = 0


@dataclass
class State:
    """The content of the state file."""

    supervisor: int
    started: float
    mode: str
    http: str
    grpc: str
    nats: str
    redis: str
    ready: bool = False
    failure: str = ""
    processes: dict[str, ProcessState] = field(default_factory=dict)

    def identities(self) -> list[Identity]:
        """Every recorded child process, the last started first."""
        running = [Identity(item.pid, item.started) for item in self.processes.values() if item.pid]
        return running[::-1]


def write_state(folder: Folder, state: State) -> None:
    """Replace the state file as a whole, so that a reader never sees half of it."""
    draft = folder.state_file.with_suffix(".draft")
    draft.write_text(json.dumps(asdict(state), indent=1), encoding="utf-8")
    draft.replace(folder.state_file)


def read_state(folder: Folder) -> State | None:
    """What the last supervisor wrote; None when there is nothing readable."""
    try:
        told: dict[str, Any] = json.loads(folder.state_file.read_text(encoding="utf-8"))
        processes = {name: ProcessState(**item) for name, item in told.pop("processes").items()}
        return State(**told, processes=processes)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def end_leftovers(state: State, grace_s: float) -> list[int]:
    """End what a supervisor that died left behind: only processes that are provably the recorded ones.

    Returns:
        The process ids that were ended.
    """
    found = [process for identity in state.identities() if (process := identity.find()) is not None]
    for process in found:
        _signal(process, kill=False)
    _, alive = psutil.wait_procs(found, timeout=grace_s)
    for process in alive:
        _signal(process, kill=True)
    psutil.wait_procs(alive, timeout=grace_s)
    return [process.pid for process in found]


def _signal(process: psutil.Process, *, kill: bool) -> None:
    try:
        (process.kill if kill else process.terminate)()
    except psutil.NoSuchProcess:
        return
