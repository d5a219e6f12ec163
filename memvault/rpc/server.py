"""A gRPC server with everything a service of memvault owes its callers.

Every call gets a deadline, a span, figures and rich errors; unreadable requests and unknown fields are refused with a
reason from the contract. Health and reflection are served too and stay out of traces.
"""

import errno
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, NoReturn, TypeAlias, cast

import grpc
from google.protobuf.message import DecodeError, Message
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from memvault.faults import Fault, Reason
from memvault.rpc import deadline, hop
from memvault.rpc.errors import DETAILS_KEY, TABLE, to_status
from memvault.rpc.methods import Method, Registration, methods_of
from memvault.rpc.settings import RpcSettings, rpc_settings
from memvault.runtime import spans, telemetry
from memvault.runtime.poller import keep_poller
from memvault.runtime.readiness import INSTANCE_KEY

SYSTEM = "grpc"

Context: TypeAlias = "grpc.aio.ServicerContext[Any, Any]"
Unary: TypeAlias = Callable[[Message, Context], Awaitable[Message]]
Stream: TypeAlias = Callable[[Message, Context], AsyncIterator[Message]]
Deserialize: TypeAlias = Callable[[bytes], Message]


class AddressTakenError(OSError):
    """The address to listen on is in use; the message says what to do."""


@dataclass(slots=True)
class RunningServer:
    """A server that accepts calls."""

    host: str
    port: int
    _server: grpc.aio.Server
    _health: Any
    _names: tuple[str, ...]
    _grace_s: float

    @property
    def address(self) -> str:
        """`host:port`, with the port that was really taken."""
        return f"{self.host}:{self.port}"

    async def set_serving(self, *, serving: bool) -> None:
        """Tell health checks whether the service is ready; a fresh server is.

        Besides its services the server answers for its instance id, which no other process knows.
        """
        status = health_pb2.HealthCheckResponse
        for name in ("", *self._names):
            await self._health.set(name, status.SERVING if serving else status.NOT_SERVING)

    async def stop(self, grace: float | None = None) -> None:
        """Accept no more calls, let those under way end within `grace` seconds, then cancel them."""
        await self._health.enter_graceful_shutdown()
        await self._server.stop(self._grace_s if grace is None else grace)


async def build_server(
    servicers: Sequence[Registration],
    address: str,
    service: str,
    instance_id: str,
    *,
    settings: RpcSettings | None = None,
) -> RunningServer:
    """Start a server.

    Args:
        servicers: What it serves.
        address: `host:port`; port 0 takes any free one.
        service: The service's name in spans, for example `search`.
        instance_id: Told in health checks, so that a probe never mistakes another process for this one.
        settings: None: the section `rpc` of this process.

    Raises:
        AddressTakenError: When the address cannot be listened on.
    """
    numbers = rpc_settings() if settings is None else settings
    keep_poller()
    server = grpc.aio.server(options=_options(numbers))
    methods = [method for registration in servicers for method in methods_of(registration)]
    names = tuple(sorted({method.service for method in methods}))
    for name in names:
        own = {method.name: _wrapped(method, service, numbers) for method in methods if method.service == name}
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(name, own),))
    checks = _Health(instance_id)
    health_pb2_grpc.add_HealthServicer_to_server(checks, server)
    reflection.enable_server_reflection((*names, health.SERVICE_NAME, reflection.SERVICE_NAME), server)
    host, port = _bind(server, address)
    await server.start()
    running = RunningServer(host, port, server, checks.statuses, (*names, instance_id), numbers.stop_grace_s)
    await running.set_serving(serving=True)
    return running


def _options(numbers: RpcSettings) -> list[tuple[str, int]]:
    return [
        ("grpc.max_send_message_length", numbers.max_message_bytes),
        ("grpc.max_receive_message_length", numbers.max_message_bytes),
        ("grpc.max_metadata_size", numbers.max_metadata_bytes),
        ("grpc.absolute_max_metadata_size", numbers.max_metadata_bytes),
        ("grpc.so_reuseport", 0),  # or two servers would share a port and answer in turn
    ]


def _bind(server: grpc.aio.Server, address: str) -> tuple[str, int]:
    host, _, _ = address.rpartition(":")
    try:
        port = server.add_insecure_port(address)
    except RuntimeError:
        port = 0
    if port == 0:
        message = f"cannot listen on {address}: stop the process that uses it, or set another address"
        raise AddressTakenError(errno.EADDRINUSE, message)
    return host, port


class _Health:
    """The standard health service; its answers also tell the instance id."""

    def __init__(self, instance_id: str) -> None:
        self.statuses: Any = health.aio.HealthServicer()  # type: ignore[attr-defined]
        self._instance_id = instance_id

    async def Check(self, request: Message, context: Context) -> Message:
        context.set_trailing_metadata(((INSTANCE_KEY, self._instance_id),))
        answer: Message = await self.statuses.Check(request, context)
        return answer

    async def Watch(self, request: Message, context: Context) -> None:
        await self.statuses.Watch(request, context)

    async def List(self, request: Message, context: Context) -> Message:
        await context.abort(grpc.StatusCode.UNIMPLEMENTED, "ask for one service with Check")
        raise AssertionError("abort always raises")


def _wrapped(method: Method, service: str, numbers: RpcSettings) -> "grpc.RpcMethodHandler[Any, Any]":
    handler = method.handler
    serve = _Serve(method, service, numbers)
    if handler.unary_unary is not None:
        return grpc.unary_unary_rpc_method_handler(serve.unary, None, handler.response_serializer)
    if handler.unary_stream is not None:
        return grpc.unary_stream_rpc_method_handler(serve.stream, None, handler.response_serializer)
    raise TypeError(f"{method.path}: the contract streams answers only, never requests")


@dataclass(frozen=True, slots=True)
class _Serve:
    """One method as the server calls it: bytes in, messages out, faults as rich statuses."""

    method: Method
    service: str
    numbers: RpcSettings

    async def unary(self, raw: bytes, context: Context) -> Message:
        behaviour = cast("Unary", self.method.handler.unary_unary)
        headers = _text_headers(context)
        with telemetry.collect() if spans.REQUEST_KEY in headers else nullcontext() as finished:
            try:
                async with self._around(raw, headers, context) as request:
                    answer = await behaviour(request, context)
            except Fault as fault:
                await _refuse(context, fault, finished)
            if finished is not None:
                context.set_trailing_metadata(((spans.TRAILING_KEY, spans.encode(finished)),))
        return answer

    async def stream(self, raw: bytes, context: Context) -> AsyncIterator[Message]:
        behaviour = cast("Stream", self.method.handler.unary_stream)
        try:
            async with self._around(raw, _text_headers(context), context) as request:
                async for answer in behaviour(request, context):
                    yield answer
        except Fault as fault:
            await _refuse(context, fault, None)

    @asynccontextmanager
    async def _around(self, raw: bytes, headers: dict[str, str], context: Context) -> AsyncIterator[Message]:
        left = cast("float | None", context.time_remaining())
        seconds = self.numbers.default_deadline_s if left is None else left
        with telemetry.extract(headers), hop.handling(self.method.path, self.service, SYSTEM):
            async with deadline.limit(seconds, inherit=False):
                yield _parse(raw, cast("Deserialize", self.method.handler.request_deserializer))


def _text_headers(context: Context) -> dict[str, str]:
    metadata = cast("Sequence[tuple[str, str | bytes]]", context.invocation_metadata() or ())
    return {key: value for key, value in metadata if isinstance(value, str)}


def _parse(raw: bytes, deserialize: Deserialize) -> Message:
    try:
        request = deserialize(raw)
    except DecodeError as error:
        reason = Reason.TEXT_INVALID if "UTF-8" in str(error) else Reason.FIELD_INVALID
        raise Fault(reason, f"{error}: send the message of the contract, all texts in valid UTF-8") from error
    known = request.ByteSize()
    request.DiscardUnknownFields()
    if request.ByteSize() != known:
        name = request.DESCRIPTOR.full_name
        raise Fault(
            Reason.FIELD_UNKNOWN,
            f"{name} came with fields that this version does not know: leave them out",
            message=name,
        )
    return request


async def _refuse(context: Context, fault: Fault, finished: list[telemetry.SpanRecord] | None) -> NoReturn:
    details: list[tuple[str, str | bytes]] = [(DETAILS_KEY, to_status(fault).SerializeToString())]
    if finished is not None:
        details.append((spans.TRAILING_KEY, spans.encode(finished)))
    await context.abort(TABLE[fault.reason].code, fault.message, tuple(details))
    raise AssertionError("abort always raises")
