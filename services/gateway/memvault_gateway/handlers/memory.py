"""`MemoryService`."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from memvault.faults import Fault, Reason
from memvault.recall.v1 import memory_pb2 as pb
from memvault.recall.v1.memory_pb2_grpc import MemoryServiceServicer
from memvault.recall.v1.types_pb2 import Block
from memvault_gateway.domain import edge, words
from memvault_gateway.handlers import decode, encode
from memvault_gateway.settings import Settings
from memvault_gateway.usecases.memory import Memory
from memvault_gateway.usecases.write import Write

if TYPE_CHECKING:
    from grpc.aio import ServicerContext

_MOST_EXPORTED = 10_000


class MemoryHandlers(MemoryServiceServicer):
    """See the contract."""

    def __init__(self, write: Write, memory: Memory, settings: Settings) -> None:
        self._write = write
        self._memory = memory
        self._settings = settings

    async def WriteBlock(
        self, request: pb.WriteBlockRequest, context: ServicerContext[pb.WriteBlockRequest, pb.WriteBlockResponse]
    ) -> pb.WriteBlockResponse:
        decode.refuse_unknown(request)
        block = decode.read_block(request.block)
        options = decode.read_write_options(request.options, self._settings)
        (outcome,) = await self._write([block], options)
        if outcome.status == "refused":
            raise Fault(Reason(outcome.reason), outcome.detail, block_id=outcome.block_id)
        return pb.WriteBlockResponse(outcome=encode.outcome_messages([outcome])[0])

    async def WriteBlocks(
        self, request: pb.WriteBlocksRequest, context: ServicerContext[pb.WriteBlocksRequest, pb.WriteBlocksResponse]
    ) -> pb.WriteBlocksResponse:
        blocks = decode.read_blocks(request)
        options = decode.read_write_options(request.options, self._settings)
        return pb.WriteBlocksResponse(outcomes=encode.outcome_messages(await self._write(blocks, options)))

    async def GetBlock(
        self, request: pb.GetBlockRequest, context: ServicerContext[pb.GetBlockRequest, pb.GetBlockResponse]
    ) -> pb.GetBlockResponse:
        decode.refuse_unknown(request)
        user_id = edge.check_user(request.user_id)
        opened = await self._memory.open(user_id, edge.check_block_id(request.block_id, "block_id"))
        block = Block()
        if isinstance(opened.block.carried, Block):
            block.CopyFrom(opened.block.carried)
        for way, text in opened.texts.items():
            encode.put_text(block, way, text)
        return pb.GetBlockResponse(block=block, redacted=opened.redacted)

    async def ExportBlocks(
        self, request: pb.ExportBlocksRequest, context: ServicerContext[pb.ExportBlocksRequest, pb.ExportBlocksResponse]
    ) -> AsyncIterator[pb.ExportBlocksResponse]:
        decode.refuse_unknown(request)
        user_id = edge.check_user(request.user_id)
        after = edge.check_short(request.after, "after")
        limit = edge.check_count(request.limit, 0, _MOST_EXPORTED, "limit")
        async for block in self._memory.export(user_id, after=after, limit=limit):
            if isinstance(block, Block):
                yield pb.ExportBlocksResponse(block=block)

    async def Forget(
        self, request: pb.ForgetRequest, context: ServicerContext[pb.ForgetRequest, pb.ForgetResponse]
    ) -> pb.ForgetResponse:
        decode.refuse_unknown(request)
        forgotten = await self._memory.forget(
            edge.check_user(request.user_id),
            block_ids=[edge.check_block_id(block_id, "block_ids") for block_id in request.block_ids],
            filters=decode.read_filters(request.filters),
            whole_user=request.whole_user,
        )
        return pb.ForgetResponse(
            block_ids=forgotten.block_ids[:10_000],
            blocks=len(forgotten.block_ids),
            degraded=encode.degradation_messages(forgotten.degraded),
        )

    async def RecordFeedback(
        self,
        request: pb.RecordFeedbackRequest,
        context: ServicerContext[pb.RecordFeedbackRequest, pb.RecordFeedbackResponse],
    ) -> pb.RecordFeedbackResponse:
        decode.refuse_unknown(request)
        user_id = edge.check_user(request.user_id)
        block_id = edge.check_block_id(request.block_id, "block_id")
        verdict = edge.check_word(request.verdict, words.VERDICTS, "verdict")
        if not verdict:
            message = f"say what you think of the block: send verdict, one of {', '.join(words.VERDICTS)}"
            raise Fault(Reason.FIELD_INVALID, message, field="verdict")
        recall_id = edge.check_short(request.recall_id, "recall_id")
        return pb.RecordFeedbackResponse(event_id=await self._memory.feedback(user_id, block_id, verdict, recall_id))

    async def AppendUtterance(
        self,
        request: pb.AppendUtteranceRequest,
        context: ServicerContext[pb.AppendUtteranceRequest, pb.AppendUtteranceResponse],
    ) -> pb.AppendUtteranceResponse:
        decode.refuse_unknown(request)
        user_id = edge.check_user(request.user_id)
        conversation_id = edge.check_short(request.conversation_id, "conversation_id")
        said = decode.read_utterance(request.utterance)
        event_id = edge.check_short(request.event_id, "event_id")
        return pb.AppendUtteranceResponse(event_id=await self._memory.said(user_id, conversation_id, said, event_id))
