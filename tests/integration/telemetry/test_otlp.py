"""With an address configured, traces and metrics really arrive at an OTLP receiver."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import grpc
import pytest
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2, metrics_service_pb2_grpc
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2, trace_service_pb2_grpc

from memvault.runtime import telemetry
from memvault.runtime.telemetry import TelemetrySettings


@dataclass
class Received:
    spans: dict[str, str] = field(default_factory=dict)
    metrics: set[str] = field(default_factory=set)


class Traces(trace_service_pb2_grpc.TraceServiceServicer):
    def __init__(self, received: Received) -> None:
        self.received = received

    async def Export(self, request, context):
        for resource in request.resource_spans:
            attributes = {item.key: item.value.string_value for item in resource.resource.attributes}
            for scope in resource.scope_spans:
                self.received.spans.update({span.name: attributes["service.name"] for span in scope.spans})
        return trace_service_pb2.ExportTraceServiceResponse()


class Metrics(metrics_service_pb2_grpc.MetricsServiceServicer):
    def __init__(self, received: Received) -> None:
        self.received = received

    async def Export(self, request, context):
        for resource in request.resource_metrics:
            for scope in resource.scope_metrics:
                self.received.metrics.update(metric.name for metric in scope.metrics)
        return metrics_service_pb2.ExportMetricsServiceResponse()


@pytest.fixture
async def receiver() -> AsyncIterator[tuple[str, Received]]:
    received = Received()
    server = grpc.aio.server()
    trace_service_pb2_grpc.add_TraceServiceServicer_to_server(Traces(received), server)
    metrics_service_pb2_grpc.add_MetricsServiceServicer_to_server(Metrics(received), server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    yield f"http://127.0.0.1:{port}", received
    await server.stop(0)


@pytest.mark.r("R-70")
async def test_spans_and_metrics_arrive_under_the_services_name(receiver: tuple[str, Received]) -> None:
    endpoint, received = receiver
    before = list(telemetry._current)
    try:
        made = telemetry.setup("search", TelemetrySettings(otlp_endpoint=endpoint, export_interval_s=60))
        with telemetry.span("search.score"):
            telemetry.record("memvault.search.stage.duration", 0.01, stage="RecencyBoost")
        await asyncio.to_thread(made.shutdown)
    finally:
        telemetry._current[:] = before
    assert received.spans == {"search.score": "search"}
    assert "memvault.search.stage.duration" in received.metrics
