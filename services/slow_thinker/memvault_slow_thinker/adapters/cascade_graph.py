"""Entities and their neighbours, asked of the cascade."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memvault.cascade.v1 import cascade_pb2 as pb
from memvault.rpc.client import call
from memvault_slow_thinker.domain.prediction import Linked

if TYPE_CHECKING:
    from memvault.cascade.v1.cascade_pb2_grpc import CascadeServiceAsyncStub


class CascadeGraph:
    """See `ports.Graph`."""

    def __init__(self, stub: CascadeServiceAsyncStub) -> None:
        self._stub = stub

    async def linked(self, user_id: str, text: str, *, neighbours: int, timeout_s: float) -> tuple[Linked, ...]:
        """See `ports.Graph`."""
        request = pb.LinkEntitiesRequest(user_id=user_id, text=text, neighbours=neighbours)
        answer = await call(self._stub.LinkEntities, request, timeout_s=timeout_s)
        return tuple(_linked(entity) for entity in answer.entities)


def _linked(entity: pb.LinkedEntity) -> Linked:
    """Only relations that start at the entity make a question about it."""
    pairs = [(step.predicate, step.object) for step in entity.neighbours if step.subject == entity.name]
    return Linked(entity.name, entity.confidence, entity.specificity, tuple(pairs))
