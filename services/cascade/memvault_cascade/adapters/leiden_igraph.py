"""Leiden through igraph and leidenalg (GPL): the default.

Imported when first used, so that the permissive choice never loads it.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

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
        igraph, leidenalg = _imported()
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


def _imported() -> tuple[Any, Any]:
    """Import igraph and leidenalg, without matplotlib.

    igraph imports it for drawing wherever it is installed: 1.4 s of processor time against 0.1 s, in every process that
    cuts a graph. A module that is None cannot be imported, and igraph does without.
    """
    unasked = "matplotlib" not in sys.modules
    if unasked:
        sys.modules["matplotlib"] = None  # type: ignore[assignment]
    try:
        import igraph  # noqa: PLC0415 - GPL: a permissive installation never loads it
        import leidenalg  # noqa: PLC0415
    finally:
        if unasked:
            del sys.modules["matplotlib"]
    return igraph, leidenalg
