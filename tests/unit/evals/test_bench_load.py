"""Many clients: nothing is asked twice, and what waits in the open loop counts as late from its meant arrival."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from memvault_evals.bench.load import arrivals, closed, open_loop
from memvault_evals.house import Client

BUSY_S = 0.03


class _Slow(BaseHTTPRequestHandler):
    """Answers one recall at a time, each after `BUSY_S`."""

    protocol_version = "HTTP/1.1"
    one_at_a_time = threading.Lock()

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        with self.one_at_a_time:
            time.sleep(BUSY_S)
        self._answer()

    def _answer(self) -> None:
        self.send_response(200)
        self.send_header("content-length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def address() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Slow)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_arrivals_are_a_poisson_process_of_the_rate_and_the_same_for_the_same_seed() -> None:
    found = arrivals(50.0, 4000, seed=1)
    gaps = np.diff([0.0, *found])
    assert found == arrivals(50.0, 4000, seed=1)
    assert float(gaps.mean()) == pytest.approx(1 / 50, rel=0.05)
    assert float(gaps.std()) == pytest.approx(1 / 50, rel=0.1)


def test_the_clients_of_a_closed_loop_share_the_questions(address: str) -> None:
    asked: list[str] = []

    def ask(client: Client, question: str) -> None:
        client.recall(question, {})
        asked.append(question)

    questions = [f"question {number}" for number in range(12)]
    found = closed(address, ask, questions, clients=4)
    assert sorted(asked) == sorted(questions)
    assert found.latency.n == 12
    assert 0 < found.done <= 1 / BUSY_S
    assert found.latency.p95 >= 2 * BUSY_S * 1000


def test_an_overloaded_open_loop_counts_the_waiting_that_a_closed_one_hides(address: str) -> None:
    def ask(client: Client, question: str) -> None:
        client.recall(question, {})

    questions = [f"question {number}" for number in range(40)]
    alone = closed(address, ask, questions[:10], clients=1)
    flooded = open_loop(address, ask, questions, rate=200.0, seed=1)
    assert flooded.latency.n == 40
    # the last one waits for all before it: about 40 x 30 ms less the 200 ms in which they arrive
    assert flooded.latency.p99 > 600
    assert flooded.latency.p50 > 3 * alone.latency.p50
    assert flooded.done < flooded.offered


def test_an_error_of_one_recall_ends_the_run(address: str) -> None:
    def ask(client: Client, question: str) -> None:
        raise RuntimeError(question)

    with pytest.raises(RuntimeError, match="question"):
        closed(address, ask, ["question"], clients=1)
    with pytest.raises(RuntimeError, match="question"):
        open_loop(address, ask, ["question"], rate=100.0, seed=1)
