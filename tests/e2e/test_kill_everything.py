"""kill -9 of everything in the middle of a bulk import: nothing confirmed is lost, importing again makes no doubles."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from memvault.runtime.folder import Folder, Identity, read_state
from tests.house import House, eventually

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

USER = "importer"
NOTES = [
    {"id": f"note-{number:03}", "text": f"第 {number} 號箱子放在 {number % 17} 號架，packed by crew {number % 5}."}
    for number in range(160)
]
AT_ONCE = 20
CONFIRMED = {"indexed", "unchanged"}


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    house = House(tmp_path_factory.mktemp("killed") / "home", in_process=True)
    house.start()
    try:
        yield house
    finally:
        house.stop()


class Import:
    """Writes the notes in batches, each after the one before was confirmed, until the connection breaks."""

    def __init__(self, house: House) -> None:
        self.confirmed: list[str] = []
        self._house = house
        self.running = threading.Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        for begin in range(0, len(NOTES), AT_ONCE):
            body = {"user_id": USER, "blocks": NOTES[begin : begin + AT_ONCE], "options": {"wait": "indexed"}}
            try:
                outcomes = self._house.call("POST", "/v1/blocks:batch", body).body["outcomes"]
            except OSError:
                return
            self.confirmed += [one["block_id"] for one in outcomes if one["status"] in CONFIRMED]


def kill_everything(house: House) -> None:
    """End every process of the house at once, the supervisor first, so that nobody starts anything again."""
    state = read_state(Folder(Path(house.home)))
    assert state is not None
    doomed = [process for one in (Identity.of(state.supervisor), *state.identities()) if (process := one.find())]
    for process in doomed:
        process.kill()
    gone, alive = psutil.wait_procs(doomed, timeout=30)
    assert (len(gone) > 2, alive) == (True, [])


def kept(house: House) -> Counter[str]:
    """How often each block is in the vault."""
    lines = str(house.call("GET", f"/v1/export?user_id={USER}").body).splitlines()
    return Counter(json.loads(line)["id"] for line in lines)


@pytest.mark.r("R-60", "R-60a")
def test_what_was_confirmed_is_there_afterwards_and_importing_again_completes_without_doubles(
    house: House,
) -> None:
    first = Import(house)
    first.running.start()
    assert eventually(lambda: len(first.confirmed) >= 2 * AT_ONCE, limit_s=120)
    kill_everything(house)
    first.running.join(60)
    assert len(first.confirmed) < len(NOTES), "the import was over before that"
    house.start()
    found = kept(house)
    assert [name for name in first.confirmed if found[name] != 1] == []
    again = {one["block_id"]: one["status"] for one in house.write(USER, NOTES)}
    assert {again[name] for name in first.confirmed} == {"unchanged"}
    assert set(again.values()) <= CONFIRMED
    assert kept(house) == Counter(note["id"] for note in NOTES)
    answer = house.recall("第 137 號箱子", USER, limit=3, origin="eval")
    assert [card["block_id"] for card in answer["cards"]].count("note-137") == 1
    assert house.call("GET", "/v1/dead-letters?limit=10").body["dead_letters"] == []
