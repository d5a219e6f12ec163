"""What several suites share: the sample vault, taken in once per run."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest

from memvault_demo.vault import blocks, marked_ids
from tests.house import House, eventually

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
    house = House(tmp_path_factory.mktemp("sample") / "home", in_process=True)
    house.start()
    try:
        for user_id, now in NOWS.items():
            fill(house, user_id, now)
        assert eventually(lambda: _settled(house), limit_s=60), house.logs()
        yield house
    finally:
        house.stop()


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
    """Whether communities have been made from the graph as it is."""
    walks = [
        house.recall("為什麼直排收據會辨識失敗？", user_id, origin="eval", evaluation={"thinking_mode": "slow"})
        for user_id in NOWS
    ]
    return all(any(card["kind"] == "summary" for card in walk["cascade_cards"]) for walk in walks)
