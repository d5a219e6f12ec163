"""What the gRPC face does with bad input: INVALID_ARGUMENT with a reason of the contract, never an internal error."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import grpc
import pytest

from memvault.faults import Fault
from memvault.recall.v1 import memory_pb2, recall_pb2
from memvault.recall.v1.memory_pb2_grpc import MemoryServiceStub
from memvault.recall.v1.recall_pb2_grpc import RecallServiceStub
from memvault.rpc.client import call, open_channel, stream
from memvault.rpc.errors import from_rpc_error
from memvault.rpc.server import build_server

RECALL = "/memvault.recall.v1.RecallService/Recall"


@pytest.fixture
async def address(world: Any) -> AsyncIterator[str]:
    server = await build_server(world.registrations, "127.0.0.1:0", "gateway", "test")
    yield server.address
    await server.stop()


def recall(**context: Any) -> recall_pb2.RecallRequest:
    return recall_pb2.RecallRequest(query="OCR 做到哪了", context={"user_id": "ann", **context})


BAD = [
    ("nothing at all", recall_pb2.RecallRequest(), "USER_REQUIRED"),
    ("no user", recall_pb2.RecallRequest(query="x"), "USER_REQUIRED"),
    ("a user with a blank", recall(user_id="a b"), "USER_INVALID"),
    ("no query", recall_pb2.RecallRequest(context={"user_id": "ann"}), "QUERY_REQUIRED"),
    ("a query of 1 MB", recall_pb2.RecallRequest(query="a" * 1_000_000, context={"user_id": "ann"}), "TEXT_TOO_LONG"),
    ("a query with NUL", recall_pb2.RecallRequest(query="a\0", context={"user_id": "ann"}), "TEXT_INVALID"),
    ("a negative budget", recall(token_budget=-1), "FIELD_INVALID"),
    ("a limit of nothing", recall(limit=0), "FIELD_INVALID"),
    ("an unknown format", recall(format="xml"), "FIELD_INVALID"),
    ("an unknown origin", recall(origin="moon"), "FIELD_INVALID"),
    ("an unknown source kind", recall(filters={"source_kinds": ["dream"]}), "FIELD_INVALID"),
    ("an instant beyond all years", recall(as_of={"seconds": 10**15}), "FIELD_INVALID"),
    ("a wrong switch", recall(evaluation={"off": ["gravity"]}), "FIELD_INVALID"),
]


@pytest.mark.parametrize(("request_", "reason"), [row[1:] for row in BAD], ids=[row[0] for row in BAD])
async def test_bad_input_is_an_invalid_argument_with_a_reason(
    address: str, request_: recall_pb2.RecallRequest, reason: str
) -> None:
    channel = grpc.aio.insecure_channel(address)
    try:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await RecallServiceStub(channel).Recall(request_, timeout=5)
    finally:
        await channel.close()
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    fault = from_rpc_error(caught.value)
    assert (fault.reason.value, bool(fault.message)) == (reason, True)


WIRE = [
    ("a query that is no UTF-8", b"\x0a\x02\xff\xfe\x12\x05\x0a\x03ann", "TEXT_INVALID"),
    ("half of a surrogate pair", b"\x0a\x03\xed\xa0\x80\x12\x05\x0a\x03ann", "TEXT_INVALID"),
    ("an unknown field", recall().SerializeToString() + b"\xfa\x3f\x01x", "FIELD_UNKNOWN"),
    ("a message cut in half", recall().SerializeToString()[:-2], "FIELD_INVALID"),
]


@pytest.mark.parametrize(("sent", "reasons"), [row[1:] for row in WIRE], ids=[row[0] for row in WIRE])
async def test_bytes_that_are_no_message_are_an_invalid_argument(address: str, sent: bytes, reasons: str) -> None:
    channel = grpc.aio.insecure_channel(address)
    raw = channel.unary_unary(RECALL, request_serializer=None, response_deserializer=None)
    try:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await raw(sent, timeout=5)
    finally:
        await channel.close()
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert from_rpc_error(caught.value).reason.value in {reasons, "FIELD_INVALID", "TEXT_INVALID"}


async def test_not_a_number_is_refused_in_a_block(address: str) -> None:
    channel = open_channel(address)
    request = memory_pb2.WriteBlockRequest(
        block={"id": "b1", "user_id": "ann", "text": "好", "trust": float("nan")},
    )
    try:
        with pytest.raises(Fault) as caught:
            await call(MemoryServiceStub(channel).WriteBlock, request, timeout_s=5)
    finally:
        await channel.close()
    assert (caught.value.reason.value, caught.value.metadata["field"]) == ("FIELD_INVALID", "block.trust")


async def test_a_question_is_answered_and_an_export_streamed(address: str, world: Any) -> None:
    world.blocks.put("ann", "b1", "OCR 做到九成")
    channel = open_channel(address)
    try:
        answer = await call(RecallServiceStub(channel).Recall, recall(format="text"), timeout_s=5)
        wanted = memory_pb2.ExportBlocksRequest(user_id="ann")
        parts = stream(MemoryServiceStub(channel).ExportBlocks, wanted, timeout_s=5)
        names = [part.block.id async for part in parts]
        wanted.after = "b1"
        rest = [part async for part in stream(MemoryServiceStub(channel).ExportBlocks, wanted, timeout_s=5)]
    finally:
        await channel.close()
    assert "> OCR 做到九成" in answer.text
    assert (names, rest) == (["b1"], [])
