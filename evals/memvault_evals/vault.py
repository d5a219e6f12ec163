"""The vault of an evaluation: kept from run to run, filled only with what it does not hold, settled before it is asked.

It is thrown away when the code or the settings that make it have changed; vectors are kept elsewhere, so that filling
it again costs little.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import nats
from nats.js import JetStreamContext
from nats.js.errors import NotFoundError
from rich.console import Console

from memvault.bus.subjects import BLOCKS, DREAM_FINISHED
from memvault_evals.house import Client, EvalError
from memvault_evals.progress import Bars, Progress

MAKERS = ("memvault", "memvault_search", "memvault_cascade")  # whose code decides what a vault holds
SOURCES = {".py", ".toml", ".json", ".txt"}
OWNERS = frozenset({"search", "cascade", "router"})  # who reports after the nightly loop
QUIET_LIMIT_S = 1800
DREAM_LIMIT_S = 1800
PAUSE_S = 0.2
# averages of every text are corrected, so that the order of writing leaves no trace in the figures
SETTINGS = {"MEMVAULT__SEARCH__WRITING__AVERAGE_DRIFT": "0", "MEMVAULT__CASCADE__DREAM__WORK_S": "1200"}


def fingerprint(packages: Sequence[str] = MAKERS) -> str:
    """Return a hash of the sources of some packages, 16 hex digits."""
    told = hashlib.sha256()
    for name in packages:
        spec = find_spec(name)
        for folder in sorted(spec.submodule_search_locations or ()) if spec else ():
            for path in sorted(Path(folder).rglob("*")):
                if path.suffix in SOURCES:
                    told.update(str(path.relative_to(folder)).encode() + path.read_bytes())
    return told.hexdigest()[:16]


class Vault:
    """A folder for a memvault, and the record of who was written into it."""

    def __init__(self, folder: Path, made_by: str) -> None:
        """Open the vault in `folder`; one that was made by something other than `made_by` is emptied first."""
        self.folder = folder
        self._record = folder / "written.json"
        record: dict[str, Any] = json.loads(self._record.read_text(encoding="utf-8")) if self._record.exists() else {}
        if record.get("made_by") != made_by:
            shutil.rmtree(folder, ignore_errors=True)
            record = {"made_by": made_by, "settled": True, "users": {}}
        folder.mkdir(parents=True, exist_ok=True)
        self._state = record

    @property
    def home(self) -> Path:
        """MEMVAULT_HOME of the vault."""
        return self.folder / "home"

    @property
    def settled(self) -> bool:
        """Whether nothing was written since the last nightly loop."""
        return bool(self._state["settled"])

    def holds(self, user_id: str, blocks: Sequence[Mapping[str, Any]]) -> bool:
        """Tell whether exactly these blocks were written and confirmed."""
        return bool(self._state["users"].get(user_id) == _digest(blocks))

    def begin(self) -> None:
        """Something is about to be written: until it settles again the vault is not fit to be asked."""
        if self._state["settled"]:
            self._state["settled"] = False
            self._save()

    def add(self, user_id: str, blocks: Sequence[Mapping[str, Any]]) -> None:
        """Remember that these blocks were written and confirmed."""
        self._state["users"][user_id] = _digest(blocks)
        self._state["settled"] = False
        self._save()

    def fill(self, client: Client, user_id: str, blocks: Sequence[Mapping[str, Any]]) -> Iterator[int]:
        """Write a user's blocks unless they are there; yields how many more are in."""
        if self.holds(user_id, blocks):
            yield len(blocks)
            return
        self.begin()
        before = 0
        for done in client.write(user_id, blocks):
            yield min(done, len(blocks)) - before
            before = min(done, len(blocks))
        self.add(user_id, blocks)

    def settle(self, client: Client, nats_url: str, bars: Progress | None = None) -> None:
        """Wait until the graph has caught up, and run the nightly loop once; `bars` show how much is left of each.

        Raises:
            EvalError: When either takes too long.
        """
        if self.settled:
            return
        try:
            asyncio.run(_settle(client, nats_url, bars or Bars(Console(quiet=True))))
        except TimeoutError as error:
            raise EvalError("the vault did not settle in time: see the logs in its folder, and start again") from error
        self._state["settled"] = True
        self._save()

    def _save(self) -> None:
        part = self._record.with_suffix(".part")
        part.write_text(json.dumps(self._state), encoding="utf-8")
        part.replace(self._record)


def _digest(blocks: Sequence[Mapping[str, Any]]) -> str:
    return hashlib.sha256(json.dumps(blocks, sort_keys=True, ensure_ascii=False).encode()).hexdigest()[:16]


async def _settle(client: Client, nats_url: str, bars: Progress) -> None:
    connection = await nats.connect(nats_url)
    try:
        await _quiet(connection.jetstream(), bars, "working off the events of the writes")
        finished = await connection.subscribe(DREAM_FINISHED)
        run_id = (await asyncio.to_thread(client.call, "POST", "/v1/dream", {}))["event_id"]
        owners = set(OWNERS)
        bars.begin("running the nightly loop", len(owners))
        async with asyncio.timeout(DREAM_LIMIT_S):
            while owners:
                report = json.loads((await finished.next_msg(timeout=DREAM_LIMIT_S)).data)
                if report["run_id"] == run_id:
                    owners.discard(report["owner"])
                    bars.left(len(owners))
        await _quiet(connection.jetstream(), bars, "applying what the loop found")
    finally:
        await connection.close()


async def _quiet(stream: JetStreamContext, bars: Progress, what: str) -> None:
    """Wait until nobody has anything to do any more."""
    waiting = await _waiting(stream)
    bars.begin(what, waiting)
    async with asyncio.timeout(QUIET_LIMIT_S):
        while waiting:
            await asyncio.sleep(PAUSE_S)  # it is another process that works it off
            waiting = await _waiting(stream)
            bars.left(waiting)


async def _waiting(stream: JetStreamContext) -> int:
    """Messages about blocks that somebody has not handled yet."""
    try:
        durables = await stream.consumers_info(BLOCKS.name)
    except NotFoundError:
        return 0
    return sum((one.num_pending or 0) + (one.num_ack_pending or 0) for one in durables)
