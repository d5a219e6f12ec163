"""Batches for one worker thread (R-22)."""

import asyncio
import threading
import time
from collections.abc import Sequence

import pytest

from memvault.faults import Fault, Reason
from memvault.runtime import telemetry
from memvault.runtime.batching import BATCH_WORKS, BatchQueue, Urgency


class Recorder:
    def __init__(self, seconds: float = 0.0) -> None:
        self.batches: list[list[str]] = []
        self.threads: set[str] = set()
        self.seconds = seconds

    def run(self, batch: Sequence[str]) -> list[str]:
        self.batches.append(list(batch))
        self.threads.add(threading.current_thread().name)
        time.sleep(self.seconds)
        if any(work == "bad" for work in batch):
            raise ValueError("bad work")
        return [work.upper() for work in batch]


async def started(recorder: Recorder, batch_size: int = 6) -> BatchQueue[str, str]:
    queue = BatchQueue[str, str](recorder.run, len, batch_size=batch_size, name="worker")
    await queue.start(lambda: None)
    return queue


async def test_results_come_in_the_order_of_the_works_whatever_the_batches_were() -> None:
    recorder = Recorder()
    queue = await started(recorder)
    works = ["dddd", "a", "cccccccccc", "bb", "a"]
    assert await queue.submit(works, urgency=Urgency.LATER, within_s=5.0) == [work.upper() for work in works]
    assert all(max(map(len, batch)) * len(batch) <= 6 or len(batch) == 1 for batch in recorder.batches)
    assert recorder.threads == {"worker_0"}
    await queue.stop()


async def test_urgent_work_goes_before_patient_work_that_waits() -> None:
    recorder = Recorder(seconds=0.02)
    queue = await started(recorder, batch_size=1)
    patient = asyncio.create_task(queue.submit(["x"] * 10, urgency=Urgency.LATER, within_s=5.0))
    await asyncio.sleep(0.03)
    await queue.submit(["q"], urgency=Urgency.NOW, within_s=5.0)
    assert not patient.done()
    await patient
    await queue.stop()


async def test_what_is_more_urgent_goes_first_and_what_is_equally_so_in_the_order_of_arrival() -> None:
    recorder = Recorder(seconds=0.02)
    queue = await started(recorder, batch_size=1)
    first = asyncio.create_task(queue.submit(["f"], urgency=Urgency.LATER, within_s=5.0))
    await asyncio.sleep(0.005)
    turns = [("l", Urgency.LATER), ("s", Urgency.SOON), ("n", Urgency.NOW), ("t", Urgency.SOON), ("m", Urgency.LATER)]
    await asyncio.gather(first, *(queue.submit([work], urgency=urgency, within_s=5.0) for work, urgency in turns))
    assert [work for batch in recorder.batches for work in batch] == ["f", "n", "s", "t", "l", "m"]
    await queue.stop()


@pytest.mark.r("R-22")
async def test_work_whose_deadline_passed_while_it_waited_never_reaches_the_model() -> None:
    recorder = Recorder(seconds=0.1)
    queue = await started(recorder, batch_size=1)
    first = asyncio.create_task(queue.submit(["x"], urgency=Urgency.NOW, within_s=5.0))
    await asyncio.sleep(0.01)
    with pytest.raises(Fault) as late:
        await queue.submit(["late"], urgency=Urgency.NOW, within_s=0.02)
    assert late.value.reason is Reason.DEADLINE_EXCEEDED
    await first
    assert ["late"] not in recorder.batches
    await queue.stop()


@pytest.mark.r("R-22")
async def test_work_that_takes_longer_than_is_left_is_refused_before_it_begins_yet_not_for_ever() -> None:
    recorder = Recorder(seconds=0.05)
    queue = await started(recorder, batch_size=1)
    for _ in range(10):
        await queue.submit(["x"], urgency=Urgency.NOW, within_s=5.0)
    with pytest.raises(Fault):
        await queue.submit(["y"], urgency=Urgency.NOW, within_s=0.01)
    assert ["y"] not in recorder.batches
    recorder.seconds = 0.0
    queue._seconds_per_size = 10.0
    outcomes = await asyncio.gather(
        *(queue.submit(["z"], urgency=Urgency.NOW, within_s=1.0) for _ in range(20)), return_exceptions=True
    )
    assert isinstance(outcomes[0], Fault)
    assert outcomes[-1] == ["Z"]
    await queue.stop()


async def test_an_error_reaches_the_callers_of_its_batch_and_the_queue_serves_on() -> None:
    queue = await started(Recorder())
    with pytest.raises(ValueError, match="bad work"):
        await queue.submit(["bad"], urgency=Urgency.NOW, within_s=5.0)
    assert await queue.submit(["ok"], urgency=Urgency.NOW, within_s=5.0) == ["OK"]
    await queue.stop()


async def test_a_model_that_answers_for_fewer_works_than_it_got_fails_them_and_the_queue_serves_on() -> None:
    queue = BatchQueue[str, str](
        lambda batch: [] if "short" in batch else list(batch), len, batch_size=6, name="worker"
    )
    await queue.start(lambda: None)
    with pytest.raises(ValueError, match="shorter"):
        await queue.submit(["short"], urgency=Urgency.NOW, within_s=5.0)
    assert await queue.submit(["ok"], urgency=Urgency.NOW, within_s=5.0) == ["ok"]
    await queue.stop()


async def test_a_caller_that_gave_up_leaves_no_work_behind() -> None:
    recorder = Recorder(seconds=0.05)
    queue = await started(recorder, batch_size=1)
    given_up = asyncio.create_task(queue.submit(["x"] * 50, urgency=Urgency.LATER, within_s=60.0))
    await asyncio.sleep(0.06)
    given_up.cancel()
    with pytest.raises(asyncio.CancelledError):
        await given_up
    begun = time.monotonic()
    assert await queue.submit(["y"], urgency=Urgency.LATER, within_s=5.0) == ["Y"]
    assert time.monotonic() - begun < 1.0
    await queue.stop()


class Gate:
    """A model that holds its thread until it is opened."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.opened = threading.Event()
        self.opened.set()

    def run(self, batch: Sequence[str]) -> list[str]:
        self.batches.append(list(batch))
        assert self.opened.wait(30)
        return [work.upper() for work in batch]


@pytest.mark.r("R-22")
async def test_while_a_model_stalls_work_that_was_given_up_is_let_go_of_at_once_and_never_computed() -> None:
    gate = Gate()
    queue = BatchQueue[str, str](gate.run, len, batch_size=100, name="worker")
    await queue.start(lambda: None)
    await queue.submit(["warm"], urgency=Urgency.NOW, within_s=5.0)
    gate.opened.clear()
    stalled = asyncio.create_task(queue.submit(["first"], urgency=Urgency.NOW, within_s=60.0))
    while len(gate.batches) < 2:  # noqa: ASYNC110 - the model notes its batches in its own thread
        await asyncio.sleep(0.001)
    for _ in range(20):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await queue.submit(["given up"], urgency=Urgency.NOW, within_s=60.0)
    assert queue.waiting == 0, "a reading is large: a stall must not heap them up"
    gate.opened.set()
    assert await stalled == ["FIRST"]
    assert await queue.submit(["next"], urgency=Urgency.NOW, within_s=60.0) == ["NEXT"]
    assert gate.batches == [["warm"], ["first"], ["next"]]
    await queue.stop()


@pytest.mark.r("R-22")
async def test_one_stall_does_not_have_the_work_after_it_refused() -> None:
    recorder = Recorder(seconds=0.002)
    queue = await started(recorder)
    for _ in range(5):
        await queue.submit(["x"], urgency=Urgency.NOW, within_s=5.0)
    recorder.seconds = 1.0
    await queue.submit(["x"], urgency=Urgency.NOW, within_s=5.0)
    recorder.seconds = 0.002
    assert await queue.submit(["y"], urgency=Urgency.NOW, within_s=0.15) == ["Y"]
    await queue.stop()


async def test_an_exception_in_the_place_of_a_result_is_for_that_work_alone() -> None:
    def run(batch: Sequence[str]) -> list[str | Exception]:
        return [ValueError("bad work") if work == "bad" else work.upper() for work in batch]

    queue = BatchQueue[str, str](run, len, batch_size=100, name="worker")
    await queue.start(lambda: None)
    works = ("a", "bad", "c")
    outcomes = await asyncio.gather(
        *(queue.submit([work], urgency=Urgency.NOW, within_s=5.0) for work in works), return_exceptions=True
    )
    assert [str(one) for one in outcomes] == [str(["A"]), "bad work", str(["C"])]
    assert (queue.batches, queue.works) == (1, 3), "calls that wait at the same time share a batch"
    await queue.stop()


async def test_the_works_of_each_batch_show_in_the_metrics() -> None:
    def seen() -> tuple[int, float]:
        figures = [one for one in telemetry.snapshot() if one.name == BATCH_WORKS]
        mine = [one for one in figures if one.attributes["memvault.batch.queue"] == "counted"]
        return sum(one.count for one in mine), sum(one.value for one in mine)

    queue = BatchQueue[str, str](list, len, batch_size=100, name="counted")
    await queue.start(lambda: None)
    await asyncio.gather(*(queue.submit([work], urgency=Urgency.NOW, within_s=5.0) for work in "abc"))
    await queue.submit(["d"], urgency=Urgency.NOW, within_s=5.0)
    assert seen() == (2, 4.0)
    await queue.stop()
