"""Reranking behind the breaker: what each kind of trouble leads to (R-20, R-21, R-22)."""

import asyncio
import math
from datetime import UTC, datetime, timedelta

import pytest

from memvault.faults import Fault, Reason
from memvault.runtime.settings import defaults, load
from memvault_rerank.adapters.memory import ScriptedModel
from memvault_rerank.domain.breaker import Limits, Phase
from memvault_rerank.domain.reading import Document, Reading, Score
from memvault_rerank.settings import RerankSettings
from memvault_rerank.usecases import Rerank, Status

READING = Reading("where is the key?", (Document("a", "under the mat"), Document("b", "in the sea")))
LIMITS = Limits(open_after=3, cool_down_s=600.0)


class FakeClock:
    def __init__(self) -> None:
        self.time = datetime(2026, 5, 1, tzinfo=UTC)

    def now(self) -> datetime:
        return self.time


class SleepingModel(ScriptedModel):
    async def score(self, reading: Reading, *, within_s: float) -> list[Score]:
        await asyncio.sleep(30)
        return await super().score(reading, within_s=within_s)


def rerank_with(model: ScriptedModel | None, clock: FakeClock | None = None, timeout_s: float = 1.0) -> Rerank:
    return Rerank(model, clock or FakeClock(), LIMITS, timeout_s=timeout_s)


async def test_scores_come_back_with_their_ids() -> None:
    reranked = await rerank_with(ScriptedModel())(READING, within_s=1.0)
    assert reranked.status is Status.OK
    assert [score.id for score in reranked.scores] == ["a", "b"]


@pytest.mark.r("R-20")
async def test_no_model_is_a_reason_of_its_own_and_no_open_breaker() -> None:
    reranked = await rerank_with(None)(READING, within_s=1.0)
    assert reranked.status is Status.NO_MODEL
    assert reranked.breaker.phase is Phase.CLOSED


@pytest.mark.r("R-21")
@pytest.mark.parametrize(
    "trouble",
    [RuntimeError("out of memory"), [Score("a", math.nan)], [Score("a", math.inf)], Fault(Reason.MODEL_FAILED, "no")],
    ids=["error", "nan", "infinite", "fault"],
)
async def test_three_troubles_in_a_row_open_the_breaker_and_the_fourth_call_never_reaches_the_model(
    trouble: list[Score] | Exception,
) -> None:
    model = ScriptedModel([trouble, trouble, trouble])
    rerank = rerank_with(model)
    assert [(await rerank(READING, within_s=1.0)).status for _ in range(4)] == [Status.FAILED] * 3 + [Status.BYPASSED]
    assert len(model.readings) == 3


@pytest.mark.r("R-21")
async def test_time_outs_open_it_too_and_after_ten_minutes_a_good_probe_closes_it() -> None:
    clock = FakeClock()
    model: ScriptedModel = SleepingModel()
    rerank = rerank_with(model, clock, timeout_s=0.01)
    assert [(await rerank(READING, within_s=1.0)).status for _ in range(3)] == [Status.TIMEOUT] * 3
    rerank._model = ScriptedModel()  # the model recovers
    clock.time += timedelta(seconds=599)
    assert (await rerank(READING, within_s=1.0)).status is Status.BYPASSED
    clock.time += timedelta(seconds=1)
    assert (await rerank(READING, within_s=1.0)).status is Status.OK
    assert rerank.breaker.phase is Phase.CLOSED


@pytest.mark.r("R-21")
async def test_callers_in_a_hurry_never_open_it_for_everybody() -> None:
    rerank = rerank_with(SleepingModel())
    assert [(await rerank(READING, within_s=0.01)).status for _ in range(5)] == [Status.EXPIRED] * 5
    assert (rerank.breaker.phase, rerank.breaker.failures) == (Phase.CLOSED, 0)


@pytest.mark.r("R-21")
async def test_a_caller_in_a_hurry_between_time_outs_neither_counts_nor_starts_the_count_again() -> None:
    rerank = rerank_with(SleepingModel(), timeout_s=0.02)
    waits = [1.0, 0.01, 1.0, 0.01, 1.0]
    assert [(await rerank(READING, within_s=within_s)).status for within_s in waits] == [
        Status.TIMEOUT,
        Status.EXPIRED,
        Status.TIMEOUT,
        Status.EXPIRED,
        Status.TIMEOUT,
    ]
    assert rerank.breaker.phase is Phase.OPEN


@pytest.mark.r("R-21")
async def test_a_time_out_of_the_models_own_is_a_failure_of_it_however_short_the_callers_deadline() -> None:
    rerank = rerank_with(ScriptedModel([TimeoutError()] * 3))
    assert [(await rerank(READING, within_s=0.5)).status for _ in range(3)] == [Status.TIMEOUT] * 3
    assert rerank.breaker.phase is Phase.OPEN


@pytest.mark.r("R-21")
def test_the_limit_that_counts_can_be_reached_within_what_search_grants() -> None:
    ours, granted = load("rerank", RerankSettings), defaults("reference")["search"]["calls"]["rerank_timeout_s"]
    assert ours.timeout_s + ours.answer_margin_s < granted


@pytest.mark.r("R-21")
async def test_while_a_probe_is_under_way_other_calls_are_bypassed_at_once() -> None:
    clock = FakeClock()
    rerank = rerank_with(ScriptedModel([RuntimeError()] * 3), clock)
    for _ in range(3):
        await rerank(READING, within_s=1.0)
    clock.time += timedelta(seconds=600)
    rerank._model = SleepingModel()
    probe = asyncio.create_task(rerank(READING, within_s=1.0))
    await asyncio.sleep(0)
    beside = await rerank(READING, within_s=1.0)
    assert beside.status is Status.BYPASSED
    assert beside.breaker.phase is Phase.PROBING
    probe.cancel()
    with pytest.raises(asyncio.CancelledError):
        await probe
    assert rerank.breaker.phase is Phase.OPEN  # the caller left: the next call may probe
    rerank._model = ScriptedModel()
    assert (await rerank(READING, within_s=1.0)).status is Status.OK


@pytest.mark.r("R-22")
async def test_a_call_whose_deadline_passed_never_reaches_the_model_and_is_no_failure_of_it() -> None:
    model = ScriptedModel()
    rerank = rerank_with(model)
    assert [(await rerank(READING, within_s=0.0)).status for _ in range(5)] == [Status.EXPIRED] * 5
    assert not model.readings
    assert rerank.breaker.phase is Phase.CLOSED


@pytest.mark.r("R-22")
async def test_work_that_the_model_dropped_as_late_is_no_failure_of_it() -> None:
    rerank = rerank_with(ScriptedModel([Fault(Reason.DEADLINE_EXCEEDED, "late")] * 5))
    assert [(await rerank(READING, within_s=1.0)).status for _ in range(5)] == [Status.EXPIRED] * 5
    assert rerank.breaker.phase is Phase.CLOSED
