"""What several suites share: the sample vault, the nightly loop, and an empty memvault."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import nats
import pytest

from memvault_demo.vault import blocks, marked_ids
from tests.house import House

DREAM_LIMIT_S = 120


def fill(house: House, user_id: str, now: datetime) -> None:
    """Write the sample vault as it looks at `now`, and wait until it can be searched."""
    laid_out = blocks(now, user_id=user_id)
    marked = marked_ids()
    outcomes = house.write(user_id, [block for block in laid_out if block["id"] not in marked])
    outcomes += house.write(user_id, [block for block in laid_out if block["id"] in marked], on_unsafe="mark")
    wrong = [outcome for outcome in outcomes if outcome["status"] not in {"indexed", "unchanged"}]
    assert not wrong, wrong


async def dreamt(house: House) -> None:
    """Run the nightly loop to its end."""
    state = json.loads((house.home / "run" / "state.json").read_text(encoding="utf-8"))
    client = await nats.connect(state["nats"])
    finished = await client.subscribe("maintenance.dream.finished")
    run_id = (await asyncio.to_thread(house.call, "POST", "/v1/dream", {})).body["event_id"]
    owners = {"search", "cascade", "router"}
    async with asyncio.timeout(DREAM_LIMIT_S):
        while owners:
            report = json.loads((await finished.next_msg(timeout=DREAM_LIMIT_S)).data)
            if report["run_id"] == run_id:
                owners.discard(report["owner"])
    await client.close()


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[House]:
    """A fresh memvault in one process."""
    house = House(tmp_path / "home", in_process=True)
    house.start()
    try:
        yield house
    finally:
        house.stop()
