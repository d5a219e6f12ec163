"""THE circuit breaker, a pure state machine (R-21).

Closed: every call goes to the model; `open_after` failures in a row open it. Open: calls are bypassed until
`retry_at`. Then one call probes: its success closes the breaker, its failure opens it for another `cool_down_s`;
calls beside the probe are bypassed. Only calls admitted since the last change of state count: a call that began
before the breaker opened says nothing about the model of now.

Source of the pattern: M. Nygard, Release It!, 2007.
"""

from dataclasses import dataclass, replace
from enum import StrEnum


class Phase(StrEnum):
    """Where the breaker stands; the values are those of the contract."""

    CLOSED = "closed"
    OPEN = "open"
    PROBING = "probing"


class Outcome(StrEnum):
    """How an admitted call ended."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"  # an error, a time-out or a score that is no finite number
    ABANDONED = "abandoned"  # the caller gave up: nothing was learnt


@dataclass(frozen=True, slots=True)
class Limits:
    """When it opens and for how long.

    Attributes:
        open_after: failures in a row.
        cool_down_s: seconds without a call; also how long a probe may stay without an outcome.

    """

    open_after: int
    cool_down_s: float


@dataclass(frozen=True, slots=True)
class Breaker:
    """State of the breaker.

    Attributes:
        phase: closed, open or probing.
        failures: in a row, among the calls that counted.
        retry_at: seconds on the caller's clock; open: when a probe may go; probing: when another one may.
        generation: number of changes of phase; admitted calls carry it.
        opened: times it opened.
        bypassed: calls that were not let through.

    """

    phase: Phase = Phase.CLOSED
    failures: int = 0
    retry_at: float = 0.0
    generation: int = 0
    opened: int = 0
    bypassed: int = 0


@dataclass(frozen=True, slots=True)
class Admission:
    """A call that was let through; hand it back with its outcome."""

    generation: int


def ask(breaker: Breaker, *, now: float, limits: Limits) -> tuple[Breaker, Admission | None]:
    """Ask whether a call may go to the model.

    Args:
        breaker: State so far.
        now: Seconds; may run backwards, which never makes the wait longer than a cool-down.
        limits: The numbers.

    Returns:
        The state afterwards, and the admission or None: then the call is bypassed.

    """
    if breaker.phase is Phase.CLOSED:
        return breaker, Admission(breaker.generation)
    retry_at = min(breaker.retry_at, now + limits.cool_down_s)
    if now < retry_at:
        return replace(breaker, retry_at=retry_at, bypassed=breaker.bypassed + 1), None
    probing = replace(
        breaker,
        phase=Phase.PROBING,
        retry_at=now + limits.cool_down_s,
        generation=breaker.generation + 1,
    )
    return probing, Admission(probing.generation)


def tell(breaker: Breaker, admission: Admission, outcome: Outcome, *, now: float, limits: Limits) -> Breaker:
    """Tell how an admitted call ended; outcomes of an earlier generation change nothing.

    Args:
        breaker: State so far.
        admission: What `ask` gave.
        outcome: How the call ended.
        now: Seconds, on the clock of `ask`.
        limits: The numbers.

    """
    if admission.generation != breaker.generation or breaker.phase is Phase.OPEN:
        return breaker
    if outcome is Outcome.SUCCEEDED:
        return _closed(breaker)
    if outcome is Outcome.ABANDONED:
        return _waiting_again(breaker, now) if breaker.phase is Phase.PROBING else breaker
    failures = breaker.failures + 1
    if breaker.phase is Phase.CLOSED and failures < limits.open_after:
        return replace(breaker, failures=failures)
    return replace(
        breaker,
        phase=Phase.OPEN,
        failures=failures,
        retry_at=now + limits.cool_down_s,
        generation=breaker.generation + 1,
        opened=breaker.opened + 1,
    )


def _closed(breaker: Breaker) -> Breaker:
    if breaker.phase is Phase.CLOSED:
        return replace(breaker, failures=0)
    return replace(breaker, phase=Phase.CLOSED, failures=0, retry_at=0.0, generation=breaker.generation + 1)


def _waiting_again(breaker: Breaker, now: float) -> Breaker:
    """Back to open with a probe due at once: the abandoned one told nothing."""
    return replace(breaker, phase=Phase.OPEN, retry_at=now, generation=breaker.generation + 1)
