"""Figures that are counted in the store and measured in telemetry alike."""

from __future__ import annotations

from collections.abc import Mapping

from memvault.runtime import telemetry
from memvault_slow_thinker.ports import Figures


class MeasuredFigures:
    """Wraps `ports.Figures`; metrics never name a user."""

    def __init__(self, inner: Figures) -> None:
        self._inner = inner

    async def add(self, user_id: str, amounts: Mapping[str, int], *, told_at: float) -> None:
        """See `ports.Figures`."""
        for name, amount in amounts.items():
            telemetry.counter("memvault.slow_thinker.figures", amount, **{"memvault.figure": name})
        await self._inner.add(user_id, amounts, told_at=told_at)

    async def read(self, user_id: str) -> dict[str, float]:
        """See `ports.Figures`."""
        return await self._inner.read(user_id)

    async def forget(self, user_id: str, at: float) -> None:
        """See `ports.Figures`."""
        await self._inner.forget(user_id, at)
