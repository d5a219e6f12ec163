"""A whole memvault whose reranker does what a file says: runs under the real supervisor, in the foreground.

Usage: python house_with_moody_reranker.py MEMVAULT_HOME; moods are read anew for every batch from MEMVAULT_HOME/mood.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from memvault.rpc.process import Process
from memvault.runtime import house
from memvault.runtime.batching import BatchQueue, Urgency
from memvault.runtime.folder import Folder
from memvault.runtime.lifecycle import run_service
from memvault.runtime.places import Addresses
from memvault.runtime.settings import home, load
from memvault.runtime.topology import Mode, Plan, plan
from memvault_rerank.app import App, build
from memvault_rerank.domain.reading import Batched, Reading, Score
from memvault_rerank.settings import RerankSettings

STALL_S = 30.0
SERVICE = "--service"


class MoodyModel:
    """Scores in the given order, or has the trouble that the file names: `fail`, `nan`, `stall` or `die`."""

    name = "moody"

    def __init__(self, mood: Path) -> None:
        self._mood = mood
        self._queue = BatchQueue[Reading, list[Score]](self._score, _documents, batch_size=400, name="reranker")

    async def start(self) -> None:
        await self._queue.start(lambda: None)

    async def stop(self) -> None:
        await self._queue.stop()

    @property
    def batched(self) -> Batched:
        return Batched(self._queue.works, self._queue.batches)

    def lacks(self, reading: Reading) -> str:
        del reading
        return ""

    async def score(self, reading: Reading, *, within_s: float) -> list[Score]:
        (scores,) = await self._queue.submit([reading], urgency=Urgency.NOW, within_s=within_s)
        return scores

    def _score(self, batch: Sequence[Reading]) -> list[list[Score]]:
        mood = self._mood.read_text("utf-8") if self._mood.exists() else ""
        if mood == "fail":
            raise RuntimeError("out of memory")
        if mood == "die":
            os._exit(1)
        if mood == "stall":
            self._stall()
        first = float("nan") if mood == "nan" else 0.0
        return [[Score(one.id, first - place) for place, one in enumerate(reading.documents)] for reading in batch]

    def _stall(self) -> None:
        """Hold the model's thread until the mood is better, or half a minute is over."""
        end = time.monotonic() + STALL_S
        while time.monotonic() < end and self._mood.read_text("utf-8") == "stall":
            time.sleep(0.05)


def _documents(reading: Reading) -> int:
    return len(reading.documents)


async def assemble() -> Process[App]:
    app = await build(load("rerank", RerankSettings), model=MoodyModel(home() / "mood"))
    return Process("rerank", app, load("addresses", Addresses).rerank)


def with_moody_reranker(folder: Folder, mode: Mode) -> Plan:
    made = plan(folder, mode)
    command = (sys.executable, __file__, SERVICE)
    specs = [replace(spec, command=command) if spec.name == "rerank" else spec for spec in made.specs]
    return replace(made, specs=tuple(specs))


if __name__ == "__main__":
    if sys.argv[1] == SERVICE:
        sys.exit(asyncio.run(run_service("rerank", assemble)))
    sys.exit(house.run(Folder(Path(sys.argv[1])), "six", sys.stderr, with_moody_reranker))
