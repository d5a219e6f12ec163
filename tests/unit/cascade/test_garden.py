"""How often the garden is tended."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from itertools import pairwise

from memvault_cascade.adapters.memory import MemoryStore
from memvault_cascade.ports import GraphState
from tests.unit.cascade.conftest import USER, House, until


async def test_a_garden_that_takes_long_rests_in_proportion_though_changes_go_on(house: House) -> None:
    loop, rounds = asyncio.get_running_loop(), []
    house.garden._parts = replace(house.garden._parts, limits=replace(house.garden._parts.limits, rest=4.0))

    async def slow(user_id: str) -> None:
        begun = loop.time()
        await asyncio.sleep(0.1)
        rounds.append((user_id, begun, loop.time()))

    async def changed_often() -> bool:
        house.garden.changed(USER)
        return len(rounds) == 3

    house.garden.tend = slow
    running = asyncio.create_task(house.garden.run())
    await until(changed_often)
    running.cancel()
    pauses = [later[1] - earlier[2] for earlier, later in pairwise(rounds)]
    assert all(pause >= 0.39 for pause in pauses)


async def test_another_user_does_not_wait_for_that_rest(house: House) -> None:
    loop, rounds = asyncio.get_running_loop(), []
    house.garden._parts = replace(house.garden._parts, limits=replace(house.garden._parts.limits, rest=1000.0))

    async def slow(user_id: str) -> None:
        await asyncio.sleep(0.05)
        rounds.append((user_id, loop.time()))

    async def both() -> bool:
        house.garden.changed("first")
        if rounds:
            house.garden.changed("second")
        return {user for user, _ in rounds} == {"first", "second"}

    house.garden.tend = slow
    running = asyncio.create_task(house.garden.run())
    await until(both)
    running.cancel()
    assert [user for user, _ in rounds].count("first") == 1


class StoreOfMany(MemoryStore):
    """Holds a user who is behind and one who is not; remembers whose graph was loaded."""

    loaded: list[str]

    async def users(self) -> list[str]:
        return ["behind", "tended"]

    async def version(self, user_id: str) -> int:
        return 3

    async def community_version(self, user_id: str) -> int:
        return 2 if user_id == "behind" else 3

    async def load(self, user_id: str) -> GraphState:
        self.loaded.append(user_id)
        return await super().load(user_id)


async def test_at_the_start_only_graphs_that_are_behind_are_loaded(rules) -> None:
    store = StoreOfMany()
    store.loaded, tended = [], []
    house = House(rules, store)

    async def tend(user_id: str) -> None:
        tended.append(user_id)

    async def done() -> bool:
        return bool(tended)

    house.garden.tend = tend
    running = asyncio.create_task(house.garden.run())
    await until(done)
    running.cancel()
    assert (tended, store.loaded) == (["behind"], [])
