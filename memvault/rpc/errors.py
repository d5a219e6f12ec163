"""One table from reasons to what a caller sees: a gRPC status, or the problem details of the HTTP face (RFC 9457)."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple, cast

import grpc
from google.protobuf.any_pb2 import Any
from google.rpc import error_details_pb2, status_pb2

from memvault.faults import Fault, Reason

DOMAIN = "memvault"
DETAILS_KEY = "grpc-status-details-bin"

_Code = grpc.StatusCode


class Face(NamedTuple):
    """How a reason looks from outside."""

    code: grpc.StatusCode
    http: int
    title: str


TABLE: Mapping[Reason, Face] = MappingProxyType(
    {
        Reason.USER_REQUIRED: Face(_Code.INVALID_ARGUMENT, 400, "A user id is required"),
        Reason.USER_INVALID: Face(_Code.INVALID_ARGUMENT, 400, "The user id is not valid"),
        Reason.QUERY_REQUIRED: Face(_Code.INVALID_ARGUMENT, 400, "A query is required"),
        Reason.TEXT_REQUIRED: Face(_Code.INVALID_ARGUMENT, 400, "A text is required"),
        Reason.TEXT_TOO_LONG: Face(_Code.INVALID_ARGUMENT, 400, "A text is too long"),
        Reason.TEXT_INVALID: Face(_Code.INVALID_ARGUMENT, 400, "A text is not valid Unicode"),
        Reason.FIELD_INVALID: Face(_Code.INVALID_ARGUMENT, 400, "A field has a value that cannot be used"),
        Reason.FIELD_UNKNOWN: Face(_Code.INVALID_ARGUMENT, 400, "A field is not known"),
        Reason.FILTER_UNKNOWN: Face(_Code.INVALID_ARGUMENT, 400, "A filter is not known"),
        Reason.PAYLOAD_TOO_LARGE: Face(_Code.INVALID_ARGUMENT, 413, "The request is too large"),
        Reason.UNSAFE_CONTENT: Face(_Code.FAILED_PRECONDITION, 422, "The text holds injected instructions"),
        Reason.NOT_FOUND: Face(_Code.NOT_FOUND, 404, "There is no such thing"),
        Reason.VERSION_CONFLICT: Face(_Code.ABORTED, 409, "It was changed meanwhile"),
        Reason.IDEMPOTENCY_CONFLICT: Face(_Code.ALREADY_EXISTS, 409, "The idempotency key was used otherwise"),
        Reason.EMBEDDER_CHANGED: Face(_Code.FAILED_PRECONDITION, 409, "The index was written by another encoder"),
        Reason.UNAUTHENTICATED: Face(_Code.UNAUTHENTICATED, 401, "A valid API key is required"),
        Reason.PERMISSION_DENIED: Face(_Code.PERMISSION_DENIED, 403, "The key does not allow this"),
        Reason.RATE_LIMITED: Face(_Code.RESOURCE_EXHAUSTED, 429, "Too many calls"),
        Reason.DEADLINE_EXCEEDED: Face(_Code.DEADLINE_EXCEEDED, 504, "The deadline passed"),
        Reason.CANCELLED: Face(_Code.CANCELLED, 499, "The caller went away"),
        Reason.OVERLOADED: Face(_Code.RESOURCE_EXHAUSTED, 429, "A queue is full"),
        Reason.SERVICE_UNAVAILABLE: Face(_Code.UNAVAILABLE, 503, "A service cannot be reached"),
        Reason.BUS_UNAVAILABLE: Face(_Code.UNAVAILABLE, 503, "The bus cannot be reached"),
        Reason.STORE_UNAVAILABLE: Face(_Code.UNAVAILABLE, 503, "A store cannot be reached"),
        Reason.SEARCH_UNAVAILABLE: Face(_Code.UNAVAILABLE, 503, "Search cannot be reached"),
        Reason.NO_MODEL: Face(_Code.FAILED_PRECONDITION, 409, "The model is not there"),
        Reason.MODEL_FAILED: Face(_Code.INTERNAL, 500, "A model failed"),
        Reason.UNIMPLEMENTED: Face(_Code.UNIMPLEMENTED, 501, "There is no such method"),
        Reason.INTERNAL: Face(_Code.INTERNAL, 500, "A defect of memvault"),
    }
)

# What a status without our ErrorInfo means: it was made by gRPC itself, or by a proxy on the way.
_BARE = MappingProxyType(
    {
        _Code.UNAVAILABLE: Reason.SERVICE_UNAVAILABLE,
        _Code.DEADLINE_EXCEEDED: Reason.DEADLINE_EXCEEDED,
        _Code.CANCELLED: Reason.CANCELLED,
        _Code.UNIMPLEMENTED: Reason.UNIMPLEMENTED,
        _Code.UNAUTHENTICATED: Reason.UNAUTHENTICATED,
        _Code.PERMISSION_DENIED: Reason.PERMISSION_DENIED,
        _Code.NOT_FOUND: Reason.NOT_FOUND,
        _Code.INVALID_ARGUMENT: Reason.FIELD_INVALID,
        _Code.RESOURCE_EXHAUSTED: Reason.OVERLOADED,
    }
)


def to_status(fault: Fault) -> status_pb2.Status:
    """Return the rich status with one `ErrorInfo` (domain `memvault`, reason, metadata)."""
    info = error_details_pb2.ErrorInfo(reason=fault.reason.value, domain=DOMAIN, metadata=fault.metadata)
    packed = Any()
    packed.Pack(info)
    return status_pb2.Status(code=TABLE[fault.reason].code.value[0], message=fault.message, details=[packed])


def from_rpc_error(error: grpc.aio.AioRpcError) -> Fault:
    """Return the fault that a failed call stands for, one of ours or one that gRPC made itself."""
    metadata = cast("Iterable[tuple[str, bytes]]", error.trailing_metadata() or ())
    for key, value in metadata:
        fault = _from_details(value) if key == DETAILS_KEY else None
        if fault is not None:
            return fault
    code, details = error.code(), error.details() or ""
    reason = _BARE.get(code, Reason.INTERNAL)
    if code is _Code.RESOURCE_EXHAUSTED and "larger than max" in details:
        reason = Reason.PAYLOAD_TOO_LARGE
    return Fault(reason, details or TABLE[reason].title, code=code.name)


def _from_details(packed: bytes) -> Fault | None:
    status = status_pb2.Status.FromString(packed)
    info = error_details_pb2.ErrorInfo()
    for detail in status.details:
        if detail.Unpack(info) and info.domain == DOMAIN and info.reason in Reason.__members__:
            return Fault(Reason[info.reason], status.message, **dict(info.metadata))
    return None


def problem_details(fault: Fault) -> dict[str, object]:
    """Return the body of an `application/problem+json` answer; its `status` is the HTTP status to send."""
    face = TABLE[fault.reason]
    return {
        "type": f"urn:memvault:error:{fault.reason.value.lower().replace('_', '-')}",
        "title": face.title,
        "status": face.http,
        "detail": fault.message,
        "reason": fault.reason.value,
        "metadata": dict(fault.metadata),
    }
