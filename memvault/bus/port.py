"""What a service needs of a bus: the interface that the NATS bus and the in-memory bus both have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar

from google.protobuf.message import Message

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from datetime import datetime

    from memvault.bus.envelope import Event
    from memvault.bus.subjects import Durable

M = TypeVar("M", bound=Message)


@dataclass(frozen=True)
class DeadLetter:
    """An event that could not be handled. `id` is what `replay` and `erase_dead_letter` take; times are UTC."""

    id: str
    subject: str
    event_id: str
    durable: str
    reason: str
    deliveries: int
    stream: str
    sequence: int
    time: datetime
    body: bytes


@dataclass(frozen=True)
class DurableState:
    """How far a durable is: events not yet delivered, and delivered but not yet acknowledged."""

    name: str
    stream: str
    waiting: int
    in_flight: int
    declared: bool


class Bus(Protocol):
    """Publishes facts durably and hands them to durable subscribers at least once."""

    @property
    def connected(self) -> bool:
        """True while the bus can be reached."""
        ...

    async def start(self, timeout_s: float) -> bool:
        """Connect, declare streams and durables, start the subscribers.

        True when that was done within `timeout_s`; False when the bus is away: then it keeps trying in the
        background, so that a service can serve what it can without the bus.
        """
        ...

    async def stop(self) -> None:
        """Let running handlers finish, then disconnect."""
        ...

    async def publish(
        self,
        subject: str,
        message: Message,
        *,
        event_id: str | None = None,
        time: datetime | None = None,
        timeout_s: float | None = None,
    ) -> int:
        """Store one event and return its sequence in its stream.

        Tried again with the same id until `timeout_s`; then `Fault(BUS_UNAVAILABLE)`. Whatever the outcome, an event
        with the same `event_id` published again is stored once.
        """
        ...

    def subscribe(
        self,
        durable: Durable,
        message_type: type[M],
        handler: Callable[[Event[M]], Awaitable[None]],
        *,
        at_once: int | None = None,
    ) -> None:
        """Register a handler before `start`; it is given at most `at_once` events side by side, None: `fetch_batch`.

        Returning acknowledges the event; `Reject` sends it to the dead letters; any other exception retries it with
        growing pauses, and after the last try it goes to the dead letters too.
        """
        ...

    def watch(self, subject: str, message_type: type[M], handler: Callable[[Event[M]], Awaitable[None]]) -> None:
        """Register, before `start`, a listener for what is published while it listens; nothing is kept for it."""
        ...

    async def history(self, subject: str, message_type: type[M], limit: int) -> list[Event[M]]:
        """The newest events of a subject that are still stored, oldest first."""
        ...

    async def erase(self, stream: str, sequence: int) -> bool:
        """Remove one stored event for good; False when it was no longer there."""
        ...

    async def claim(self, key: str, ttl_s: float) -> bool:
        """Take a lock that ends by itself after `ttl_s`; False when somebody else holds it."""
        ...

    async def release(self, key: str) -> None:
        """Give a claimed lock back early."""
        ...

    async def dead_letters(self, limit: int) -> list[DeadLetter]:
        """The newest `limit` dead letters, oldest first."""
        ...

    async def replay(self, dead_letter_id: str) -> int:
        """Publish a dead letter again for the durable that failed, and remove it; `Fault(NOT_FOUND)` when unknown."""
        ...

    async def erase_dead_letter(self, dead_letter_id: str) -> bool:
        """Remove a dead letter for good; False when it was no longer there."""
        ...

    async def durables(self) -> list[DurableState]:
        """Every durable the bus knows and how far it is, by name."""
        ...
