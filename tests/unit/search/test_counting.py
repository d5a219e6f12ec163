"""How much there is, and up to how much the store in use is advised."""

from __future__ import annotations

from pathlib import Path

import pytest

from memvault.search.v1 import search_pb2 as pb
from memvault_search.adapters.memory import RuleReranker, StandingClock
from tests.unit.search.conftest import NOW, House, LastingStore, WordEncoder, note, started


async def fill(house: House) -> None:
    await house.write(note("a", "one"), note("b", "two"), note("c", "three"), note("a", "else", user_id="bob"))


async def test_the_largest_user_is_whose_blocks_are_most(house: House) -> None:
    assert (await house.app.usecases.reading.count("")).largest == 0
    await fill(house)
    counts = await house.app.usecases.reading.count("")
    assert (counts.blocks, counts.users, counts.largest) == (4, 2, 3)
    assert (await house.app.usecases.reading.count("bob")).largest == 1


async def test_marks_of_what_was_forgotten_make_nobody_the_largest_user(house: House) -> None:
    await fill(house)
    await house.write(note("b", "further", user_id="bob"))
    await house.app.usecases.forgetting.forget("ann", block_ids=["a", "b"])
    assert (await house.app.usecases.reading.count("")).largest == 2


@pytest.mark.parametrize(("store", "advised"), [("edge", 50_000), ("server", 0)])
async def test_only_the_embedded_engine_is_advised_up_to_a_size(tmp_path: Path, store: str, advised: int) -> None:
    parts = (LastingStore(), WordEncoder(), RuleReranker(), StandingClock(NOW))
    house = await started(tmp_path, *parts, store_name=store)
    await fill(house)
    servicer = house.app.registrations[0][1]
    told = await servicer.GetIndex(pb.GetIndexRequest(), None)  # type: ignore[attr-defined]
    assert (told.largest_user_blocks, told.advised_blocks) == (3, advised)
    await house.bus.stop()
    await house.app.stop()
    await house.store.let_go()
