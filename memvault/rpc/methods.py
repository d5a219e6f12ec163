"""The methods of a servicer, read from its generated `add_XServicer_to_server`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import grpc

Registration = tuple[Callable[[Any, Any], None], object]
"""`(add_XServicer_to_server, servicer)`."""


@dataclass(frozen=True, slots=True)
class Method:
    """One RPC.

    Attributes:
        service: Fully qualified proto service.
        name: The RPC's name.
        handler: Its serialisers and behaviour.
    """

    service: str
    name: str
    handler: "grpc.RpcMethodHandler[Any, Any]"

    @property
    def path(self) -> str:
        """`service/name`, as it appears in spans."""
        return f"{self.service}/{self.name}"


class _Recorder:
    """Stands in for a server while a servicer registers."""

    def __init__(self) -> None:
        self.methods: list[Method] = []

    def add_generic_rpc_handlers(self, handlers: Sequence[object]) -> None:
        """Ignore the opaque form; the registered one below carries the same handlers."""

    def add_registered_method_handlers(
        self, service: str, handlers: "Mapping[str, grpc.RpcMethodHandler[Any, Any]]"
    ) -> None:
        self.methods += [Method(service, name, handler) for name, handler in handlers.items()]


def methods_of(registration: Registration) -> list[Method]:
    """Return the servicer's methods."""
    add, servicer = registration
    recorder = _Recorder()
    add(servicer, recorder)
    return recorder.methods
