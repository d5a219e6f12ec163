"""What only shows on the wire: unreadable requests, unknown fields, size, health, reflection, a taken port."""

from collections.abc import AsyncIterator

import grpc
import pytest
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from memvault.faults import Fault, Reason
from memvault.rerank.v1 import rerank_pb2, rerank_pb2_grpc
from memvault.rpc.client import call, open_channel, probe
from memvault.rpc.errors import from_rpc_error
from memvault.rpc.server import AddressTakenError, RunningServer, build_server
from memvault.rpc.settings import rpc_settings

PATH = "/memvault.rerank.v1.RerankService/Rerank"


class Echo(rerank_pb2_grpc.RerankServiceServicer):
    async def Rerank(self, request, context):
        if request.query == "large":
            return rerank_pb2.RerankResponse(model="m" * 20_000_000)
        return rerank_pb2.RerankResponse(status="OK", model=request.query)


@pytest.fixture
async def server() -> AsyncIterator[RunningServer]:
    registration = (rerank_pb2_grpc.add_RerankServiceServicer_to_server, Echo())
    running = await build_server([registration], "127.0.0.1:0", "rerank", "instance-7")
    yield running
    await running.stop(0)


async def send_raw(address: str, raw: bytes) -> Fault:
    async with grpc.aio.insecure_channel(address) as channel:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await channel.unary_unary(PATH)(raw, timeout=5)
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    return from_rpc_error(caught.value)


async def test_invalid_utf8_is_a_text_fault(server: RunningServer) -> None:
    good = rerank_pb2.RerankRequest(query="abc").SerializeToString()
    fault = await send_raw(server.address, good.replace(b"abc", b"\xff\xfea"))
    assert fault.reason is Reason.TEXT_INVALID


async def test_bytes_that_are_no_message_are_a_field_fault(server: RunningServer) -> None:
    fault = await send_raw(server.address, b"\xff\xff\xff")
    assert fault.reason is Reason.FIELD_INVALID


async def test_an_unknown_field_is_refused_even_deep_inside(server: RunningServer) -> None:
    unknown = b"\xf8\x07\x01"  # field 127, varint 1
    request = rerank_pb2.RerankRequest(query="q").SerializeToString()
    assert (await send_raw(server.address, request + unknown)).reason is Reason.FIELD_UNKNOWN
    document = rerank_pb2.RerankDocument(id="1").SerializeToString() + unknown
    nested = b"\x12" + bytes([len(document)]) + document
    assert (await send_raw(server.address, nested)).reason is Reason.FIELD_UNKNOWN


async def test_a_reply_beyond_grpcs_usual_four_megabytes_arrives(server: RunningServer) -> None:
    channel = open_channel(server.address)
    stub = rerank_pb2_grpc.RerankServiceStub(channel)
    answer = await call(stub.Rerank, rerank_pb2.RerankRequest(query="large"), timeout_s=20)
    assert len(answer.model) == 20_000_000
    await channel.close()


async def test_a_message_beyond_the_limit_is_payload_too_large(server: RunningServer) -> None:
    small = rpc_settings().model_copy(update={"max_message_bytes": 1000})
    channel = open_channel(server.address, settings=small)
    stub = rerank_pb2_grpc.RerankServiceStub(channel)
    with pytest.raises(Fault) as caught:
        await call(stub.Rerank, rerank_pb2.RerankRequest(query="q" * 2000), timeout_s=5)
    assert caught.value.reason is Reason.PAYLOAD_TOO_LARGE
    await channel.close()


async def test_nobody_there_is_service_unavailable(unused_tcp_port: int) -> None:
    channel = open_channel(f"127.0.0.1:{unused_tcp_port}")
    stub = rerank_pb2_grpc.RerankServiceStub(channel)
    with pytest.raises(Fault) as caught:
        await call(stub.Rerank, rerank_pb2.RerankRequest(query="q"), timeout_s=2)
    assert caught.value.reason is Reason.SERVICE_UNAVAILABLE
    await channel.close()


async def test_a_channel_finds_a_server_that_came_back(unused_tcp_port: int) -> None:
    address = f"127.0.0.1:{unused_tcp_port}"
    registration = (rerank_pb2_grpc.add_RerankServiceServicer_to_server, Echo())
    channel = open_channel(address)
    stub = rerank_pb2_grpc.RerankServiceStub(channel)
    for instance in ("first", "second"):
        server = await build_server([registration], address, "rerank", instance)
        answer = await call(
            lambda request, timeout=None: stub.Rerank(request, timeout=timeout),
            rerank_pb2.RerankRequest(query=instance),
            timeout_s=5,
        )
        assert answer.model == instance
        await server.stop(0)
        with pytest.raises(Fault):
            await call(stub.Rerank, rerank_pb2.RerankRequest(query="q"), timeout_s=1)
    await channel.close()


async def test_a_probe_tells_readiness_and_which_instance_answered(server: RunningServer) -> None:
    found = await probe(server.address, timeout_s=2)
    assert (found.ready, found.instance_id) == (True, "instance-7")
    assert (await probe(server.address, timeout_s=2, service="instance-7")).ready
    assert not (await probe(server.address, timeout_s=2, service="instance-6")).ready
    await server.set_serving(serving=False)
    assert not (await probe(server.address, timeout_s=2)).ready


async def test_a_probe_of_nobody_is_not_ready(unused_tcp_port: int) -> None:
    found = await probe(f"127.0.0.1:{unused_tcp_port}", timeout_s=1)
    assert (found.ready, found.instance_id) == (False, "")


async def test_a_taken_port_is_one_clear_line(server: RunningServer) -> None:
    with pytest.raises(AddressTakenError, match="set another address") as caught:
        await build_server([], server.address, "rerank", "instance-8")
    assert "\n" not in str(caught.value)


async def test_reflection_lists_the_services(server: RunningServer) -> None:
    async with grpc.aio.insecure_channel(server.address) as channel:
        stub = reflection_pb2_grpc.ServerReflectionStub(channel)
        asked = stub.ServerReflectionInfo(iter([reflection_pb2.ServerReflectionRequest(list_services="")]))
        answer = await asked.read()
    names = {service.name for service in answer.list_services_response.service}
    assert {"memvault.rerank.v1.RerankService", "grpc.health.v1.Health"} <= names
