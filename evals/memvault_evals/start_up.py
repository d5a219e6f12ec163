"""`python -m memvault_evals.start_up`: how long a memvault takes to start, and each killed service to be ready again.

First the house starts in a new folder, then once more over the same folder, then every service is killed (SIGKILL) in
turn and waited for. CPU seconds stand beside the clock, because a shared machine stretches only the clock.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import psutil

from memvault_evals.house import Client, EvalError, House, Mode, load_average, stamp, temporary_folder
from memvault_evals.synthetic import blocks

USER = "start-up"
SEED = 20
SERVICES = ("rerank", "search", "router", "cascade", "slow_thinker", "gateway")
LIMIT_S = 180.0
LOOK_EVERY_S = 0.05


@dataclass(frozen=True)
class Taken:
    """One start: what was started, seconds until ready, CPU seconds of its processes until then, the load before."""

    what: str
    ready_s: float
    cpu_s: float
    load: str


@contextmanager
def started(house: House, what: str, rows: list[Taken]) -> Iterator[None]:
    """Start the house, add to `rows` how long it took, and stop it in the end."""
    load, begin = load_average(), time.monotonic()
    with house:
        took = time.monotonic() - begin
        cpu_s = sum(_cpu_s(one["pid"]) for one in house.state()["processes"].values())
        rows.append(Taken(what, took, cpu_s, load))
        yield


def killed(house: House, name: str) -> Taken:
    """Kill a service and return how long its next start took to be ready.

    Raises:
        EvalError: When it is not ready within `LIMIT_S`.
    """
    before = _process(house, name)
    load, begin = load_average(), time.monotonic()
    os.kill(before["pid"], signal.SIGKILL)
    while time.monotonic() - begin < LIMIT_S:
        now = _process(house, name)
        if now["instance_id"] != before["instance_id"] and now["state"] == "ready":
            return Taken(f"{name} killed", time.monotonic() - begin, _cpu_s(now["pid"]), load)
        time.sleep(LOOK_EVERY_S)
    raise EvalError(f"{name} was not ready {LIMIT_S:g} s after a kill: see {house.folder / 'logs'}")


def measure(mode: Mode, count: int, folder: Path) -> list[Taken]:
    """Run all starts in `folder`; from the second on over `count` synthetic blocks."""
    rows: list[Taken] = []
    house = House(folder, mode)
    with started(house, "first start", rows), closing(Client(house.http)) as client:
        for _ in client.write(USER, blocks(count, seed=SEED)):
            pass
    with started(house, "next start", rows):
        rows += [killed(house, name) for name in (SERVICES if mode == "six" else ("laptop",))]
    return rows


def _process(house: House, name: str) -> dict[str, Any]:
    found: dict[str, Any] = house.state()["processes"][name]
    return found


def _cpu_s(pid: int) -> float:
    times = psutil.Process(pid).cpu_times()
    return float(times.user + times.system)


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m memvault_evals.start_up", description=__doc__)
    parser.add_argument("--mode", choices=("six", "one"), default="six")
    parser.add_argument("--blocks", type=int, default=50, help="synthetic blocks written before the second start")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    try:
        with temporary_folder() as folder:
            rows = measure(asked.mode, asked.blocks, folder)
    except EvalError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    if asked.json:
        sys.stdout.write(json.dumps({"at": stamp(), "mode": asked.mode, "rows": [asdict(row) for row in rows]}) + "\n")
        return 0
    sys.stdout.write(f"{stamp()}, mode {asked.mode}, {asked.blocks} blocks\n")
    for row in rows:
        sys.stdout.write(f"{row.what:22} ready {row.ready_s:6.2f} s   cpu {row.cpu_s:6.2f} s   load {row.load}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
