"""What was acknowledged is there after the process was killed in the middle of writing."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from memvault.vectors.edge import EdgeStore
from memvault_search.adapters.generations import Generations
from memvault_search.adapters.index import StoredIndex
from memvault_search.adapters.token_opening import tokens_beside
from memvault_search.domain.made import Made
from tests.unit.search.conftest import DIMENSION, WordEncoder

WRITER = """
import asyncio, sys
from pathlib import Path
from memvault.vectors.edge import EdgeStore
from memvault_search.adapters.memory import RuleReranker, StandingClock
from tests.unit.search.conftest import NOW, WordEncoder, started, turn

async def main():
    folder = Path(sys.argv[1])
    store = EdgeStore(folder, flush_every_s=600)
    house = await started(folder, store, WordEncoder(), RuleReranker(), StandingClock(NOW))
    for number in range(100000):
        await house.write(turn(number, f"sentence {number} of a long talk"))
        print(number, flush=True)

asyncio.run(main())
"""


def written_until_killed(folder: Path, writes: int) -> list[int]:
    """Numbers of the turns that a writer acknowledged before it was killed."""
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(folder)], stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[3]
    )
    assert writer.stdout is not None
    with writer.stdout as told:
        acknowledged = [int(told.readline()) for _ in range(writes)]
        writer.send_signal(signal.SIGKILL)
        acknowledged += [int(line) for line in told.read().split()]
    assert writer.wait(timeout=10) == -signal.SIGKILL
    return acknowledged


@pytest.mark.r("R-60")
async def test_no_acknowledged_write_is_lost_by_a_kill(tmp_path: Path) -> None:
    acknowledged = written_until_killed(tmp_path, 60)
    store = EdgeStore(tmp_path, flush_every_s=600)
    tokens = tokens_beside(store, cached=10)
    index = StoredIndex(store, tokens, dimension=DIMENSION, page=100)
    await Generations(store, tokens).open(index, Made(WordEncoder.id, WordEncoder.prefix_version, DIMENSION), {})
    loaded = await index.load("ann")
    whole = {stored.block.id for stored, _ in loaded.blocks}
    assert {f"turn-{number}" for number in acknowledged} <= whole
    assert len(whole) <= len(acknowledged) + 1
    points = [passage.point_id for stored, _ in loaded.blocks for passage in stored.passages]
    assert set(await index.token_vectors("ann", points)) == set(points)
    assert loaded.write_version >= len(acknowledged)
    await tokens.close()
    await store.close()
