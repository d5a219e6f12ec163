"""What one hop does on either side, over gRPC or inside a process: a span, figures, and faults instead of surprises."""

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager

import grpc

from memvault.faults import Fault, Reason
from memvault.rpc.errors import TABLE
from memvault.runtime import telemetry
from memvault.runtime.telemetry import SpanHandle, SpanKind

_LOG = logging.getLogger(__name__)

SERVER_DURATION = "rpc.server.call.duration"
CLIENT_DURATION = "rpc.client.call.duration"
ERRORS = "memvault.rpc.errors"


@contextmanager
def handling(path: str, service: str, system: str) -> Iterator[SpanHandle]:
    """Surround the handling of one call.

    Args:
        path: Fully qualified method, `memvault.search.v1.SearchService/Search`.
        service: The service that handles it.
        system: `grpc`, or `local` inside a process.

    Raises:
        Fault: The handler's own, or INTERNAL with the trace id for anything that nobody foresaw.
    """
    with telemetry.serving(service), _figures(path, system, SERVER_DURATION):
        with telemetry.span(path, kind=SpanKind.SERVER, **_attributes(path, system)) as span:
            try:
                yield span
            except Fault:
                raise
            except NotImplementedError as error:  # what the generated base classes raise
                raise Fault(Reason.UNIMPLEMENTED, f"{path} is not served by {service}") from error
            except Exception as error:
                _LOG.exception("%s failed, trace %s", path, span.trace_id)
                raise Fault(
                    Reason.INTERNAL,
                    f"{type(error).__name__} in {service}: please report it with trace {span.trace_id}",
                    trace_id=span.trace_id,
                ) from error


@contextmanager
def calling(path: str, system: str) -> Iterator[SpanHandle]:
    """Surround one outgoing call; see `handling` for the arguments."""
    with _figures(path, system, CLIENT_DURATION):
        with telemetry.span(path, kind=SpanKind.CLIENT, **_attributes(path, system)) as span:
            yield span


def _attributes(path: str, system: str) -> dict[str, str]:
    return {"rpc.system.name": system, "rpc.method": path}


@contextmanager
def _figures(path: str, system: str, duration: str) -> Iterator[None]:
    started = time.perf_counter()
    code = grpc.StatusCode.OK.name
    try:
        yield
    except Fault as fault:
        code = TABLE[fault.reason].code.name
        telemetry.counter(ERRORS, **_attributes(path, system), **{"error.type": fault.reason.value})
        raise
    except BaseException:
        code = grpc.StatusCode.CANCELLED.name
        raise
    finally:
        elapsed = time.perf_counter() - started
        telemetry.record(duration, elapsed, **_attributes(path, system), **{"rpc.response.status_code": code})
