"""Section `rpc` of the settings: what every call and every server has in common."""

from functools import cache

from pydantic import BaseModel, ConfigDict, Field

from memvault.runtime import settings


class RpcSettings(BaseModel):
    """How calls between services behave.

    Attributes:
        max_message_bytes: Largest request or reply.
        max_metadata_bytes: Largest metadata; spans travel there.
        default_deadline_s: For a call that came without one.
        hop_margin_s: Kept back at each hop, so that the caller can still answer for a late callee.
        retry_attempts: Tries in all for a call that found nobody (UNAVAILABLE).
        retry_initial_s: Wait before the second try; doubles.
        retry_max_s: Longest wait between two tries.
        reconnect_max_s: Longest wait between two attempts to connect.
        stop_grace_s: How long calls under way may take when a server stops.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    max_message_bytes: int = Field(gt=0)
    max_metadata_bytes: int = Field(gt=0)
    default_deadline_s: float = Field(gt=0)
    hop_margin_s: float = Field(ge=0)
    retry_attempts: int = Field(ge=1, le=5)
    retry_initial_s: float = Field(gt=0)
    retry_max_s: float = Field(gt=0)
    reconnect_max_s: float = Field(gt=0)
    stop_grace_s: float = Field(ge=0)


@cache
def rpc_settings() -> RpcSettings:
    """Return the section as this process was configured; read once, at the first call."""
    return settings.load("rpc", RpcSettings)
