"""What several suites share: the sample vault, taken in once per run."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import nats
import pytest

from memvault_demo.vault import blocks, marked_ids
from tests.house import House, eventually

DREAM_LIMIT_S = 120
SETTLED_S = 2

NOWS = {
    "monday": datetime.fromisoformat("2026-11-30T01:30:00+00:00"),
    "thursday": datetime.fromisoformat("2026-12-31T06:00:00+00:00"),
    "saturday": datetime.fromisoformat("2027-03-06T15:10:00+00:00"),
}
"""Three instants at which the sample vault is looked at; each has a user of that name whose vault ends then."""


def fill(house: House, user_id: str, now: datetime) -> None:
    """Write the sample vault as it looks at `now`, and wait until the graph has settled."""
    laid_out = blocks(now, user_id=user_id)
    marked = marked_ids()
    outcomes = house.write(user_id, [block for block in laid_out if block["id"] not in marked])
    outcomes += house.write(user_id, [block for block in laid_out if block["id"] in marked], on_unsafe="mark")
    wrong = [outcome for outcome in outcomes if outcome["status"] not in {"indexed", "unchanged"}]
    assert not wrong, wrong


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """One process that holds the sample vault three times, for read-only questions with origin `eval`."""
    exact = {"MEMVAULT__SEARCH__WRITING__AVERAGE_DRIFT": "0"}
    house = House(tmp_path_factory.mktemp("sample") / "home", in_process=True, extra=exact)
    house.start()
    try:
        for user_id, now in NOWS.items():
            fill(house, user_id, now)
        # The order in which blocks were indexed leaves traces in average lengths and centrality; the nightly loop
        # removes them, so that every run asks the same vault.
        asyncio.run(dreamt(house))
        assert eventually(lambda: _settled(house), limit_s=60), house.logs()
        yield house
    finally:
        house.stop()


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


def _settled(house: House) -> bool:
    """Whether communities have been made and what the graph says of blocks has arrived: two looks see the same."""
    looks = [[_look(house, user_id) for user_id in NOWS]]
    time.sleep(SETTLED_S)
    looks.append([_look(house, user_id) for user_id in NOWS])
    return looks[0] == looks[1] and all(summarised for summarised, _ in looks[0])


def _look(house: House, user_id: str) -> tuple[bool, list[float]]:
    walk = house.recall(
        "為什麼直排收據會辨識失敗？",
        user_id,
        origin="eval",
        limit=100,
        evaluation={"thinking_mode": "slow", "now": NOWS[user_id].strftime("%Y-%m-%dT%H:%M:%SZ")},
    )
    return any(card["kind"] == "summary" for card in walk["cascade_cards"]), [card["score"] for card in walk["cards"]]
