"""Keeps Python's garbage collector away from vaults, which hold no cycles and are freed when they are let go of.

A full collection goes through every object: 10 to 15 ms for each thousand blocks in memory, while nobody is answered
(docs/performance.md).
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


class Lasting:
    """Of one process, whose collector it stops and starts."""

    _loading = 0

    @classmethod
    @contextmanager
    def loading(cls) -> Iterator[None]:
        """Collect nothing while a vault is read: all of it is new, and none of it garbage."""
        cls._loading += 1
        gc.disable()
        try:
            yield
        finally:
            cls._loading -= 1
            if not cls._loading:
                gc.enable()

    @staticmethod
    def keep() -> None:
        """Never again look through what is there now; what of it is let go of is freed all the same."""
        gc.collect(1)  # young garbage, which would stay for good
        gc.freeze()
