"""Summaries without a model."""

from __future__ import annotations

import asyncio

from memvault_cascade.domain.graph.summaries import EXTRACTIVE, Material, SummaryLimits, summarise
from memvault_cascade.ports import Written


class ExtractiveWriter:
    """A `SummaryWriter` that only quotes."""

    def __init__(self, limits: SummaryLimits) -> None:
        """`limits` bound the summary."""
        self._limits = limits

    @property
    def generator(self) -> str:
        """Always `extractive`."""
        return EXTRACTIVE

    async def write(self, found: Material) -> Written:
        """See `SummaryWriter.write`."""
        # A tenth of a second for a large community: too long for a recall to wait.
        return Written(await asyncio.to_thread(summarise, found, self._limits), EXTRACTIVE)
