"""Which processes make up a memvault on one machine, where they listen, and what each is told."""

from __future__ import annotations

import asyncio
import os
import re
import socket
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict

from memvault.runtime import bytecode
from memvault.runtime.embedded import EmbeddedSettings, nats_command, nats_ready, valkey_command, valkey_ready
from memvault.runtime.folder import Folder
from memvault.runtime.places import EMBEDDED, Addresses, Stores
from memvault.runtime.settings import PREFIX, SettingsError, load
from memvault.runtime.supervisor import Launch, ProcessSpec
from memvault.runtime.text_model import (
    TextModelSettings,
    text_model_address,
    text_model_command,
    text_model_environment,
    text_model_folder,
    text_model_ready,
)

SERVICES = ("search", "rerank", "router", "cascade", "gateway", "slow_thinker")
Mode = Literal["six", "one"]
_ADDRESS = re.compile(r"(\[[0-9a-fA-F:]+\]|[^:\s]+):(\d{1,5})")
_PROBE_S = 2.0
_HIGHEST_PORT = 65535
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
# Questions flow from later to earlier: a service is stopped before those that it asks. All start together, since
# importing takes most of a start and whoever is asked too early is asked again.
_ASKS: Mapping[str, tuple[str, ...]] = {
    "search": (),
    "rerank": (),
    "router": ("search",),
    "cascade": ("search",),
    "gateway": ("search", "router"),
    "slow_thinker": ("gateway",),
}


class HttpSettings(BaseModel):
    """Section `http`: where the gateway's HTTP face listens, as `host:port`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    address: str


class PortTakenError(Exception):
    """A public port is in use; the message is one line that says which, and what to do."""


@dataclass(frozen=True)
class Plan:
    """What to run. `http` and `grpc` are the public addresses, `nats` and `redis` URLs."""

    specs: tuple[ProcessSpec, ...]
    http: str
    grpc: str
    nats: str
    redis: str


def plan(folder: Folder, mode: Mode) -> Plan:
    """Decide addresses and processes from the settings.

    Raises:
        SettingsError: A setting cannot be used.
        PortTakenError: A public port is in use.
        MissingBinaryError: An embedded server is not installed.
    """
    stores = load("stores", Stores, home=folder.root)
    addresses = load("addresses", Addresses, home=folder.root).model_dump()
    http = load("http", HttpSettings, home=folder.root).address
    for address, variable in ((http, "HTTP__ADDRESS"), (addresses["gateway"], "ADDRESSES__GATEWAY")):
        _check_free(address, variable)
    # Held open until all are chosen, or one number could be given out twice.
    with _Ports() as ports:
        addresses = {name: ports.settle(address) if address else address for name, address in addresses.items()}
        http = ports.settle(http)
        servers, urls = _embedded(folder, stores, ports)
        text_model, told = _text_model(folder, ports)
    environment = {
        # One thread for each numeric library, unless somebody chose otherwise: six services share the cores.
        **{name: os.environ.get(name, "1") for name in _THREADS},
        **bytecode.environment(folder.bytecode),
        "MEMVAULT_HOME": str(folder.root),
        f"{PREFIX}HTTP__ADDRESS": http,
        f"{PREFIX}STORES__NATS": urls["nats"],
        f"{PREFIX}STORES__REDIS": urls["redis"],
        **{f"{PREFIX}ADDRESSES__{name.upper()}": address for name, address in addresses.items()},
        **told,
    }
    services = _services(mode, addresses, http, environment, tuple(server.name for server in servers))
    return Plan((*servers, *text_model, *services), http, addresses["gateway"], urls["nats"], urls["redis"])


def _services(
    mode: Mode, addresses: Mapping[str, str], http: str, environment: Mapping[str, str], servers: tuple[str, ...]
) -> tuple[ProcessSpec, ...]:
    async def public_ready(launch: Launch) -> bool:
        return await grpc_ready(launch) and await listening(http)

    def spec(name: str, module: str, address: str, asks: tuple[str, ...] = ()) -> ProcessSpec:
        return ProcessSpec(
            name=name,
            command=(sys.executable, "-m", module),
            address=address,
            ready=public_ready if address == addresses["gateway"] else grpc_ready,
            after=servers,
            environment=environment,
            asks=asks,
        )

    if mode == "one":
        return (spec("laptop", "memvault_laptop", addresses["gateway"]),)
    return tuple(spec(name, f"memvault_{name}", addresses[name], _ASKS[name]) for name in SERVICES)


def _embedded(folder: Folder, stores: Stores, ports: _Ports) -> tuple[tuple[ProcessSpec, ...], dict[str, str]]:
    settings = load("embedded", EmbeddedSettings, home=folder.root)
    specs: list[ProcessSpec] = []
    urls = {"nats": stores.nats, "redis": stores.redis}
    if stores.nats == EMBEDDED:
        address = ports.settle("127.0.0.1:0")
        command = nats_command(folder.data("nats"), _parts(address)[1], settings)
        specs.append(ProcessSpec("nats", command, address, nats_ready))
        urls["nats"] = f"nats://{address}"
    if stores.redis == EMBEDDED:
        address = ports.settle("127.0.0.1:0")
        command = valkey_command(folder.data("valkey"), _parts(address)[1], settings)
        specs.append(ProcessSpec("valkey", command, address, valkey_ready))
        urls["redis"] = f"redis://{address}/0"
    return tuple(specs), urls


def _text_model(folder: Folder, ports: _Ports) -> tuple[tuple[ProcessSpec, ...], Mapping[str, str]]:
    """The language model, if one is configured, and how the services find it. Nobody waits for it to start."""
    settings = load("text_model", TextModelSettings, home=folder.root)
    if not settings.model:
        return (), {}
    weights = text_model_folder(settings, folder.root)
    address = ports.settle(settings.address)
    command = text_model_command(weights, address)
    spec = ProcessSpec("text_model", command, address, text_model_ready, environment=text_model_environment())
    return (spec,), text_model_address(address)


async def grpc_ready(launch: Launch) -> bool:
    """True when this very start of a service takes calls."""
    # imported here: what only needs the addresses need not pay for gRPC
    from memvault.runtime.readiness import probe  # noqa: PLC0415

    if not await listening(launch.address):
        return False  # a gRPC channel costs a hundred times more than this
    found = await probe(launch.address, timeout_s=_PROBE_S)
    return found.ready and found.instance_id == launch.instance_id


async def listening(address: str) -> bool:
    """True when something accepts connections there."""
    host, _, port = address.rpartition(":")
    try:
        async with asyncio.timeout(_PROBE_S):
            _, writer = await asyncio.open_connection(host.strip("[]"), int(port))
            writer.close()
    except (OSError, TimeoutError):
        return False
    return True


class _Ports:
    """Picks free ports and keeps them reserved until the choice is complete."""

    def __init__(self) -> None:
        self._sockets: list[socket.socket] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for item in self._sockets:
            item.close()

    def settle(self, address: str) -> str:
        """The address itself, or with a free port in place of port 0."""
        host, port = _parts(address)
        if port:
            return address
        reserved = _bind(host, 0)
        self._sockets.append(reserved)
        return f"{host}:{reserved.getsockname()[1]}"


def _bind(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if host.startswith("[") else socket.AF_INET
    bound = socket.socket(family)
    try:
        # As servers do: a port whose last connections are only waiting to be forgotten counts as free.
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((host.strip("[]"), port))
        bound.listen(1)
    except OSError:
        bound.close()
        raise
    return bound


def _check_free(address: str, variable: str) -> None:
    host, port = _parts(address)
    try:
        _bind(host, port).close()
    except OSError as error:
        raise PortTakenError(
            f"{address} cannot be used ({error.strerror or error}): stop what uses it, or set {PREFIX}{variable} to "
            "another address"
        ) from error


def _parts(address: str) -> tuple[str, int]:
    found = _ADDRESS.fullmatch(address)
    if found is None or int(found[2]) > _HIGHEST_PORT:
        raise SettingsError(f"{address!r} is no address: write host:port, for example 127.0.0.1:8765")
    return found[1], int(found[2])
