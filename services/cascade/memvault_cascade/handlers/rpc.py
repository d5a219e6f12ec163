"""The CascadeService."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from typing import TYPE_CHECKING, Any

from memvault.cascade.v1 import cascade_pb2, cascade_pb2_grpc
from memvault.faults import Fault, Reason
from memvault.recall.v1 import recall_pb2, types_pb2
from memvault.rpc.stamps import timestamp
from memvault_cascade.domain.graph.summaries import EXTRACTIVE
from memvault_cascade.handlers import decode

if TYPE_CHECKING:
    import grpc

    from memvault_cascade.domain.graph.model import Triple
    from memvault_cascade.domain.graph.overview import FittingCommunity
    from memvault_cascade.domain.graph.walk import Step
    from memvault_cascade.usecases.ingest import Ingest
    from memvault_cascade.usecases.read import NamedTriple, Read
    from memvault_cascade.usecases.walk import Answer, Walk

    Context = grpc.aio.ServicerContext[Any, Any]

_DEFAULT_NEIGHBOURS = 5
_MOST_NEIGHBOURS = 50
_MEMBERS_SHOWN = 20


class CascadeHandlers(cascade_pb2_grpc.CascadeServiceServicer):
    """Questions to the graph."""

    def __init__(self, walk: Walk, read: Read, ingest: Ingest) -> None:
        self._walk = walk
        self._read = read
        self._ingest = ingest

    async def Walk(self, request: cascade_pb2.WalkRequest, context: Context) -> cascade_pb2.WalkResponse:
        return _walked(await self._walk(decode.question(request)))

    async def LinkEntities(
        self, request: cascade_pb2.LinkEntitiesRequest, context: Context
    ) -> cascade_pb2.LinkEntitiesResponse:
        if not 0 <= request.neighbours <= _MOST_NEIGHBOURS:
            raise Fault(Reason.FIELD_INVALID, f"neighbours must be 0 to {_MOST_NEIGHBOURS}", field="neighbours")
        user_id, text = decode.user(request.user_id), decode.text(request.text, "text")
        found = await self._read.link(user_id, text, request.neighbours or _DEFAULT_NEIGHBOURS)
        return cascade_pb2.LinkEntitiesResponse(
            entities=[
                cascade_pb2.LinkedEntity(
                    name=entity.name,
                    confidence=entity.confidence,
                    specificity=entity.specificity,
                    neighbours=_path(entity.neighbours),
                )
                for entity in found
            ]
        )

    async def ListTriples(
        self, request: cascade_pb2.ListTriplesRequest, context: Context
    ) -> AsyncIterator[cascade_pb2.ListTriplesResponse]:
        async for page in self._read.triples(decode.user(request.user_id)):
            yield cascade_pb2.ListTriplesResponse(triples=[_listed(fact) for fact in page])

    async def ForgetGraph(
        self, request: cascade_pb2.ForgetGraphRequest, context: Context
    ) -> cascade_pb2.ForgetGraphResponse:
        user_id = decode.user(request.user_id)
        blocks = [decode.block_id(identity) for identity in request.block_ids]
        # No place on the bus is known here; the event that follows buries the blocks under its own.
        gone = await self._ingest.forget(user_id, blocks, 0) if blocks else await self._ingest.forget_user(user_id, 0)
        return cascade_pb2.ForgetGraphResponse(triples=gone)

    async def GetGraph(self, request: cascade_pb2.GetGraphRequest, context: Context) -> cascade_pb2.GetGraphResponse:
        found = await self._read.totals(decode.user(request.user_id) if request.user_id else "")
        return cascade_pb2.GetGraphResponse(
            entities=found.entities,
            triples=found.triples,
            communities=found.communities,
            graph_version=found.version,
            community_version=found.community_version,
        )


def _walked(answer: Answer) -> cascade_pb2.WalkResponse:
    return cascade_pb2.WalkResponse(
        triples=[_near(near.triple, answer, near.weight, near.path) for near in answer.triples],
        blocks=[
            cascade_pb2.WalkedBlock(block_id=near.block_id, weight=near.weight, path=_path(near.path))
            for near in answer.blocks
        ],
        communities=[_community(fit, answer) for fit in answer.communities],
        entities=answer.linked,
        degraded=[types_pb2.Degradation(part=part, reason=reason) for part, reason in answer.degraded],
        times=[recall_pb2.HopTime(hop=hop, took_ms=took) for hop, took in answer.times.items()],
        graph_version=answer.version,
    )


def _near(triple: Triple, answer: Answer, weight: float, path: Iterable[Step]) -> cascade_pb2.WalkedTriple:
    subject, target = (answer.names.get(end, "") for end in (triple.subject_id, triple.object_id))
    return _triple(triple, subject, target, weight, path)


def _listed(fact: NamedTriple) -> cascade_pb2.WalkedTriple:
    return _triple(fact.triple, fact.subject, fact.object, 0.0, ())


def _triple(triple: Triple, subject: str, target: str, weight: float, path: Iterable[Step]) -> cascade_pb2.WalkedTriple:
    return cascade_pb2.WalkedTriple(
        triple_id=triple.id,
        triple=types_pb2.Triple(subject=subject, predicate=triple.predicate, object=target),
        weight=weight,
        block_ids=[support.block_id for support in triple.support],
        path=_path(path),
        valid_from=timestamp(triple.valid_from),
        valid_to=timestamp(triple.valid_to),
    )


def _community(fit: FittingCommunity, answer: Answer) -> cascade_pb2.WalkedCommunity:
    community = fit.community
    names = (answer.names[e] for e in community.entity_ids if e in answer.names)
    return cascade_pb2.WalkedCommunity(
        community_id=community.id,
        members=[name for name, _ in zip(names, range(_MEMBERS_SHOWN), strict=False)],
        similarity=fit.similarity,
        summary=community.summary,
        block_ids=community.block_ids,
        summary_kind=community.generator if community.generator == EXTRACTIVE else "llm",
    )


def _path(steps: Iterable[Step]) -> list[types_pb2.PathStep]:
    return [types_pb2.PathStep(subject=s.subject, predicate=s.predicate, object=s.object) for s in steps]
