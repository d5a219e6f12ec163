"""A channel to servicers in the same process: the same stubs, deadlines, spans and faults, without the wire."""

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import grpc

from memvault.faults import Fault, Reason
from memvault.rpc import deadline, hop
from memvault.rpc.methods import Method, Registration, methods_of
from memvault.rpc.relay import relay
from memvault.rpc.settings import RpcSettings, rpc_settings

SYSTEM = "local"


class LocalChannel(grpc.aio.Channel):
    """Generated stubs made on it call the servicers directly; messages are handed over, not copied.

    Args:
        servicers: Everything the service serves; a function when it is not built yet: asked at the first call.
        service: Its name in spans.
        settings: None: the section `rpc` of this process.
    """

    def __init__(
        self,
        servicers: Sequence[Registration] | Callable[[], Sequence[Registration]],
        service: str,
        *,
        settings: RpcSettings | None = None,
    ) -> None:
        self._servicers = servicers
        self._service = service
        self._numbers = rpc_settings() if settings is None else settings
        self._methods: dict[str, Method] = {}

    def _method(self, path: str) -> Method:
        if not self._methods:
            servicers = self._servicers() if callable(self._servicers) else self._servicers
            found = [method for registration in servicers for method in methods_of(registration)]
            self._methods = {method.path: method for method in found}
        if path not in self._methods:
            raise Fault(Reason.UNIMPLEMENTED, f"{path} is not served in this process")
        return self._methods[path]

    def unary_unary(self, method: str, *args: Any, **kwargs: Any) -> Any:
        return _Unary(self._method, method.lstrip("/"), self._service, self._numbers)

    def unary_stream(self, method: str, *args: Any, **kwargs: Any) -> Any:
        return _Stream(self._method, method.lstrip("/"), self._service, self._numbers)

    def stream_unary(self, method: str, *args: Any, **kwargs: Any) -> Any:
        raise TypeError(f"{method}: the contract streams answers only, never requests")

    def stream_stream(self, method: str, *args: Any, **kwargs: Any) -> Any:
        raise TypeError(f"{method}: the contract streams answers only, never requests")

    async def close(self, grace: float | None = None) -> None:
        """Nothing to close: the servicers belong to whoever built them."""

    def get_state(self, try_to_connect: bool = False) -> grpc.ChannelConnectivity:
        return grpc.ChannelConnectivity.READY

    async def wait_for_state_change(self, last_observed_state: grpc.ChannelConnectivity) -> None:
        """Return at once: the state never changes."""

    async def channel_ready(self) -> None:
        """Return at once: a local channel is always ready."""

    async def __aenter__(self) -> grpc.aio.Channel:
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.close()


class LocalContext:
    """What a handler may ask about a local call."""

    def time_remaining(self) -> float | None:
        """Return the seconds left, None without a deadline."""
        left = deadline.remaining_s(-1.0)
        return None if left < 0 else left

    def invocation_metadata(self) -> tuple[()]:
        """Return no metadata: trace and deadline follow the context of the task."""
        return ()

    def set_trailing_metadata(self, metadata: Sequence[tuple[str, str | bytes]]) -> None:
        """Ignore: spans are collected in the caller's own context."""

    def set_code(self, code: grpc.StatusCode) -> None:
        """Ignore: what goes wrong is raised as a fault."""

    def set_details(self, details: str) -> None:
        """Ignore: what goes wrong is raised as a fault."""


@dataclass(frozen=True, slots=True)
class _Unary:
    find: Callable[[str], Method]
    path: str
    service: str
    numbers: RpcSettings

    async def __call__(self, request: Any, timeout: float | None = None) -> Any:  # noqa: ASYNC109 - gRPC's own name
        behaviour = cast("Callable[..., Any]", self.find(self.path).handler.unary_unary)
        with hop.handling(self.path, self.service, SYSTEM):
            async with deadline.limit(_seconds(timeout, self.numbers)):
                return await behaviour(request, LocalContext())


@dataclass(frozen=True, slots=True)
class _Stream:
    find: Callable[[str], Method]
    path: str
    service: str
    numbers: RpcSettings

    async def __call__(
        self,
        request: Any,
        timeout: float | None = None,  # noqa: ASYNC109 - gRPC's own name
    ) -> AsyncIterator[Any]:
        behaviour = cast("Callable[..., AsyncIterator[Any]]", self.find(self.path).handler.unary_stream)

        async def answers() -> AsyncIterator[Any]:
            with hop.handling(self.path, self.service, SYSTEM):
                async with deadline.limit(_seconds(timeout, self.numbers)):
                    async for answer in behaviour(request, LocalContext()):
                        yield answer

        async for answer in relay(answers):
            yield answer


def _seconds(timeout: float | None, numbers: RpcSettings) -> float:
    # no hop margin: a local caller learns of a late callee at the same moment
    return deadline.for_next_hop(numbers.default_deadline_s if timeout is None else timeout, 0.0)
