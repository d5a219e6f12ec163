"""Batches for one worker thread (R-22)."""

import asyncio
import threading
import time
from collections.abc import Sequence

import pytest

from memvault.faults import Fault, Reason
from memvault.runtime.batching import BatchQueue


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
    assert await queue.submit(works, urgent=False, within_s=5.0) == [work.upper() for work in works]
    assert all(max(map(len, batch)) * len(batch) <= 6 or len(batch) == 1 for batch in recorder.batches)
    assert recorder.threads == {"worker_0"}
    await queue.stop()


async def test_urgent_work_goes_before_patient_work_that_waits() -> None:
    recorder = Recorder(seconds=0.02)
    queue = await started(recorder, batch_size=1)
    patient = asyncio.create_task(queue.submit(["x"] * 10, urgent=False, within_s=5.0))
    await asyncio.sleep(0.03)
    await queue.submit(["q"], urgent=True, within_s=5.0)
    assert not patient.done()
    await patient
    await queue.stop()


@pytest.mark.r("R-22")
async def test_work_whose_deadline_passed_while_it_waited_never_reaches_the_model() -> None:
    recorder = Recorder(seconds=0.1)
    queue = await started(recorder, batch_size=1)
    first = asyncio.create_task(queue.submit(["x"], urgent=True, within_s=5.0))
    await asyncio.sleep(0.01)
    with pytest.raises(Fault) as late:
        await queue.submit(["late"], urgent=True, within_s=0.02)
    assert late.value.reason is Reason.DEADLINE_EXCEEDED
    await first
    assert ["late"] not in recorder.batches
    await queue.stop()


@pytest.mark.r("R-22")
async def test_work_that_takes_longer_than_is_left_is_refused_before_it_begins_yet_not_for_ever() -> None:
    recorder = Recorder(seconds=0.05)
    queue = await started(recorder, batch_size=1)
    for _ in range(10):
        await queue.submit(["x"], urgent=True, within_s=5.0)
    with pytest.raises(Fault):
        await queue.submit(["y"], urgent=True, within_s=0.01)
    assert ["y"] not in recorder.batches
    recorder.seconds = 0.0
    outcomes = await asyncio.gather(
        *(queue.submit(["z"], urgent=True, within_s=0.02) for _ in range(10)), return_exceptions=True
    )
    assert outcomes[-1] == ["Z"]
    await queue.stop()


async def test_an_error_reaches_the_callers_of_its_batch_and_the_queue_serves_on() -> None:
    queue = await started(Recorder())
    with pytest.raises(ValueError, match="bad work"):
        await queue.submit(["bad"], urgent=True, within_s=5.0)
    assert await queue.submit(["ok"], urgent=True, within_s=5.0) == ["OK"]
    await queue.stop()


async def test_a_model_that_answers_for_fewer_works_than_it_got_fails_them_and_the_queue_serves_on() -> None:
    queue = BatchQueue[str, str](
        lambda batch: [] if "short" in batch else list(batch), len, batch_size=6, name="worker"
    )
    await queue.start(lambda: None)
    with pytest.raises(ValueError, match="shorter"):
        await queue.submit(["short"], urgent=True, within_s=5.0)
    assert await queue.submit(["ok"], urgent=True, within_s=5.0) == ["ok"]
    await queue.stop()


async def test_a_caller_that_gave_up_leaves_no_work_behind() -> None:
    recorder = Recorder(seconds=0.05)
    queue = await started(recorder, batch_size=1)
    given_up = asyncio.create_task(queue.submit(["x"] * 50, urgent=False, within_s=60.0))
    await asyncio.sleep(0.06)
    given_up.cancel()
    with pytest.raises(asyncio.CancelledError):
        await given_up
    begun = time.monotonic()
    assert await queue.submit(["y"], urgent=False, within_s=5.0) == ["Y"]
    assert time.monotonic() - begun < 1.0
    await queue.stop()
