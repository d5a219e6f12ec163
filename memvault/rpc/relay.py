"""Lets a stream be read from any task, while its deadline and span live in a task of their own."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _End:
    error: Exception | None


async def relay(make: Callable[[], AsyncIterator[T]]) -> AsyncIterator[T]:
    """Yield what the iterator of `make` yields, which runs in a task of its own, one answer ahead of the reader.

    Context variables set by a generator belong to the task that runs it; a reader that goes on in another task, as a
    streamed HTTP answer does, could not reset them. A reader that stops early stops the task.

    Raises:
        Exception: Whatever the iterator raises, after what it yielded before.
    """
    answers: asyncio.Queue[T | _End] = asyncio.Queue(maxsize=1)

    async def produce() -> None:
        error: Exception | None = None
        try:
            async for answer in make():
                await answers.put(answer)
        except Exception as failure:  # noqa: BLE001 - raised again for the reader
            error = failure
        await answers.put(_End(error))

    producing = asyncio.create_task(produce(), name="relay")
    try:
        while not isinstance(answer := await answers.get(), _End):
            yield answer
        if answer.error is not None:
            raise answer.error
    finally:
        producing.cancel()
        await asyncio.gather(producing, return_exceptions=True)
