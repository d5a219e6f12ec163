"""Calls and events go to whichever index answers now; a reindex exchanges it under them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from memvault.embed.v1 import embed_pb2, embed_pb2_grpc
from memvault.faults import Fault, Reason
from memvault.search.v1 import search_pb2 as pb
from memvault.search.v1 import search_pb2_grpc as rpc
from memvault_search.handlers.embed import EmbedHandlers
from memvault_search.handlers.events import EventHandlers
from memvault_search.handlers.search import SearchHandlers
from memvault_search.usecases.renewing import Renewing


@dataclass(eq=False)
class Faces:
    """The handlers of one index, how many calls are being answered from it, and whether none is."""

    search: SearchHandlers
    embed: EmbedHandlers
    events: EventHandlers
    answering: int = 0
    idle: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass(eq=False)
class Current:
    """The faces that answer now."""

    faces: Faces

    @contextmanager
    def answering(self) -> Iterator[Faces]:
        """The faces of now, which stay usable until the call is answered."""
        faces = self.faces
        faces.answering += 1
        faces.idle.clear()
        try:
            yield faces
        finally:
            faces.answering -= 1
            if not faces.answering:
                faces.idle.set()


class CurrentSearch(rpc.SearchServiceServicer):
    """`SearchService` of the index that answers, and the command that renews it."""

    def __init__(self, current: Current, renewing: Renewing) -> None:
        self._current = current
        self._renewing = renewing

    async def Search(self, request: pb.SearchRequest, context: object) -> pb.SearchResponse:
        with self._current.answering() as faces:
            return await faces.search.Search(request, context)

    async def Score(self, request: pb.ScoreRequest, context: object) -> pb.ScoreResponse:
        with self._current.answering() as faces:
            return await faces.search.Score(request, context)

    async def ReadBlocks(self, request: pb.ReadBlocksRequest, context: object) -> pb.ReadBlocksResponse:
        with self._current.answering() as faces:
            return await faces.search.ReadBlocks(request, context)

    async def ListBlocks(self, request: pb.ListBlocksRequest, context: object) -> AsyncIterator[pb.ListBlocksResponse]:
        with self._current.answering() as faces:
            async for page in faces.search.ListBlocks(request, context):
                yield page

    async def ForgetBlocks(self, request: pb.ForgetBlocksRequest, context: object) -> pb.ForgetBlocksResponse:
        with self._current.answering() as faces:
            try:
                return await faces.search.ForgetBlocks(request, context)
            except Fault as fault:
                if fault.reason is not Reason.VERSION_CONFLICT or faces is self._current.faces:
                    raise
        return await self._current.faces.search.ForgetBlocks(request, context)

    async def GetIndex(self, request: pb.GetIndexRequest, context: object) -> pb.GetIndexResponse:
        with self._current.answering() as faces:
            answer = await faces.search.GetIndex(request, context)
        answer.reindex = str(self._renewing.told)
        return answer

    async def Reindex(self, request: pb.ReindexRequest, context: object) -> pb.ReindexResponse:
        match request.action:
            case "start":
                self._renewing.start()
            case "anew":
                self._renewing.start(anew=True)
            case "stop":
                await self._renewing.stop()
            case "":
                pass
            case _:
                raise Fault(
                    Reason.FIELD_INVALID, "action must be start, anew or stop, or empty to look", field="action"
                )
        told = self._renewing.told
        return pb.ReindexResponse(
            state=told.state,
            done=told.done,
            total=told.total,
            built=told.built,
            made=str(told.made),
            wanted=str(told.wanted),
            detail=told.detail,
        )


class CurrentEmbed(embed_pb2_grpc.EmbedServiceServicer):
    """`EmbedService` with the encoder of the index that answers."""

    def __init__(self, current: Current) -> None:
        self._current = current

    async def Embed(self, request: embed_pb2.EmbedRequest, context: object) -> embed_pb2.EmbedResponse:
        with self._current.answering() as faces:
            return await faces.embed.Embed(request, context)

    async def Describe(self, request: embed_pb2.DescribeRequest, context: object) -> embed_pb2.DescribeResponse:
        with self._current.answering() as faces:
            return await faces.embed.Describe(request, context)
