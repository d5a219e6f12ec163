"""A model that blocks its thread, behind the real queue and the real breaker (R-21, R-22)."""

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from memvault_rerank.adapters import late_interaction
from memvault_rerank.adapters.late_interaction import LateInteractionModel
from memvault_rerank.domain.breaker import Breaker, Limits, Phase
from memvault_rerank.domain.reading import Batched, Document, Reading, Score
from memvault_rerank.usecases import Rerank, Status

LIMITS = Limits(open_after=3, cool_down_s=600.0)
TOKENS = np.array([[127, 0]], np.int8)
READING = Reading("east", (Document("east", "", tokens=(TOKENS,)),), TOKENS)
TIMEOUT_S = 0.2


class Clock:
    def __init__(self) -> None:
        self.time = datetime(2026, 5, 1, tzinfo=UTC)

    def now(self) -> datetime:
        return self.time


class Heard:
    """Keeps the phases that it was told of."""

    def __init__(self) -> None:
        self.phases: list[Phase] = []

    def changed(self, breaker: Breaker) -> None:
        self.phases.append(breaker.phase)


class Stall:
    """In the place of late interaction: blocks the thread until it is let go; counts readings."""

    def __init__(self) -> None:
        self.flowing = threading.Event()
        self.flowing.set()
        self.read = 0

    def __call__(self, query: object, documents: Sequence[Document]) -> list[Score]:
        del query
        self.read += 1
        assert self.flowing.wait(30)
        return [Score(one.id, 1.0) for one in documents]


async def with_the_model(stall: Stall, readings: int) -> None:
    """Wait until the model has begun so many readings; it counts them in its own thread."""
    while stall.read < readings:  # noqa: ASYNC110 - see above
        await asyncio.sleep(0.001)


@pytest.fixture
def stall(monkeypatch: pytest.MonkeyPatch) -> Stall:
    made = Stall()
    monkeypatch.setattr(late_interaction, "late_interaction", made)
    return made


@pytest.fixture
async def model(stall: Stall) -> AsyncIterator[LateInteractionModel]:
    made = LateInteractionModel(batch_tokens=100)
    await made.start()
    stall.read = 0
    yield made
    stall.flowing.set()
    await made.stop()


@pytest.mark.r("R-21", "R-22")
async def test_a_stalled_model_costs_callers_the_limit_then_nothing_and_afterwards_a_probe_closes_the_breaker(
    stall: Stall, model: LateInteractionModel
) -> None:
    clock, heard = Clock(), Heard()
    rerank = Rerank(model, clock, LIMITS, timeout_s=TIMEOUT_S, observer=heard)
    assert (await rerank(READING, within_s=30.0)).status is Status.OK
    stall.flowing.clear()
    begun = time.monotonic()
    first = asyncio.create_task(rerank(READING, within_s=30.0))
    await with_the_model(stall, 2)
    together = await asyncio.gather(first, *(rerank(READING, within_s=30.0) for _ in range(7)))
    assert {one.status for one in together} == {Status.TIMEOUT}
    assert (await rerank(READING, within_s=30.0)).status is Status.BYPASSED
    assert time.monotonic() - begun < 3 * 2 * TIMEOUT_S, "they wait side by side, not one after the other"
    assert model._queue.waiting == 0, "who gave up left nothing behind"
    stall.flowing.set()
    clock.time += timedelta(seconds=600)
    patient = Rerank(model, clock, LIMITS, timeout_s=30.0)
    assert (await patient(READING, within_s=30.0)).status is Status.OK, "the queue serves on"
    assert (await rerank(READING, within_s=30.0)).status is Status.OK
    assert stall.read == 4, "the first, the stalled one, and two afterwards: seven never reached the model"
    assert heard.phases == [Phase.OPEN, Phase.PROBING, Phase.CLOSED], "each change is told once"


@pytest.mark.r("R-22")
async def test_a_caller_waits_no_longer_than_its_deadline_however_long_the_model_may_take(
    stall: Stall, model: LateInteractionModel
) -> None:
    rerank = Rerank(model, Clock(), LIMITS, timeout_s=20.0)
    stall.flowing.clear()
    begun = time.monotonic()
    assert (await rerank(READING, within_s=TIMEOUT_S)).status is Status.EXPIRED
    assert time.monotonic() - begun < 3 * TIMEOUT_S
    stall.flowing.set()
    assert (await rerank(READING, within_s=20.0)).status is Status.OK


@pytest.mark.r("R-20")
async def test_calls_side_by_side_share_batches_and_one_that_fails_fails_alone(
    stall: Stall, model: LateInteractionModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    rerank = Rerank(model, Clock(), LIMITS, timeout_s=20.0)
    stall.flowing.clear()
    first = asyncio.create_task(rerank(READING, within_s=20.0))
    await with_the_model(stall, 1)  # the next five wait for their batch
    calls = [asyncio.create_task(rerank(READING, within_s=20.0)) for _ in range(4)]
    await asyncio.sleep(0)
    broken = Reading("broken", READING.documents, TOKENS)
    monkeypatch.setattr(late_interaction, "late_interaction", failing_for(broken, stall))
    calls.append(asyncio.create_task(rerank(broken, within_s=20.0)))
    await asyncio.sleep(0)
    stall.flowing.set()
    await first
    statuses = [(await one).status for one in calls]
    assert statuses == [Status.OK] * 4 + [Status.FAILED]
    assert rerank.batched == Batched(readings=6, batches=2)
    assert rerank.breaker.failures == 1


def failing_for(broken: Reading, stall: Stall) -> object:
    def score(query: object, documents: Sequence[Document]) -> list[Score]:
        if stall.read == 5:  # the one that came last
            stall.read += 1
            raise RuntimeError(broken.query)
        return stall(query, documents)

    return score
