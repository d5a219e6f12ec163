"""Asking side by side: the order of the questions, each once, and nothing more after a failure."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from memvault_evals.answers import Answer, AnswerLog
from memvault_evals.asking import Variant
from memvault_evals.house import EvalError
from memvault_evals.suites.suite import Run

LIMIT_S = 20


class Silent:
    """A progress bar that counts."""

    def __init__(self) -> None:
        self.steps = 0

    def begin(self, name: str, total: int) -> None:
        """Nothing to show."""

    def step(self, count: int = 1) -> None:
        self.steps += count


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    unused: Any = None
    log = AnswerLog(tmp_path / "log.jsonl")
    yield Run(unused, unused, [Variant("tuned")], log, Silent(), unused, at_once=2)
    log.close()


def test_answers_come_in_the_order_of_the_questions_though_two_are_asked_at_once(run: Run) -> None:
    second_asked = threading.Event()

    def first() -> Answer:
        assert second_asked.wait(LIMIT_S), "the second question waits for the first"
        return {"n": 1}

    def second() -> Answer:
        second_asked.set()
        return {"n": 2}

    assert list(run.answers([("a", first), ("b", second)])) == [{"n": 1}, {"n": 2}]
    assert run.progress.steps == 2


def test_what_the_log_holds_is_not_asked_again(run: Run) -> None:
    run.log.keep("a", {"n": 1})
    asked: list[str] = []

    def ask(name: str) -> Callable[[], Answer]:
        return lambda: asked.append(name) or {"n": 2}

    assert list(run.answers([("a", ask("a")), ("b", ask("b"))])) == [{"n": 1}, {"n": 2}]
    assert (asked, run.log.get("b")) == (["b"], {"n": 2})


def test_after_a_failure_nothing_more_is_asked(run: Run) -> None:
    asked: list[int] = []

    def fails() -> Answer:
        raise EvalError("degraded")

    def ask(number: int) -> Callable[[], Answer]:
        return lambda: time.sleep(0.001) or asked.append(number) or {}

    many = [(str(number), ask(number)) for number in range(5000)]
    with pytest.raises(EvalError, match="degraded"):
        list(run.answers([("first", fails), *many]))
    assert len(asked) < len(many)
