"""A whole memvault under its supervisor: real NATS and Valkey, stand-ins for the six services."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
import redis

from memvault.runtime.exits import Exit
from memvault.runtime.folder import Folder, State, read_state, write_state
from memvault.runtime.topology import SERVICES

SCRIPT = Path(__file__).with_name("house_of_stand_ins.py")
EVERYTHING = {"nats", "valkey", *SERVICES}
pytestmark = pytest.mark.slow


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class House:
    """A supervisor started by the test in a process of its own."""

    def __init__(self, root: Path) -> None:
        self.folder = Folder(root)
        self.http, self.grpc = free_port(), free_port()
        self.process: subprocess.Popen[str] | None = None

    def open(self, *arguments: str, wait: bool = True) -> subprocess.Popen[str]:
        environment = {
            **os.environ,
            "MEMVAULT__HTTP__ADDRESS": f"127.0.0.1:{self.http}",
            "MEMVAULT__ADDRESSES__GATEWAY": f"127.0.0.1:{self.grpc}",
            "MEMVAULT__SUPERVISOR__GRACE_S": "5",
        }
        command = [sys.executable, str(SCRIPT), str(self.folder.root), *arguments]
        process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
        if wait:
            self.process = process
            eventually(lambda: self.state().ready)
        return process

    def state(self) -> State:
        found = read_state(self.folder)
        return found or State(0, 0, "six", "", "", "", "")

    def pids(self) -> dict[str, int]:
        return {name: item.pid for name, item in self.state().processes.items()}

    def close(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.communicate(timeout=40)
        for pid in self.pids().values():
            if pid:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)


def eventually(condition: Callable[[], bool], timeout_s: float = 40.0) -> None:
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.05)


def gone(pids: dict[str, int]) -> bool:
    return not any(psutil.pid_exists(pid) and psutil.Process(pid).status() != "zombie" for pid in pids.values() if pid)


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    made = House(tmp_path / "home")
    yield made
    made.close()


def test_everything_starts_is_recorded_and_stops_in_order_leaving_no_process(house: House) -> None:
    process = house.open()
    state = house.state()
    assert set(state.processes) == EVERYTHING
    assert {item.state for item in state.processes.values()} == {"ready"}
    assert state.http == f"http://127.0.0.1:{house.http}"
    pids = house.pids()
    process.send_signal(signal.SIGINT)
    assert process.wait(40) == Exit.OK
    assert gone(pids)
    order = (house.folder.root / "order").read_text().split()
    for asking, asked in (("slow_thinker", "gateway"), ("gateway", "router"), ("router", "search")):
        assert order.index(asking) < order.index(asked)
    assert {item.state for item in house.state().processes.values()} == {"stopped"}
    log = (house.folder.logs / "search.log").read_text()
    assert f"search is here with nats at {state.nats}" in log


def test_a_killed_process_is_back_within_seconds_at_the_same_address(house: House) -> None:
    house.open()
    for name in ("search", "nats", "valkey"):
        before = house.state().processes[name]
        os.kill(before.pid, signal.SIGKILL)
        begin = time.monotonic()
        eventually(
            lambda name=name, before=before: (
                house.state().processes[name].state == "ready" and house.state().processes[name].pid != before.pid
            )
        )
        assert time.monotonic() - begin < 10
        after = house.state().processes[name]
        assert (after.address, after.restarts) == (before.address, 1)
        assert after.instance_id != before.instance_id


def test_what_valkey_stored_survives_kill_9(house: House) -> None:
    house.open()
    url, pid = house.state().redis, house.pids()["valkey"]
    with redis.Redis.from_url(url) as client:
        client.set("kept", "yes")
    os.kill(pid, signal.SIGKILL)
    eventually(lambda: house.state().processes["valkey"].state == "ready" and house.pids()["valkey"] != pid)
    with redis.Redis.from_url(url) as client:
        assert client.get("kept") == b"yes"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the kernel ends children with their parent on Linux")
def test_kill_9_of_the_supervisor_leaves_no_orphan(house: House) -> None:
    process = house.open()
    pids = house.pids()
    process.kill()
    process.wait(10)
    eventually(lambda: gone(pids), timeout_s=10)


def test_the_next_start_ends_what_a_dead_supervisor_left_but_nothing_else(house: House, tmp_path: Path) -> None:
    process = house.open()
    process.kill()
    process.wait(10)
    state = house.state()
    left = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    stranger = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    state.processes["search"].pid = left.pid
    state.processes["search"].started = psutil.Process(left.pid).create_time()
    state.processes["router"].pid = stranger.pid
    state.processes["router"].started = 1000.0
    write_state(house.folder, state)
    house.open()
    assert left.wait(10) == -signal.SIGTERM
    assert stranger.poll() is None
    stranger.kill()
    stranger.wait()


def test_a_second_start_in_the_same_folder_is_refused_in_one_line(house: House) -> None:
    house.open()
    second = house.open(wait=False)
    _, told = second.communicate(timeout=20)
    assert second.returncode == Exit.ALREADY_RUNNING
    assert told == f"memvault: a memvault is already running in {house.folder.root}\n"


def test_a_taken_port_is_told_in_one_line(house: House) -> None:
    with socket.create_server(("127.0.0.1", house.http)):
        process = house.open(wait=False)
        _, told = process.communicate(timeout=20)
    assert process.returncode == Exit.PORT_TAKEN
    assert len(told.splitlines()) == 1
    assert f"127.0.0.1:{house.http} cannot be used" in told
    assert "MEMVAULT__HTTP__ADDRESS" in told


def test_a_folder_below_a_file_is_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    house = House(tmp_path / "file" / "home")
    process = house.open(wait=False)
    _, told = process.communicate(timeout=20)
    assert process.returncode == Exit.FOLDER
    assert len(told.splitlines()) == 1
    assert "Not a directory" in told
    assert "MEMVAULT_HOME" in told


def test_a_process_that_cannot_start_fails_the_whole_start_with_its_own_words(house: House) -> None:
    process = house.open("cascade", wait=False)
    _, told = process.communicate(timeout=60)
    assert process.returncode == Exit.FAILED
    assert told.splitlines()[-1].startswith(
        "memvault: cascade does not start: cannot open the index: it was made by another encoder"
    )
    assert "cascade does not start" in house.state().failure
    assert gone(house.pids())
