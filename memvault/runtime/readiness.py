"""Asks a service over gRPC's health protocol whether it is ready, and which start of its process answers."""

from dataclasses import dataclass

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from memvault.runtime.poller import keep_poller

INSTANCE_KEY = "memvault-instance-id"
"""Trailing metadata of a health check: which start of the process answered."""


@dataclass(frozen=True, slots=True)
class Probe:
    """What a health check found.

    Attributes:
        ready: Whether the service takes calls.
        instance_id: Which start of the process answered; empty when nobody did.
    """

    ready: bool
    instance_id: str


async def probe(address: str, *, timeout_s: float, service: str = "") -> Probe:
    """Ask a server whether it is ready, on a connection of its own, without retries and outside of traces."""
    keep_poller()
    async with grpc.aio.insecure_channel(address, options=[("grpc.enable_retries", 0)]) as channel:
        asked = health_pb2_grpc.HealthStub(channel).Check(
            health_pb2.HealthCheckRequest(service=service), timeout=timeout_s
        )
        try:
            answer = await asked
            told = dict(await asked.trailing_metadata())
        except grpc.aio.AioRpcError:
            return Probe(ready=False, instance_id="")
    return Probe(
        ready=answer.status == health_pb2.HealthCheckResponse.SERVING, instance_id=str(told.get(INSTANCE_KEY, ""))
    )
