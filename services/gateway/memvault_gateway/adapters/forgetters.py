"""Asks the other owners of a user's data to forget at once; the bus reaches whoever is away."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from typing import TYPE_CHECKING

from memvault.cascade.v1 import cascade_pb2
from memvault.faults import Fault
from memvault.router.v1 import router_pb2
from memvault.rpc.client import call
from memvault.slow_thinker.v1 import slow_thinker_pb2

if TYPE_CHECKING:
    from memvault.cascade.v1.cascade_pb2_grpc import CascadeServiceAsyncStub
    from memvault.router.v1.router_pb2_grpc import RouterServiceAsyncStub
    from memvault.slow_thinker.v1.slow_thinker_pb2_grpc import SlowThinkerServiceAsyncStub


class PeerForgetters:
    """See `ports.Forgetters`."""

    def __init__(
        self,
        router: RouterServiceAsyncStub,
        cascade: CascadeServiceAsyncStub,
        slow_thinker: SlowThinkerServiceAsyncStub,
    ) -> None:
        self._router = router
        self._cascade = cascade
        self._slow_thinker = slow_thinker

    async def forget(self, user_id: str, block_ids: Sequence[str], *, whole_user: bool, timeout_s: float) -> list[str]:
        """See `ports.Forgetters`."""
        ids = [] if whole_user else list(block_ids)
        graph = cascade_pb2.ForgetGraphRequest(user_id=user_id, block_ids=ids)
        prepared = slow_thinker_pb2.ForgetPreparedRequest(user_id=user_id, block_ids=ids)
        asked: dict[str, Awaitable[object]] = {
            "cascade": call(self._cascade.ForgetGraph, graph, timeout_s=timeout_s),
            "prefetch": call(self._slow_thinker.ForgetPrepared, prepared, timeout_s=timeout_s),
        }
        if whole_user:
            profile = router_pb2.DropProfileRequest(user_id=user_id)
            asked["router"] = call(self._router.DropProfile, profile, timeout_s=timeout_s)
        answers = await asyncio.gather(*(_confirmed(answer) for answer in asked.values()))
        return [part for part, confirmed in zip(asked, answers, strict=True) if not confirmed]


async def _confirmed(answer: Awaitable[object]) -> bool:
    try:
        await answer
    except Fault:
        return False
    return True
