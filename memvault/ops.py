"""The operator protocol and its runner: a pipeline is a visible sequence of named, replaceable steps.

Pure: time and tracing come in through the observer port, so that domain code may use this module.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol, TypeVar

S = TypeVar("S")


class Operator(Protocol[S]):
    """One step of a pipeline: takes a state and returns the next one, changing neither input nor world."""

    @property
    def name(self) -> str:
        """The step's name in explanations and traces, lower case with underscores."""
        ...

    def __call__(self, state: S, /) -> S:
        """Return the state after this step."""
        ...


class AsyncOperator(Protocol[S]):
    """A step that waits for something outside, such as a model or a store."""

    @property
    def name(self) -> str:
        """The step's name in explanations and traces, lower case with underscores."""
        ...

    async def __call__(self, state: S, /) -> S:
        """Return the state after this step."""
        ...


class Observer(Protocol):
    """Told about every step; telemetry implements it, and so does a stop watch in a test."""

    def step(self, name: str, /) -> AbstractContextManager[None]:
        """Return a context that is entered before the step `name` and left after it, with its exception if any."""
        ...


class _Silent:
    def step(self, name: str, /) -> AbstractContextManager[None]:  # noqa: ARG002 - the port's signature
        return nullcontext()


NULL_OBSERVER: Observer = _Silent()


def run(operators: Sequence[Operator[S]], state: S, observer: Observer = NULL_OBSERVER) -> S:
    """Run the operators in their order.

    Args:
        operators: The pipeline; an empty one returns the state as it came.
        state: What the first operator gets.
        observer: Sees each step begin and end.

    Returns:
        The state after the last operator.

    Raises:
        Exception: Whatever an operator raises, unchanged; the observer has seen it.
    """
    for operator in operators:
        with observer.step(operator.name):
            state = operator(state)
    return state


async def run_async(operators: Sequence[AsyncOperator[S]], state: S, observer: Observer = NULL_OBSERVER) -> S:
    """Run the operators in their order, waiting for each; otherwise the same as `run`."""
    for operator in operators:
        with observer.step(operator.name):
            state = await operator(state)
    return state


def replaced(operators: Sequence[Operator[S]], name: str, operator: Operator[S]) -> tuple[Operator[S], ...]:
    """Return the pipeline with the step called `name` exchanged for another one.

    Raises:
        LookupError: When the pipeline has no such step.
    """
    if all(known.name != name for known in operators):
        raise LookupError(f"no step named {name!r}; there are {', '.join(known.name for known in operators)}")
    return tuple(operator if known.name == name else known for known in operators)


def changed(state: S, **values: Any) -> S:  # noqa: ANN401 - the types of many fields
    """Return a frozen dataclass with other values, as `dataclasses.replace` does at a fraction of its cost.

    `replace` sets every field anew, one after the other, and a question passes ten steps; this copies them in one. For
    dataclasses without slots whose `__post_init__`, if any, need not see the new values.

    Raises:
        TypeError: When there is no such field.
    """
    kind = type(state)
    known: dict[str, object] = kind.__dataclass_fields__  # type: ignore[attr-defined]
    if not known.keys() >= values.keys():
        raise TypeError(f"a {kind.__name__} has no {', '.join(sorted(values.keys() - known.keys()))}")
    made = object.__new__(kind)
    made.__dict__.update(state.__dict__)
    made.__dict__.update(values)
    return made
