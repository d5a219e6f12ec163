"""What `memvault eval` says about wrong options, and what is left of a run that was stopped."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import typer
from rich.console import Console
from typer.testing import CliRunner

from memvault.runtime.exits import Exit
from memvault_evals import house, quality
from memvault_evals.asking import Variant
from memvault_evals.datasets import Data
from memvault_evals.house import EvalError, House
from memvault_evals.quality import Measuring, app
from memvault_evals.results import Row, SetReport, averaged
from memvault_evals.suites.suite import Run
from memvault_evals.workspace import Workspace

ITEMS = 5


def run(*words: str) -> Any:
    return CliRunner().invoke(app, list(words))


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--suite", "memory"), "--suite: unknown memory; there are recall"),
        (("--suite", ","), "--suite: name at least one"),
        (("--sets", "loco"), "--sets: unknown loco; there are locomo"),
        (("--suite", "recall", "--sets", "musique"), "--sets: musique belongs to none of the suites recall"),
        (("--mode", "two"), "--mode: unknown two; there are one, six"),
        (("--off", "reranker"), "--off: unknown reranker; there are gate"),
        (("--profile", "best"), "--profile: unknown best; there are tuned"),
    ],
)
def test_a_wrong_option_is_named_with_what_it_takes(words: tuple[str, ...], told: str, tmp_path: Path) -> None:
    done = run("--data", str(tmp_path), "--folder", str(tmp_path), *words)
    assert done.exit_code == Exit.FAILED
    assert done.stderr.startswith(f"eval: {told}")


def test_the_help_names_the_defaults_and_the_parts_that_can_be_switched_off() -> None:
    text = " ".join(run("--help").output.replace("│", " ").split())
    assert "Stopped with ctrl-C, the same command goes on" in text
    assert "under results in --folder" in text
    assert "time_filter, completion, parts, common, told_afterwards, view:self" in text
    assert "six: a process each" in text


class Counted:
    """A suite of five items; asking the item number `stop_at` is interrupted."""

    name, sets = "counted", ("items",)

    def __init__(self, stop_at: int = ITEMS) -> None:
        self.asked: list[int] = []
        self.stop_at = stop_at

    def fill(self, set_name: str, run: Run) -> None:
        pass

    def measure(self, set_name: str, run: Run) -> Mapping[str, SetReport]:
        for number in range(ITEMS):
            run.log.once(f"{set_name}|{number}", partial(self._ask, number))
        return {"tuned": averaged([Row("i", "", {"turn": {"recall@5": 1.0}})])}

    def _ask(self, number: int) -> dict[str, int]:
        if number == self.stop_at:
            raise KeyboardInterrupt
        self.asked.append(number)
        return {"number": number}


@pytest.fixture
def stopped(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Runs start no product; what was shut down is told here."""
    done: list[str] = []

    @contextmanager
    def no_house(*_: Any) -> Iterator[Any]:
        try:
            yield SimpleNamespace(http="127.0.0.1:1", state=lambda: {"nats": "", "redis": "", "grpc": ""})
        finally:
            done.append("down")

    monkeypatch.setattr(quality, "House", no_house)
    monkeypatch.setattr(quality.Vault, "settle", lambda *_: None)
    return done


def measure(folder: Path, suite: Counted, errors: Console, *, fresh: bool = False) -> None:
    measuring = Measuring(Data(folder, folder), [(suite, "items")], [Variant("tuned")], frozenset(), 0)
    measuring.run(Workspace(folder), "one", 2, errors, fresh=fresh)


def test_who_stops_a_run_is_told_so_in_one_line_and_the_same_command_goes_on_there(
    tmp_path: Path, stopped: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    errors = Console(stderr=True)
    with pytest.raises(typer.Exit) as end:
        measure(tmp_path, Counted(stop_at=3), errors)
    assert end.value.exit_code == Exit.INTERRUPTED
    told = [line for line in capsys.readouterr().err.splitlines() if "stopped" in line]
    assert told == ["eval: stopped; the same command goes on where it stopped"]
    assert stopped == ["down"]
    again = Counted()
    measure(tmp_path, again, errors)
    assert again.asked == [3, 4]
    assert "went on with an interrupted run: 3 answers were there" in capsys.readouterr().err


def test_fresh_begins_anew_and_says_how_to_go_on(
    tmp_path: Path, stopped: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    for _ in range(2):
        suite = Counted(stop_at=3)
        with pytest.raises(typer.Exit):
            measure(tmp_path, suite, Console(stderr=True), fresh=True)
        assert suite.asked == [0, 1, 2]
        assert "the same command without --fresh goes on" in capsys.readouterr().err


def test_the_command_ends_with_the_exit_code_of_an_interruption(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Measuring, "run", interrupted)
    done = run("--data", str(tmp_path), "--folder", str(tmp_path))
    assert done.exit_code == Exit.INTERRUPTED == 130
    assert done.stderr == "eval: stopped; the same command goes on where it stopped\n"


@pytest.mark.parametrize("error", [KeyboardInterrupt, EvalError])
def test_what_was_starting_when_it_was_stopped_is_taken_down(
    error: type[BaseException], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []

    def ran(_: House, *words: str, limit_s: float) -> None:
        calls.append(words[0])
        if words[0] == "up":
            raise error

    monkeypatch.setattr(house.House, "_run", ran)
    with pytest.raises(error), House(tmp_path):
        pass
    assert calls == ["up", "down"]
