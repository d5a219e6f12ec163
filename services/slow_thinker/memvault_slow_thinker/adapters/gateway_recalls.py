"""Recalls through the gateway, like any client, with origin `prefetch` (R-53)."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from memvault.recall.v1 import recall_pb2 as pb
from memvault.rpc.client import call
from memvault.rpc.stamps import timestamp_of
from memvault_slow_thinker.domain.conversation import Place
from memvault_slow_thinker.ports import Fetched

if TYPE_CHECKING:
    from memvault.recall.v1.recall_pb2_grpc import RecallServiceAsyncStub


class GatewayRecalls:
    """See `ports.Recalls`."""

    def __init__(self, stub: RecallServiceAsyncStub) -> None:
        self._stub = stub

    async def recall(self, place: Place, question: str, *, now: float, timeout_s: float) -> Fetched:
        """See `ports.Recalls`."""
        request = pb.RecallRequest(
            query=question,
            context=pb.RecallContext(
                user_id=place.user_id,
                conversation_id=place.conversation_id,
                origin="prefetch",
                deadline_ms=round(timeout_s * 1000),
                evaluation=pb.Evaluation(now=timestamp_of(now), include_candidates=True),
            ),
        )
        started = time.perf_counter()
        answer = await call(self._stub.Recall, request, timeout_s=timeout_s)
        took_ms = answer.took_ms or (time.perf_counter() - started) * 1000
        cards = [*answer.cards, *answer.cascade_cards]
        held = {card.block_id for card in cards if card.kind in {"", "block"}}
        held.update(block_id for card in cards for block_id in card.supports)
        held.update(candidate.block_id for candidate in answer.candidates)
        return Fetched(
            answer=answer.SerializeToString(),
            block_ids=frozenset(held),
            cards=len(cards),
            confidence=answer.confidence,
            degraded=frozenset(part.part for part in answer.degraded),
            write_version=answer.write_version,
            took_ms=took_ms,
        )
