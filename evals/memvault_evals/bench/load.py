"""Many clients at once: a closed loop at full speed, and an open one whose arrivals do not wait for answers.

In the open loop a latency counts from the moment the request was meant to arrive (Gil Tene's coordinated omission):
what waits because the product is busy is late, and is counted as late.
"""

from __future__ import annotations

import queue
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from itertools import accumulate
from random import Random

from memvault_evals.house import Client
from memvault_evals.timing import Spread, spread

OPEN_CLIENTS = 64  # connections of the open loop; an arrival that finds all of them busy waits, which counts
Ask = Callable[[Client, str], object]


@dataclass(frozen=True)
class Loaded:
    """`offered` and `done` in recalls a second; latencies in milliseconds."""

    clients: int
    offered: float
    done: float
    latency: Spread


def closed(address: str, ask: Ask, questions: Sequence[str], clients: int) -> Loaded:
    """Let `clients` ask all questions between them, each its next one as soon as it has its answer."""
    waiting: queue.SimpleQueue[str] = queue.SimpleQueue()
    for question in questions:
        waiting.put(question)

    def work(_: int) -> list[float]:
        taken: list[float] = []
        with closing(Client(address)) as client:
            client.call("GET", "/healthz")
            while True:
                try:
                    question = waiting.get_nowait()
                except queue.Empty:
                    return taken
                begun = time.perf_counter()
                ask(client, question)
                taken.append((time.perf_counter() - begun) * 1000)

    begun = time.perf_counter()
    with ThreadPoolExecutor(clients) as pool:
        samples = [one for taken in pool.map(work, range(clients)) for one in taken]
    done = len(questions) / (time.perf_counter() - begun)
    return Loaded(clients, done, done, spread(samples))


def arrivals(rate: float, count: int, *, seed: int) -> list[float]:
    """Seconds from the begin at which `count` requests arrive: a Poisson process of `rate` a second."""
    chance = Random(seed)
    return list(accumulate(chance.expovariate(rate) for _ in range(count)))


def open_loop(address: str, ask: Ask, questions: Sequence[str], rate: float, *, seed: int) -> Loaded:
    """Ask each question at its own moment, whatever became of the ones before."""
    clients: queue.SimpleQueue[Client] = queue.SimpleQueue()
    for _ in range(OPEN_CLIENTS):
        clients.put(Client(address))

    def work(question: str, meant: float) -> tuple[float, float]:
        client = clients.get()
        try:
            ask(client, question)
        finally:
            clients.put(client)
        answered = time.perf_counter()
        return (answered - meant) * 1000, answered

    begun = time.perf_counter()
    with ThreadPoolExecutor(OPEN_CLIENTS) as pool:
        running = []
        for question, after in zip(questions, arrivals(rate, len(questions), seed=seed), strict=True):
            time.sleep(max(0.0, begun + after - time.perf_counter()))
            running.append(pool.submit(work, question, begun + after))
        samples, answered = zip(*(one.result() for one in running), strict=True)
    for client in _drained(clients):
        client.close()
    return Loaded(OPEN_CLIENTS, rate, len(questions) / (max(answered) - begun), spread(samples))


def _drained(clients: queue.SimpleQueue[Client]) -> Iterator[Client]:
    while not clients.empty():
        yield clients.get()
