"""Processor time instead of latency: what a recall makes all processes of a house work, however busy the machine is."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable

import psutil

from memvault_evals.timing import Operation

_SETTLE_S = 1.0
_IDLE_S = 3.0


async def of_processes(pids: Iterable[int], operation: Operation, times: int) -> float:
    """Return the processor milliseconds that all these processes spend on one operation.

    What they spend while nobody asks is subtracted; work in the background that an operation starts counts if it is
    done within a second after the last one.
    """
    running = [psutil.Process(pid) for pid in pids]
    begin = _spent_ms(running)
    await asyncio.sleep(_IDLE_S)
    idle = (_spent_ms(running) - begin) / _IDLE_S
    began, begin = time.monotonic(), _spent_ms(running)
    for _ in range(times):
        await operation()
    await asyncio.sleep(_SETTLE_S)
    spent = _spent_ms(running) - begin - idle * (time.monotonic() - began)
    return spent / times


async def of_this_process(operation: Operation, times: int) -> float:
    """Return the processor milliseconds that this process spends on one operation."""
    begin = time.process_time()
    for _ in range(times):
        await operation()
    return (time.process_time() - begin) * 1000 / times


def _spent_ms(running: Iterable[psutil.Process]) -> float:
    seconds = 0.0
    for one in running:
        spent = one.cpu_times()
        seconds += float(spent.user) + float(spent.system)
    return seconds * 1000
