"""Leiden in a child process.

Igraph holds the interpreter lock, 4.5 s long on 20,000 nodes, and recalls must go on meanwhile.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from scipy import sparse

    from memvault_cascade.domain.graph.communities import Partitioner

_LOOK_FOR_PARENT_S = 1.0


class InChildAbove:
    """A `Partitioner` that runs another one in a short-lived child process when the graph is large.

    Blocks its thread until the child is done: call it from a worker thread.
    """

    def __init__(self, inner: Partitioner, *, nodes: int) -> None:
        """Graphs of more than `nodes` nodes go to a child; starting one takes about half a second."""
        self._inner = inner
        self._nodes = nodes

    def partition(self, adjacency: sparse.csr_matrix, start: NDArray[np.int64] | None) -> NDArray[np.int64]:
        """See `Partitioner.partition`."""
        if adjacency.shape[0] <= self._nodes:
            return self._inner.partition(adjacency, start)
        spawn = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(1, spawn, initializer=_end_with, initargs=(os.getpid(),)) as pool:
            return pool.submit(self._inner.partition, adjacency, start).result()


def _end_with(parent: int) -> None:
    """End this process when its parent does, even when that was killed."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_LOOK_FOR_PARENT_S)
        os._exit(1)

    threading.Thread(target=watch, daemon=True, name="parent-watch").start()
