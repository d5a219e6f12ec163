"""Traces and metrics over OpenTelemetry; exported by OTLP only when an address is configured.

Names follow OpenTelemetry's semantic conventions; own attributes begin with `memvault.`. Nothing here ever raises into
a request: without `setup` spans still have ids and durations, and metrics still add up in memory.
"""

import os
import time
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from opentelemetry import context as otel_context
from opentelemetry import metrics, trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader, MetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.trace import SpanKind, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from pydantic import BaseModel, ConfigDict, Field

from memvault.ops import Observer
from memvault.runtime import spans
from memvault.runtime.spans import AttributeValue, SpanRecord, collect, collected, collecting

__all__ = [
    "OBSERVER",
    "SpanHandle",
    "SpanKind",
    "SpanRecord",
    "Telemetry",
    "TelemetrySettings",
    "collect",
    "collected",
    "collecting",
    "count",
    "counter",
    "extract",
    "inject",
    "record",
    "serving",
    "setup",
    "snapshot",
    "span",
]

_PROPAGATOR = TraceContextTextMapPropagator()
_IDS = RandomIdGenerator()
_service: ContextVar[str] = ContextVar("memvault_service", default="")


class TelemetrySettings(BaseModel):
    """Section `telemetry`.

    Attributes:
        otlp_endpoint: Address of an OTLP gRPC receiver such as `http://127.0.0.1:4317`; empty: nothing is exported,
            unless the conventional `OTEL_EXPORTER_OTLP_ENDPOINT` is set.
        export_interval_s: Seconds between two exports of metrics.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    otlp_endpoint: str = ""
    export_interval_s: float = Field(gt=0)


@dataclass(slots=True)
class Telemetry:
    """The providers of this process; `shutdown` exports what is left."""

    service: str
    exporting: bool
    tracer_provider: TracerProvider
    meter_provider: MeterProvider
    reader: InMemoryMetricReader
    tracer: trace.Tracer
    meter: metrics.Meter
    histograms: dict[str, metrics.Histogram] = field(default_factory=dict)
    counters: dict[str, metrics.Counter] = field(default_factory=dict)

    def shutdown(self) -> None:
        """Export what is left and stop the exporters' threads."""
        self.tracer_provider.shutdown()
        self.meter_provider.shutdown()


_current: list[Telemetry] = []  # at most one; a list, so that no function needs `global`


def setup(service: str, settings: TelemetrySettings) -> Telemetry:
    """Make the providers of this process and use them from now on.

    Args:
        service: The `service.name` of the resource, for example `search`.
        settings: Where to export to, if anywhere.
    """
    endpoint = settings.otlp_endpoint or os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT", "")
    made = _build(service, endpoint, settings.export_interval_s)
    _current[:] = [made]
    if endpoint:
        trace.set_tracer_provider(made.tracer_provider)
        metrics.set_meter_provider(made.meter_provider)
    return made


def _build(service: str, endpoint: str, export_interval_s: float) -> Telemetry:
    resource = Resource.create({"service.name": service, "service.namespace": "memvault"})
    reader = InMemoryMetricReader()
    readers: list[MetricReader] = [reader]
    tracer_provider = TracerProvider(resource=resource, shutdown_on_exit=bool(endpoint))
    if endpoint:
        readers.append(_export(endpoint, export_interval_s, tracer_provider))
    meter_provider = MeterProvider(readers, resource, shutdown_on_exit=bool(endpoint))
    return Telemetry(
        service=service,
        exporting=bool(endpoint),
        tracer_provider=tracer_provider,
        meter_provider=meter_provider,
        reader=reader,
        tracer=tracer_provider.get_tracer("memvault"),
        meter=meter_provider.get_meter("memvault"),
    )


def _export(endpoint: str, interval_s: float, provider: TracerProvider) -> MetricReader:
    # imported here: the exporters cost 100 ms that a process without an address need not pay
    from opentelemetry.exporter.otlp.proto.grpc.metric_exporter import OTLPMetricExporter  # noqa: PLC0415
    from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter  # noqa: PLC0415
    from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader  # noqa: PLC0415
    from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415

    insecure = not endpoint.startswith("https://")
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=endpoint, insecure=insecure)))
    exporter = OTLPMetricExporter(endpoint=endpoint, insecure=insecure)
    return PeriodicExportingMetricReader(exporter, export_interval_millis=interval_s * 1000)


def _telemetry() -> Telemetry:
    if not _current:
        _current.append(_build("memvault", "", 60.0))
    return _current[0]


@dataclass(frozen=True, slots=True)
class SpanHandle:
    """A running span."""

    trace_id: str
    span_id: str
    attributes: dict[str, AttributeValue]
    _span: trace.Span

    def set(self, **attributes: AttributeValue) -> None:
        """Note attributes."""
        self.attributes.update(attributes)
        self._span.set_attributes(attributes)

    def fail(self, reason: str) -> None:
        """Mark the span as failed without an exception leaving it."""
        self.set(**{"error.type": reason})
        self._span.set_status(Status(StatusCode.ERROR, reason))


@contextmanager
def serving(service: str) -> Iterator[None]:
    """Say which service the code within belongs to; several may share a process."""
    token = _service.set(service)
    try:
        yield
    finally:
        _service.reset(token)


@contextmanager
def span(name: str, /, *, kind: SpanKind = SpanKind.INTERNAL, **attributes: AttributeValue) -> Iterator[SpanHandle]:
    """Run the code within as a span; an exception that leaves it marks it as failed.

    Args:
        name: Low cardinality: never an id, a query or a user.
        kind: SERVER and CLIENT for calls, PRODUCER and CONSUMER for events.
        **attributes: Conventional names hold dots: pass them as `**{"rpc.method": ...}`.
    """
    telemetry = _telemetry()
    service = _service.get() or telemetry.service
    parent = trace.get_current_span().get_span_context()
    if telemetry.exporting:
        running = telemetry.tracer.start_span(name, kind=kind, attributes={"memvault.service": service, **attributes})
    else:
        running = _unexported(parent)
    own = running.get_span_context()
    handle = SpanHandle(
        trace.format_trace_id(own.trace_id), trace.format_span_id(own.span_id), dict(attributes), running
    )
    token = otel_context.attach(trace.set_span_in_context(running))
    started_at, started = time.time_ns(), time.perf_counter_ns()
    try:
        yield handle
    except BaseException as error:
        handle.fail(str(getattr(error, "reason", type(error).__name__)))
        raise
    finally:
        duration_ns = time.perf_counter_ns() - started
        otel_context.detach(token)
        running.end()
        parent_id = trace.format_span_id(parent.span_id) if parent.is_valid else ""
        if collecting():
            spans.add(
                SpanRecord(
                    trace_id=handle.trace_id,
                    span_id=handle.span_id,
                    parent_id=parent_id,
                    name=name,
                    service=service,
                    start_unix_ns=started_at,
                    duration_ns=duration_ns,
                    ok="error.type" not in handle.attributes,
                    attributes=handle.attributes,
                )
            )


def _unexported(parent: trace.SpanContext) -> trace.Span:
    """Make a span that has ids and nothing else: half the cost, where nobody receives more."""
    trace_id = parent.trace_id if parent.is_valid else _IDS.generate_trace_id()
    flags = trace.TraceFlags(trace.TraceFlags.SAMPLED)
    return trace.NonRecordingSpan(
        trace.SpanContext(trace_id, _IDS.generate_span_id(), is_remote=False, trace_flags=flags)
    )


class _TracingObserver:
    def step(self, name: str, /) -> AbstractContextManager[None]:
        return _without_handle(name)


@contextmanager
def _without_handle(name: str) -> Iterator[None]:
    with span(name):
        yield


OBSERVER: Observer = _TracingObserver()
"""Hand this to `memvault.ops.run` to see every step as a span."""


def inject(carrier: MutableMapping[str, str]) -> None:
    """Write `traceparent` of the current span into headers; nothing outside of a span."""
    _PROPAGATOR.inject(carrier)


@contextmanager
def extract(carrier: Mapping[str, str]) -> Iterator[None]:
    """Make the spans within children of the headers' `traceparent`; without a valid one they begin a new trace."""
    token = otel_context.attach(_PROPAGATOR.extract(carrier, context=otel_context.Context()))
    try:
        yield
    finally:
        otel_context.detach(token)


def record(name: str, value: float, /, *, unit: str = "s", **attributes: AttributeValue) -> None:
    """Add a value to the histogram `name`; seconds unless `unit` says otherwise."""
    telemetry = _telemetry()
    histogram = telemetry.histograms.get(name)
    if histogram is None:
        histogram = telemetry.histograms[name] = telemetry.meter.create_histogram(name, unit=unit)
    histogram.record(value, attributes)


def counter(name: str, amount: int = 1, /, **attributes: AttributeValue) -> None:
    """Add to the counter `name`."""
    telemetry = _telemetry()
    known = telemetry.counters.get(name)
    if known is None:
        known = telemetry.counters[name] = telemetry.meter.create_counter(name)
    known.add(amount, attributes)


count = counter


@dataclass(frozen=True, slots=True)
class Figure:
    """What one metric has added up to for one set of attributes.

    Attributes:
        name: The metric's name.
        attributes: As text.
        count: How many values a histogram saw; 1 for a counter.
        value: A counter's value, a histogram's sum.
    """

    name: str
    attributes: dict[str, str]
    count: int
    value: float


def snapshot() -> list[Figure]:
    """Return every metric of this process as it stands."""
    data = _telemetry().reader.get_metrics_data()
    if data is None:
        return []
    figures = []
    for resource in data.resource_metrics:
        for scope in resource.scope_metrics:
            for metric in scope.metrics:
                for point in metric.data.data_points:
                    attributes = {key: str(value) for key, value in (point.attributes or {}).items()}
                    amount = getattr(point, "sum", getattr(point, "value", 0.0))
                    figures.append(Figure(metric.name, attributes, getattr(point, "count", 1), float(amount)))
    return figures
