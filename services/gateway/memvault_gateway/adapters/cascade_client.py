"""Asks cascade to walk the graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memvault.cascade.v1 import cascade_pb2 as pb
from memvault.rpc.client import call
from memvault.rpc.stamps import timestamp
from memvault_gateway.adapters import wire
from memvault_gateway.domain.model import Ask, Card, Found, Reached, Understanding, Walked

if TYPE_CHECKING:
    from memvault.cascade.v1.cascade_pb2_grpc import CascadeServiceAsyncStub


class CascadeClient:
    """See `ports.GraphWalk`."""

    def __init__(self, stub: CascadeServiceAsyncStub) -> None:
        self._stub = stub

    async def walk(self, ask: Ask, understanding: Understanding, found: Found, *, timeout_s: float) -> Walked:
        """See `ports.GraphWalk`."""
        request = pb.WalkRequest(
            user_id=ask.user_id,
            query=understanding.query,
            query_vector=understanding.query_vector or found.query_vector,
            seeds=[pb.Seed(block_id=card.block_id, score=card.score or 0.0) for card in found.cards],
            retrieval_mode=understanding.retrieval_mode,
            as_of=timestamp(ask.as_of),
            now=timestamp(ask.evaluation.now),
            profile=ask.evaluation.profile,
        )
        walked = await call(self._stub.Walk, request, timeout_s=timeout_s)
        return Walked(
            triples=tuple(_fact(triple) for triple in walked.triples),
            blocks=tuple(Reached(block.block_id, block.weight, wire.path_steps(block.path)) for block in walked.blocks),
            communities=tuple(_community(community) for community in walked.communities),
            summaries=tuple(_summary(community) for community in walked.communities if community.summary),
            entities=tuple(walked.entities),
            degraded=wire.degradations(walked.degraded),
            times=wire.hop_times(walked.times),
        )


def _fact(found: pb.WalkedTriple) -> Card:
    fact = found.triple
    return Card(
        block_id=found.triple_id,
        kind="triple",
        text=f"{fact.subject} {fact.predicate} {fact.object}",
        path=wire.path_steps(found.path),
        supports=tuple(found.block_ids),
        event_time=wire.instant(found, "valid_from"),
    )


def _community(found: pb.WalkedCommunity) -> Card:
    return Card(
        block_id=found.community_id,
        kind="community",
        text=", ".join(found.members),
        supports=tuple(found.block_ids),
        similarity=found.similarity,
    )


def _summary(found: pb.WalkedCommunity) -> Card:
    return Card(
        block_id=f"{found.community_id}/summary",
        kind="summary",
        title=", ".join(found.members[:3]),
        text=found.summary,
        supports=tuple(found.block_ids),
        similarity=found.similarity,
    )
