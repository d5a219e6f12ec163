"""Settings of the bus; the numbers live in section `bus` of `defaults.toml`."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Seconds = Annotated[float, Field(gt=0)]


class BusSettings(BaseModel):
    """Frozen settings of one connection to the bus. All times in seconds, all sizes in bytes."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    url: str = "nats://127.0.0.1:4222"
    connect_timeout_s: Seconds
    reconnect_wait_s: Seconds
    request_timeout_s: Seconds
    publish_timeout_s: Seconds
    publish_try_s: Seconds
    stop_timeout_s: Seconds
    fetch_timeout_s: Seconds
    fetch_batch: Annotated[int, Field(ge=1, le=1024)]
    ack_wait_s: Seconds
    handler_timeout_s: Seconds
    dream_timeout_s: Seconds
    max_deliver: Annotated[int, Field(ge=1)]
    backoff_s: tuple[Seconds, ...]
    max_ack_pending: Annotated[int, Field(ge=1)]
    replicas: Annotated[int, Field(ge=1, le=5)]
    stream_max_bytes: Annotated[int, Field(ge=1 << 20)]
    duplicate_window_s: Seconds
    utterance_max_age_s: Seconds
    audit_max_age_s: Seconds
    maintenance_max_age_s: Seconds
    dead_letter_max_age_s: Seconds
    dead_letter_duplicate_window_s: Seconds
