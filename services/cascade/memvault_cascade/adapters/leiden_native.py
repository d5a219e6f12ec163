"""Leiden through graspologic-native (MIT, Rust).

The permissive choice, and the one that lets other threads run meanwhile.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

if TYPE_CHECKING:
    from numpy.typing import NDArray


class NativeLeiden:
    """Modularity at a resolution, with a fixed seed.

    It starts afresh each time: ids last by overlap (`communities.cluster`).
    """

    def __init__(self, *, resolution: float, seed: int) -> None:
        """Higher resolutions cut finer."""
        self._resolution = resolution
        self._seed = seed

    def partition(self, adjacency: sparse.csr_matrix, start: NDArray[np.int64] | None) -> NDArray[np.int64]:  # noqa: ARG002 - the library takes no start here
        """See `Partitioner.partition`."""
        import graspologic_native  # noqa: PLC0415 - only where it was chosen

        size = adjacency.shape[0]
        _, found = graspologic_native.leiden_csr(
            adjacency.indptr.astype(np.int64),
            adjacency.indices.astype(np.int32),
            adjacency.data.astype(np.float64),
            size,
            resolution=self._resolution,
            seed=self._seed,
        )
        labels = np.arange(size, dtype=np.int64) + size
        for node, label in found.items():
            labels[node] = label
        return np.unique(labels, return_inverse=True)[1].astype(np.int64)
