"""The one exception that use cases raise, and the closed set of its reasons.

The reasons are those of `memvault.errors.v1.ErrorReason` without their prefix; a test holds the two equal.
How a reason looks as a gRPC status or an HTTP problem stands in `memvault.rpc.errors`.
"""

from enum import StrEnum, unique


@unique
class Reason(StrEnum):
    """Why a request was not served. Part of the contract: names are never renamed or reused."""

    # the caller can mend the request
    USER_REQUIRED = "USER_REQUIRED"
    USER_INVALID = "USER_INVALID"
    QUERY_REQUIRED = "QUERY_REQUIRED"
    TEXT_REQUIRED = "TEXT_REQUIRED"
    TEXT_TOO_LONG = "TEXT_TOO_LONG"
    TEXT_INVALID = "TEXT_INVALID"
    FIELD_INVALID = "FIELD_INVALID"
    FIELD_UNKNOWN = "FIELD_UNKNOWN"
    FILTER_UNKNOWN = "FILTER_UNKNOWN"
    PAYLOAD_TOO_LARGE = "PAYLOAD_TOO_LARGE"
    # the request is fine, the state of things forbids it
    UNSAFE_CONTENT = "UNSAFE_CONTENT"
    NOT_FOUND = "NOT_FOUND"
    VERSION_CONFLICT = "VERSION_CONFLICT"
    IDEMPOTENCY_CONFLICT = "IDEMPOTENCY_CONFLICT"
    EMBEDDER_CHANGED = "EMBEDDER_CHANGED"
    # who asks
    UNAUTHENTICATED = "UNAUTHENTICATED"
    PERMISSION_DENIED = "PERMISSION_DENIED"
    RATE_LIMITED = "RATE_LIMITED"
    # a part cannot serve right now; trying again later helps
    DEADLINE_EXCEEDED = "DEADLINE_EXCEEDED"
    CANCELLED = "CANCELLED"
    OVERLOADED = "OVERLOADED"
    SERVICE_UNAVAILABLE = "SERVICE_UNAVAILABLE"
    BUS_UNAVAILABLE = "BUS_UNAVAILABLE"
    STORE_UNAVAILABLE = "STORE_UNAVAILABLE"
    SEARCH_UNAVAILABLE = "SEARCH_UNAVAILABLE"
    NO_MODEL = "NO_MODEL"
    MODEL_FAILED = "MODEL_FAILED"
    # this program is at fault
    UNIMPLEMENTED = "UNIMPLEMENTED"
    INTERNAL = "INTERNAL"


class Fault(Exception):  # noqa: N818 - the domain's word; it is also an answer, not only an error
    """A request that cannot be served, told so that the caller knows what to do.

    Attributes:
        reason: One of the closed set.
        message: What is wrong and what the caller can do; never a secret, never a stored text.
        metadata: Short machine-readable details, such as `field` or `limit`.
    """

    def __init__(self, reason: Reason, message: str, /, **metadata: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message
        self.metadata = metadata

    def __str__(self) -> str:
        return f"{self.reason}: {self.message}"

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild, (self.reason, self.message, self.metadata))


def _rebuild(reason: Reason, message: str, metadata: dict[str, str]) -> Fault:
    return Fault(reason, message, **metadata)
