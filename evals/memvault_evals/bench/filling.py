"""Fills the vaults of a bench through the product, in steps that a later run can go on from, and says what it cost."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import nats
import psutil

from memvault.bus.subjects import BLOCKS
from memvault_evals.bench.plan import Vectors
from memvault_evals.house import Client, EvalError, House
from memvault_evals.synthetic import all_blocks

USER = "bench"
WRITERS = 2
PART = 100  # blocks a writer sends at once
CATCH_UP_LIMIT_S = 7200.0
QUIET_LOOKS = 5  # in a row at which nobody has work left
IDLE_LIMIT_S = 1800.0
IDLE_LOOK_S = 2.0
IDLE_SHARE = 0.2  # of a core that all processes together may take and be called idle
LOOK_EVERY_S = 0.5
DISK_BLOCK_BYTES = 512  # the unit of st_blocks
NOT_DATA = {"logs", "run"}


@dataclass(frozen=True)
class Filled:
    """Of one stretch of filling: blocks written, seconds until all could be recalled, and until the graph had them too.

    `cpu_ms` is the processor time of all processes a block, graph, communities and centralities included.
    """

    blocks: int
    searchable_s: float
    in_graph_s: float
    cpu_ms: float


@dataclass(frozen=True)
class VaultFolder:
    """One growing vault: blocks of one seed, stored with one sort of vectors."""

    folder: Path
    vectors: Vectors
    seed: int

    @property
    def home(self) -> Path:
        """MEMVAULT_HOME."""
        return self.folder / "home"

    @property
    def _note(self) -> Path:
        return self.folder / "filled.json"

    def state(self) -> dict[str, Any]:
        """What is in it: `count`, and `filled` by size; an interrupted run left an exact count.

        Raises:
            EvalError: When it was filled from another seed or with other vectors.
        """
        mine = {"seed": self.seed, "passages": self.vectors.passages}
        if not self._note.exists():
            return {**mine, "count": 0, "stretch": {}, "filled": {}}
        found: dict[str, Any] = json.loads(self._note.read_text(encoding="utf-8"))
        if {name: found[name] for name in mine} != mine:
            was = f"{found['passages']}, seed {found['seed']}"
            raise EvalError(f"{self.folder} was filled otherwise ({was}): remove it, or name another folder")
        return found

    def keep(self, state: dict[str, Any]) -> None:
        """Write the note anew."""
        part = self._note.with_suffix(".part")
        part.write_text(json.dumps(state, indent=1), encoding="utf-8")
        part.replace(self._note)

    def filled(self, size: int) -> Filled | None:
        """What filling this size took, if that was done to the end."""
        done = self.state()["filled"].get(str(size))
        return None if done is None else Filled(**done)

    def grow(self, house: House, size: int, step: Callable[[int], None]) -> Filled:
        """Write what is missing of the first `size` blocks and wait until search and graph have caught up.

        Raises:
            EvalError: When the vault is larger already, or the product does not keep up.
        """
        state = self.state()
        if state["count"] > size:
            raise EvalError(f"{self.folder} holds {state['count']} blocks, more than {size}: ask for this size first")
        before = state["stretch"] or {"blocks": 0, "searchable_s": 0.0, "cpu_ms": 0.0}
        begun, spent = time.monotonic(), _cpu_ms(house)
        missing = islice(all_blocks(self.seed), state["count"], size)

        def stretch() -> dict[str, float]:
            return {
                "blocks": before["blocks"] + state["count"] - already,
                "searchable_s": before["searchable_s"] + time.monotonic() - begun,
                "cpu_ms": before["cpu_ms"] + _cpu_ms(house) - spent,
            }

        already = state["count"]
        for wrote in _written(house, missing):
            state["count"] += wrote
            step(wrote)
            self.keep(state | {"stretch": stretch()})
        known = stretch()
        written = time.monotonic()
        asyncio.run(caught_up_with(house))
        behind_s = time.monotonic() - written
        asyncio.run(idle(house))
        count = max(1, int(known["blocks"]))
        filled = Filled(count, known["searchable_s"], known["searchable_s"] + behind_s, stretch()["cpu_ms"] / count)
        state["filled"][str(size)] = asdict(filled)
        self.keep(state | {"stretch": {}})
        return filled


def _written(house: House, blocks: Iterator[dict[str, Any]]) -> Iterator[int]:
    """Write side by side, a part for each writer, in order of parts; yields how many more are in."""

    def write(part: Sequence[dict[str, Any]]) -> int:
        if not part:
            return 0
        with closing(Client(house.http)) as client:
            for _ in client.write(USER, part):
                pass
        return len(part)

    with ThreadPoolExecutor(WRITERS) as writers:
        while True:
            parts = [list(islice(blocks, PART)) for _ in range(WRITERS)]
            wrote = sum(writers.map(write, parts))
            if not wrote:
                return
            yield wrote


async def caught_up_with(house: House) -> None:
    """Wait until every service has handled what it was told about blocks.

    Raises:
        EvalError: When that takes longer than `CATCH_UP_LIMIT_S`.
    """
    client = await nats.connect(house.state()["nats"])
    try:
        async with asyncio.timeout(CATCH_UP_LIMIT_S):
            quiet = 0
            while quiet < QUIET_LOOKS:
                told = await client.jetstream().consumers_info(BLOCKS.name)
                left = sum((one.num_pending or 0) + (one.num_ack_pending or 0) for one in told)
                quiet = 0 if left else quiet + 1
                await asyncio.sleep(LOOK_EVERY_S)
    except TimeoutError as error:
        logs = house.folder / "logs"
        raise EvalError(f"the graph was still behind after {CATCH_UP_LIMIT_S:g} s: see {logs}") from error
    finally:
        await client.close()


async def idle(house: House) -> None:
    """Wait until the processes have nothing left to do, communities and centralities included.

    Raises:
        EvalError: When they are still at work after `IDLE_LIMIT_S`.
    """
    begun, quiet = time.monotonic(), 0
    while quiet < 2:  # noqa: PLR2004 - twice, because a round of the background work begins after a pause
        before = _cpu_ms(house)
        await asyncio.sleep(IDLE_LOOK_S)
        quiet = quiet + 1 if _cpu_ms(house) - before < IDLE_SHARE * IDLE_LOOK_S * 1000 else 0
        if time.monotonic() - begun > IDLE_LIMIT_S:
            raise EvalError(
                f"nobody asks, yet the product is at work after {IDLE_LIMIT_S:g} s: see {house.folder}/logs"
            )


def memory_mb(house: House) -> dict[str, float]:
    """Resident memory of each process, in MB; pages that two of them share count twice."""
    return {name: psutil.Process(pid).memory_info().rss / 1e6 for name, pid in pids(house).items()}


def disk_bytes(home: Path) -> dict[str, int]:
    """Bytes that each part of a vault takes on the disk, without logs; holes in files do not count."""
    taken: dict[str, int] = {}
    for path in home.rglob("*"):
        part = path.relative_to(home).parts
        if part[0] in NOT_DATA or not path.is_file():
            continue
        name = "/".join(part[:2])
        taken[name] = taken.get(name, 0) + path.stat().st_blocks * DISK_BLOCK_BYTES
    return taken


def pids(house: House) -> dict[str, int]:
    """Processes by name."""
    return {name: int(one["pid"]) for name, one in house.state()["processes"].items()}


def _cpu_ms(house: House) -> float:
    spent = 0.0
    for pid in pids(house).values():
        times = psutil.Process(pid).cpu_times()
        spent += times.user + times.system + times.children_user + times.children_system
    return spent * 1000
