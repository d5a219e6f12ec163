"""What is shown while one waits."""

import io

from rich.console import Console

from memvault_evals.progress import Bars


def lines_of(*left: int, total: int) -> list[str]:
    """The lines that a wait leaves behind without a terminal."""
    told = io.StringIO()
    bars = Bars(Console(file=told, width=120))
    with bars:
        bars.begin("events", total)
        for count in left:
            bars.left(count)
    return told.getvalue().splitlines()


def test_what_is_left_falls_until_nothing_is() -> None:
    lines = lines_of(90, 85, 40, 0, total=100)
    assert lines == ["events: 10 of 100", "events: 60 of 100", "events: 100 of 100"]


def test_what_comes_meanwhile_makes_the_stretch_longer_and_takes_nothing_back() -> None:
    assert lines_of(50, 80, 0, total=100) == ["events: 50 of 100", "events: 130 of 130"]


def test_a_look_at_which_nothing_moved_says_nothing() -> None:
    assert lines_of(100, 100, 100, total=100) == []
