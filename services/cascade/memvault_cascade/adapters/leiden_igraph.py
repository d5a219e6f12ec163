"""Leiden through igraph and leidenalg (GPL): the default.

Imported when first used, so that the permissive choice never loads it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

if TYPE_CHECKING:
    from numpy.typing import NDArray


class IgraphLeiden:
    """Modularity at a resolution, with a fixed seed."""

    def __init__(self, *, resolution: float, seed: int) -> None:
        """Higher resolutions cut finer."""
        self._resolution = resolution
        self._seed = seed

    def partition(self, adjacency: sparse.csr_matrix, start: NDArray[np.int64] | None) -> NDArray[np.int64]:
        """See `Partitioner.partition`."""
        import igraph  # noqa: PLC0415 - GPL, and 0.2 s that a permissive installation need not pay
        import leidenalg  # noqa: PLC0415

        upper = sparse.triu(adjacency, k=1).tocoo()
        edges = np.column_stack((upper.row, upper.col))
        graph = igraph.Graph(n=adjacency.shape[0], edges=edges)
        found = leidenalg.find_partition(
            graph,
            leidenalg.RBConfigurationVertexPartition,
            weights=upper.data.tolist(),
            initial_membership=None if start is None else start.tolist(),
            resolution_parameter=self._resolution,
            seed=self._seed,
        )
        return np.asarray(found.membership, dtype=np.int64)
