"""The calling side: channels whose methods carry deadline and trace, and fail with a `Fault` only.

`open_channel` gives a channel to another process, `memvault.rpc.local.LocalChannel` one to a servicer in this process.
Generated stubs work on both: `SearchServiceStub(channel)`.
"""

import json
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import grpc

from memvault.rpc import deadline, hop
from memvault.rpc.errors import from_rpc_error
from memvault.rpc.relay import relay
from memvault.rpc.server import SYSTEM
from memvault.rpc.settings import RpcSettings, rpc_settings
from memvault.runtime import spans, telemetry
from memvault.runtime.poller import keep_poller
from memvault.runtime.readiness import Probe, probe

__all__ = ["Probe", "StreamMethod", "UnaryMethod", "call", "open_channel", "probe", "stream"]

Request_contra = TypeVar("Request_contra", contravariant=True)
Response_co = TypeVar("Response_co", covariant=True)


class UnaryMethod(Protocol[Request_contra, Response_co]):
    """A stub's method with one answer."""

    def __call__(self, request: Request_contra, timeout: float | None = ...) -> Awaitable[Response_co]:
        """Call it; `timeout` in seconds."""
        ...


class StreamMethod(Protocol[Request_contra, Response_co]):
    """A stub's method with a stream of answers."""

    def __call__(self, request: Request_contra, timeout: float | None = ...) -> AsyncIterable[Response_co]:
        """Call it; `timeout` in seconds for the whole stream."""
        ...


async def call(
    method: UnaryMethod[Request_contra, Response_co], request: Request_contra, *, timeout_s: float
) -> Response_co:
    """Call a stub's method, in another process or in this one.

    Args:
        method: Of a stub made on `open_channel` or on a `LocalChannel`.
        request: The message; neither side changes it.
        timeout_s: Seconds; less when the request at hand has less left.

    Raises:
        Fault: The callee's own; or DEADLINE_EXCEEDED, SERVICE_UNAVAILABLE and their like when the call went wrong.
    """
    return await method(request, timeout=timeout_s)


async def stream(
    method: StreamMethod[Request_contra, Response_co], request: Request_contra, *, timeout_s: float
) -> AsyncIterator[Response_co]:
    """Call a stub's method that streams its answers; see `call`."""
    async for answer in method(request, timeout=timeout_s):
        yield answer


def open_channel(address: str, *, settings: RpcSettings | None = None) -> grpc.aio.Channel:
    """Return a channel to `host:port`; it connects at the first call and again whenever it must.

    Needs a running event loop. Close it with `await channel.close()`.
    """
    numbers = rpc_settings() if settings is None else settings
    keep_poller()
    return _Channel(grpc.aio.insecure_channel(address, options=_options(numbers)), numbers)


def _options(numbers: RpcSettings) -> list[tuple[str, str | int]]:
    policy = {
        "maxAttempts": numbers.retry_attempts,
        "initialBackoff": f"{numbers.retry_initial_s}s",
        "maxBackoff": f"{numbers.retry_max_s}s",
        "backoffMultiplier": 2,
        "retryableStatusCodes": ["UNAVAILABLE"],
    }
    config: dict[str, object] = {"loadBalancingConfig": [{"round_robin": {}}]}
    if numbers.retry_attempts > 1:
        config["methodConfig"] = [{"name": [{}], "retryPolicy": policy}]
    reconnect_ms = int(numbers.reconnect_max_s * 1000)
    return [
        ("grpc.service_config", json.dumps(config)),
        ("grpc.max_send_message_length", numbers.max_message_bytes),
        ("grpc.max_receive_message_length", numbers.max_message_bytes),
        ("grpc.max_metadata_size", numbers.max_metadata_bytes),
        ("grpc.absolute_max_metadata_size", numbers.max_metadata_bytes),
        ("grpc.initial_reconnect_backoff_ms", min(100, reconnect_ms)),
        ("grpc.min_reconnect_backoff_ms", min(100, reconnect_ms)),
        ("grpc.max_reconnect_backoff_ms", reconnect_ms),
    ]


class _Channel(grpc.aio.Channel):
    """A channel that makes our methods for the generated stubs."""

    def __init__(self, inner: grpc.aio.Channel, numbers: RpcSettings) -> None:
        self._inner = inner
        self._numbers = numbers

    def unary_unary(self, method: str, *args: Any, **kwargs: Any) -> Any:
        return _Unary(self._inner.unary_unary(method, *args, **kwargs), method.lstrip("/"), self._numbers)

    def unary_stream(self, method: str, *args: Any, **kwargs: Any) -> Any:
        return _Stream(self._inner.unary_stream(method, *args, **kwargs), method.lstrip("/"), self._numbers)

    def stream_unary(self, method: str, *args: Any, **kwargs: Any) -> Any:
        return self._inner.stream_unary(method, *args, **kwargs)

    def stream_stream(self, method: str, *args: Any, **kwargs: Any) -> Any:
        return self._inner.stream_stream(method, *args, **kwargs)

    async def close(self, grace: float | None = None) -> None:
        await self._inner.close(grace)

    def get_state(self, try_to_connect: bool = False) -> grpc.ChannelConnectivity:
        return self._inner.get_state(try_to_connect)

    async def wait_for_state_change(self, last_observed_state: grpc.ChannelConnectivity) -> None:
        await self._inner.wait_for_state_change(last_observed_state)

    async def channel_ready(self) -> None:
        await self._inner.channel_ready()

    async def __aenter__(self) -> grpc.aio.Channel:
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.close()


@dataclass(frozen=True, slots=True)
class _Unary:
    inner: Callable[..., Any]
    path: str
    numbers: RpcSettings

    async def __call__(self, request: Any, timeout: float | None = None) -> Any:  # noqa: ASYNC109 - gRPC's own name
        with hop.calling(self.path, SYSTEM):
            under_way = self.inner(request, timeout=_seconds(timeout, self.numbers), metadata=_metadata())
            try:
                answer = await under_way
                if telemetry.collecting():
                    _keep_spans(await under_way.trailing_metadata())
            except grpc.aio.AioRpcError as error:
                _keep_spans(error.trailing_metadata())
                raise from_rpc_error(error) from error
            return answer


@dataclass(frozen=True, slots=True)
class _Stream:
    inner: Callable[..., Any]
    path: str
    numbers: RpcSettings

    async def __call__(
        self,
        request: Any,
        timeout: float | None = None,  # noqa: ASYNC109 - gRPC's own name
    ) -> AsyncIterator[Any]:
        async def answers() -> AsyncIterator[Any]:
            with hop.calling(self.path, SYSTEM):
                seconds = _seconds(timeout, self.numbers)
                try:
                    async for answer in self.inner(request, timeout=seconds, metadata=_metadata()):
                        yield answer
                except grpc.aio.AioRpcError as error:
                    raise from_rpc_error(error) from error

        async for answer in relay(answers):
            yield answer


def _seconds(timeout: float | None, numbers: RpcSettings) -> float:
    return deadline.for_next_hop(numbers.default_deadline_s if timeout is None else timeout, numbers.hop_margin_s)


def _metadata() -> tuple[tuple[str, str], ...]:
    headers: dict[str, str] = {}
    telemetry.inject(headers)
    if telemetry.collecting():
        headers[spans.REQUEST_KEY] = "1"
    return tuple(headers.items())


def _keep_spans(metadata: Any) -> None:
    for key, value in metadata or ():
        if key == spans.TRAILING_KEY:
            spans.add(*spans.decode(value))
