from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import pytest

from memvault.ops import changed, replaced, run, run_async


@dataclass(frozen=True)
class Add:
    amount: int
    name: str = "add"

    def __call__(self, state: int, /) -> int:
        return state + self.amount


@dataclass(frozen=True)
class Double:
    name: str = "double"

    def __call__(self, state: int, /) -> int:
        return state * 2


@dataclass(frozen=True)
class Break:
    name: str = "break"

    def __call__(self, state: int, /) -> int:
        raise ArithmeticError(state)


class Diary:
    def __init__(self) -> None:
        self.lines: list[str] = []

    @contextmanager
    def step(self, name: str, /) -> Iterator[None]:
        self.lines.append(f"begin {name}")
        try:
            yield
        except ArithmeticError:
            self.lines.append(f"failed {name}")
            raise
        self.lines.append(f"end {name}")


def test_operators_run_in_the_order_they_are_listed() -> None:
    assert run((Add(3), Double()), 1) == 8
    assert run((Double(), Add(3)), 1) == 5


def test_an_empty_pipeline_returns_its_state() -> None:
    assert run((), "as it was") == "as it was"


def test_the_observer_sees_every_step_and_its_failure() -> None:
    diary = Diary()
    with pytest.raises(ArithmeticError):
        run((Add(1), Break(), Double()), 1, diary)
    assert diary.lines == ["begin add", "end add", "begin break", "failed break"]


async def test_async_operators_wait_for_each_other() -> None:
    @dataclass(frozen=True)
    class Slowly:
        name: str = "slowly"

        async def __call__(self, state: int, /) -> int:
            return state * 10

    diary = Diary()
    assert await run_async((Slowly(), Slowly()), 1, diary) == 100
    assert diary.lines == ["begin slowly", "end slowly"] * 2


def test_a_step_is_replaced_by_name_and_an_unknown_name_is_refused() -> None:
    assert run(replaced((Add(1), Double()), "add", Add(5)), 1) == 12
    with pytest.raises(LookupError, match="add, double"):
        replaced((Add(1), Double()), "halve", Add(5))


@dataclass(frozen=True)
class State:
    text: str
    steps: tuple[str, ...] = ()


def test_a_change_makes_what_replace_makes_and_leaves_the_state_alone() -> None:
    before = State("and then?")
    assert changed(before, text="what about the visa?", steps=("follow_up",)) == replace(
        before, text="what about the visa?", steps=("follow_up",)
    )
    assert before == State("and then?")


def test_a_field_that_does_not_exist_is_refused() -> None:
    with pytest.raises(TypeError, match="a State has no colour, size"):
        changed(State(""), size=1, colour="red")
