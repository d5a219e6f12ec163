"""A bus in memory for unit tests: the same promises, no server and no pauses between tries."""

from __future__ import annotations

import asyncio
import time as clock
from collections import deque
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import uuid4

from google.protobuf.message import Message

from memvault.bus import envelope
from memvault.bus.envelope import Event, Reject
from memvault.bus.port import DeadLetter, DurableState
from memvault.bus.subjects import BLOCKS, DURABLES, Durable, stream_of
from memvault.faults import Fault, Reason

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

M = TypeVar("M", bound=Message)


@dataclass(frozen=True)
class _Subscriber:
    durable: Durable
    message_type: type[Message]
    handler: Callable[[Event[Any]], Awaitable[None]]


@dataclass(frozen=True)
class _Stored:
    event: Event[Any]
    body: bytes
    only_for: str | None = None


class MemoryBus:
    """See `memvault.bus.port.Bus`. Events are handled by a background task; `settled` waits until all are."""

    def __init__(self, service: str = "test", max_deliver: int = 3) -> None:
        """`max_deliver` tries per durable, then the dead letters."""
        self._service = service
        self._max_deliver = max_deliver
        self._subscribers: list[_Subscriber] = []
        self._watchers: list[tuple[str, type[Message], Callable[[Event[Any]], Awaitable[None]]]] = []
        self._queue: deque[_Stored] = deque()
        self._stored: dict[tuple[str, int], Event[Any]] = {}
        self._sequences: dict[str, int] = {}
        self._seen: dict[tuple[str, str], int] = {}
        self._letters: dict[str, DeadLetter] = {}
        self._locks: dict[str, float] = {}
        self._buried = 0
        self._wake = asyncio.Event()
        self._idle = asyncio.Event()
        self._idle.set()
        self._pump: asyncio.Task[None] | None = None
        self.published: list[Event[Any]] = []
        self.down = False

    @property
    def connected(self) -> bool:
        """False while `down` is set."""
        return not self.down

    async def start(self, timeout_s: float) -> bool:  # noqa: ARG002 - the interface's
        """Start handling."""
        self._pump = asyncio.create_task(self._run())
        return True

    async def stop(self) -> None:
        """Stop handling; what is queued stays queued."""
        if self._pump is not None:
            self._pump.cancel()
            await asyncio.wait({self._pump})

    async def settled(self, timeout_s: float = 5.0) -> None:
        """Wait until every published event was handled or given up."""
        async with asyncio.timeout(timeout_s):
            await self._idle.wait()

    async def publish(
        self,
        subject: str,
        message: Message,
        *,
        event_id: str | None = None,
        time: datetime | None = None,
        timeout_s: float | None = None,  # noqa: ARG002 - the interface's
    ) -> int:
        """See `Bus.publish`; with `down` set it raises at once."""
        if self.down:
            raise Fault(Reason.BUS_UNAVAILABLE, "the bus is down")
        stream = stream_of(subject).name
        identity = event_id or uuid4().hex
        if (stream, identity) in self._seen:
            return self._seen[stream, identity]
        event = Event(
            id=identity,
            subject=subject,
            source=f"memvault/{self._service}",
            time=time or datetime.now(UTC),
            message=message,
        )
        return self._store(stream, event, envelope.body(message), None)

    def subscribe(
        self,
        durable: Durable,
        message_type: type[M],
        handler: Callable[[Event[M]], Awaitable[None]],
        *,
        at_once: int | None = None,  # noqa: ARG002 - here events come one after another
    ) -> None:
        """See `Bus.subscribe`."""
        if durable not in DURABLES:
            message = f"{durable.name} is not in memvault/bus/subjects.py DURABLES"
            raise ValueError(message)
        self._subscribers.append(_Subscriber(durable, message_type, handler))

    def watch(self, subject: str, message_type: type[M], handler: Callable[[Event[M]], Awaitable[None]]) -> None:
        """See `Bus.watch`."""
        self._watchers.append((subject, message_type, handler))

    async def history(self, subject: str, message_type: type[M], limit: int) -> list[Event[M]]:  # noqa: ARG002
        """See `Bus.history`; here every event since the start counts as stored."""
        found = [event for event in self._stored.values() if event.subject == subject]
        return found[-limit:]

    async def erase(self, stream: str, sequence: int) -> bool:
        """See `Bus.erase`."""
        return self._stored.pop((stream, sequence), None) is not None

    async def claim(self, key: str, ttl_s: float) -> bool:
        """See `Bus.claim`."""
        if self._locks.get(key, 0.0) > clock.monotonic():
            return False
        self._locks[key] = clock.monotonic() + ttl_s
        return True

    async def release(self, key: str) -> None:
        """See `Bus.release`."""
        self._locks.pop(key, None)

    async def dead_letters(self, limit: int) -> list[DeadLetter]:
        """See `Bus.dead_letters`."""
        return list(self._letters.values())[-limit:]

    async def replay(self, dead_letter_id: str) -> int:
        """See `Bus.replay`."""
        letter = self._letters.pop(dead_letter_id, None)
        if letter is None:
            raise Fault(Reason.NOT_FOUND, f"there is no dead letter {dead_letter_id}")
        subscriber = next(item for item in self._subscribers if item.durable.name == letter.durable)
        headers = {"ce-id": envelope.encode_header(letter.event_id), envelope.REPLAY_FOR: letter.durable}
        if letter.stream == BLOCKS.name:
            headers[envelope.ORIGINAL_SEQUENCE] = str(letter.sequence)
        event = envelope.parse(
            headers,
            letter.body,
            subscriber.message_type,
            subject=letter.subject,
            stored_at=letter.time,
        )
        return self._store(letter.stream, event, letter.body, letter.durable)

    async def erase_dead_letter(self, dead_letter_id: str) -> bool:
        """See `Bus.erase_dead_letter`."""
        return self._letters.pop(dead_letter_id, None) is not None

    async def durables(self) -> list[DurableState]:
        """See `Bus.durables`; everything queued counts as waiting for each durable of its subject."""
        return [
            DurableState(
                name=item.name,
                stream=item.stream,
                waiting=sum(1 for stored in self._queue if stored.event.subject == item.subject),
                in_flight=0,
                declared=True,
            )
            for item in sorted(DURABLES, key=lambda durable: durable.name)
        ]

    def _store(self, stream: str, event: Event[Any], body: bytes, only_for: str | None) -> int:
        sequence = self._sequences[stream] = self._sequences.get(stream, 0) + 1
        stored = replace(event, sequence=event.sequence or sequence, stream=stream)
        self._seen[stream, event.id] = sequence
        self._stored[stream, sequence] = stored
        self.published.append(stored)
        self._queue.append(_Stored(stored, body, only_for))
        self._idle.clear()
        self._wake.set()
        return sequence

    async def _run(self) -> None:
        while True:
            while self._queue:
                await self._deliver(self._queue[0])
                self._queue.popleft()
            self._idle.set()
            self._wake.clear()
            await self._wake.wait()

    async def _deliver(self, stored: _Stored) -> None:
        for subject, _, handler in self._watchers:
            if subject == stored.event.subject:
                await handler(stored.event)
        for subscriber in self._subscribers:
            wanted = stored.only_for in {None, subscriber.durable.name}
            if subscriber.durable.subject == stored.event.subject and wanted:
                await self._try(subscriber, stored)

    async def _try(self, subscriber: _Subscriber, stored: _Stored) -> None:
        for delivery in range(1, self._max_deliver + 1):
            try:
                await subscriber.handler(replace(stored.event, delivery=delivery))
            except Reject as rejected:
                self._bury(subscriber, stored, rejected.reason, delivery)
                return
            except Exception as error:  # noqa: BLE001 - any failure of a handler means: try again
                if delivery == self._max_deliver:
                    self._bury(subscriber, stored, f"{type(error).__name__}: {error}", delivery)
                await asyncio.sleep(0)
            else:
                return

    def _bury(self, subscriber: _Subscriber, stored: _Stored, reason: str, deliveries: int) -> None:
        self._buried += 1
        identity = str(self._buried)
        self._letters[identity] = DeadLetter(
            id=identity,
            subject=stored.event.subject,
            event_id=stored.event.id,
            durable=subscriber.durable.name,
            reason=reason,
            deliveries=deliveries,
            stream=stored.event.stream or "",
            sequence=stored.event.sequence or 0,
            time=stored.event.time,
            body=stored.body,
        )
