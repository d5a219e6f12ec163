"""No part of a recall takes the time that delivering the answer needs (R-44)."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from memvault.faults import Fault, Reason
from memvault.ops import NULL_OBSERVER
from memvault_gateway.adapters.memory import FixedClock
from memvault_gateway.domain.model import Reached, Walked
from memvault_gateway.settings import Settings
from memvault_gateway.usecases.watch import Watch
from tests.unit.gateway.conftest import World
from tests.unit.gateway.test_recalling import ADVICE, ask, deep, fill

DEADLINE_MS = 3000


class RunningClock(FixedClock):
    """Time passes as it does."""

    def monotonic(self) -> float:
        return time.monotonic()


@pytest.mark.r("R-44")
@pytest.mark.parametrize("hanging", ["cascade", "search.score"])
async def test_a_part_that_takes_all_the_time_it_may_leaves_the_time_to_deliver(
    settings: Settings, hanging: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever a hop may take by its own settings, it ends while the answer can still be given without it."""
    patient = settings.deadline.model_copy(update={"cascade_ms": 60_000})
    world = World(settings.model_copy(update={"deadline": patient}), clock=RunningClock())
    fill(world)
    world.router.known[ADVICE] = deep()
    world.graph.walked = Walked(blocks=(Reached("b3", 0.5, ()),))
    await ask(world, ADVICE)  # dictionaries are loaded by the first question

    async def hang(*_: Any, timeout_s: float, **__: Any) -> Any:
        await asyncio.sleep(timeout_s)
        raise Fault(Reason.DEADLINE_EXCEEDED, "too late")

    owner, name = (world.graph, "walk") if hanging == "cascade" else (world.blocks, "score")
    monkeypatch.setattr(owner, name, hang)
    answer = await ask(world, ADVICE, deadline_ms=DEADLINE_MS)
    assert [card.block_id for card in answer.cards][:1] == ["b1"]
    assert {(one.part, one.reason) for one in answer.degraded} == {("cascade", "TIMEOUT")}
    assert DEADLINE_MS * (1 - settings.deadline.answer_share) <= answer.took_ms


def test_no_hop_gets_the_share_of_the_answer() -> None:
    clock = FixedClock(step_s=0.0)
    watch = Watch(clock, NULL_OBSERVER, 2.0, answer_share=0.1)
    assert watch.left_s() == pytest.approx(1.8)
    clock.seconds += 1.0
    assert watch.left_s() == pytest.approx(0.8)
    assert watch.left_s(0.5) == 0.5
    clock.seconds += 0.9
    assert watch.left_s() == 0.001, "a call without time left fails at once"
