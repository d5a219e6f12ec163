"""A language model on this machine: mlx_lm.server under the supervisor, where somebody configured one."""

from __future__ import annotations

import asyncio
import importlib.util
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict

from memvault.faults import Fault
from memvault.models.catalogue import Model, model_named
from memvault.models.shelf import folder_of, require
from memvault.runtime.settings import PREFIX, SettingsError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memvault.runtime.supervisor import Launch

SERVED_AS = "default_model"
"""What mlx_lm.server calls the model it was started with."""
_SERVER = "mlx_lm.server"
_PROBE_S = 2.0


class TextModelSettings(BaseModel):
    """Section `text_model`.

    Attributes:
        model: a name of `memvault models list`, or a folder with a model that mlx-lm runs; empty: none is started.
        address: `host:port` that it listens on; port 0: any free one.

    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str
    address: str


def text_model_folder(settings: TextModelSettings, home: Path) -> Path:
    """Return the folder of the configured model.

    Raises:
        SettingsError: When it is not there, or mlx-lm is not installed; in one line that says what to do.

    """
    known = model_named(settings.model)
    folder = folder_of(known, home) if known else Path(settings.model).expanduser()
    wanted = known or Model(settings.model, "text", "", "", "", 0, "text_model.model")
    try:
        require(wanted, folder, "text_model.model")
    except Fault as fault:
        raise SettingsError(f"text_model.model: {fault.message}, or empty it") from fault
    if importlib.util.find_spec("mlx_lm") is None:
        raise SettingsError(
            "text_model.model needs mlx-lm, which is not installed: run `pip install mlx-lm` on Apple Silicon, or "
            "empty it and set llm.base_url to the address of another server"
        )
    return folder


def text_model_command(folder: Path, address: str) -> tuple[str, ...]:
    """Return the server's command; pages of browsers may not ask it."""
    host, _, port = address.rpartition(":")
    words = ("--model", str(folder), "--host", host.strip("[]"), "--port", port, "--allowed-origins", f"http://{host}")
    return (sys.executable, "-m", _SERVER, *words)


def text_model_environment() -> Mapping[str, str]:
    """Return what the server is told: a request for another model must never make it download one."""
    return {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}


def text_model_address(address: str) -> Mapping[str, str]:
    """Return what the services are told: the server is their language model."""
    return {f"{PREFIX}LLM__BASE_URL": f"http://{address}/v1", f"{PREFIX}LLM__MODEL": SERVED_AS}


async def text_model_ready(launch: Launch) -> bool:
    """True when the server has its model and takes calls."""
    host, _, port = launch.address.rpartition(":")
    try:
        async with asyncio.timeout(_PROBE_S):
            reader, writer = await asyncio.open_connection(host.strip("[]"), int(port))
            try:
                writer.write(b"GET /health HTTP/1.0\r\n\r\n")
                status = await reader.readline()
            finally:
                writer.close()
    except (OSError, TimeoutError, ValueError):
        return False
    return status.split(b" ")[1:2] == [b"200"]
