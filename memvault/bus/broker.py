"""The bus over NATS JetStream: FastStream's durable pull subscribers, acknowledged publishing, dead letters."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import uuid4

import nats.errors
import structlog
from faststream.middlewares import AckPolicy
from faststream.nats import NatsBroker, NatsMessage
from google.protobuf.message import Message
from nats.js.errors import APIError

from memvault.bus import admin, dead_letter, envelope
from memvault.bus.consume import Consumer, make_patient, subscribe_durable
from memvault.bus.dead_letter import AdvisoryConsumer
from memvault.bus.declare import declare
from memvault.bus.envelope import Event, Reject
from memvault.bus.port import Bus, DeadLetter, DurableState
from memvault.bus.settings import BusSettings
from memvault.bus.subjects import BUS_MAX_DELIVERIES, BUS_TERMINATED, DURABLES, Durable, stream_of
from memvault.faults import Fault, Reason
from memvault.runtime import telemetry

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from nats.aio.client import Client
    from nats.js import JetStreamContext

__all__ = ["Bus", "BusSettings", "DeadLetter", "DurableState", "Event", "NatsBus", "Reject", "build_bus"]

M = TypeVar("M", bound=Message)
_RETRY_START_S = 0.25
_RETRY_CAP_S = 2.0
_PUBLISH_RETRY_S = 0.05
_GONE = (nats.errors.Error, OSError, TimeoutError)
_FULL = frozenset({10077, 10047, 10076})  # maximum bytes or messages exceeded, no storage left
_log = structlog.get_logger("memvault.bus")


def build_bus(settings: BusSettings, service: str) -> NatsBus:
    """A bus for one process; nothing is connected before `start`."""
    return NatsBus(settings, service)


class NatsBus:
    """See `memvault.bus.port.Bus`."""

    def __init__(self, settings: BusSettings, service: str) -> None:
        """`service` is the `ce-source` of what is published and the name of the connection."""
        self._settings = settings
        self._service = service
        self._client: Client | None = None
        self._context: JetStreamContext | None = None
        self._ready = asyncio.Event()
        self._stopping = False
        self._last_report = ""
        self._opening: asyncio.Task[None] | None = None
        self._watches: list[tuple[str, type[Message], Callable[[Event[Any]], Awaitable[None]]]] = []
        self._broker: NatsBroker | None = None
        advisories = AdvisoryConsumer(settings, self._jetstream)
        self._consumers: list[tuple[Durable, Callable[[NatsMessage], Awaitable[None]], int]] = [
            (durable, advisories, settings.fetch_batch) for durable in (BUS_MAX_DELIVERIES, BUS_TERMINATED)
        ]

    @property
    def connected(self) -> bool:
        """True while the server can be reached and everything is declared."""
        return self._ready.is_set() and self._client is not None and self._client.is_connected

    @property
    def connect_timeout_s(self) -> float:
        """Seconds that a start waits for the bus."""
        return self._settings.connect_timeout_s

    async def start(self, timeout_s: float) -> bool:
        """See `Bus.start`."""
        self._opening = asyncio.create_task(self._open(), name="bus-open")
        await asyncio.wait({self._opening}, timeout=timeout_s)
        if self._opening.done():
            self._opening.result()
            return True
        _log.error("bus.unreachable", url=self._settings.url, hint="serving without the bus, still trying")
        return False

    async def stop(self) -> None:
        """See `Bus.stop`."""
        self._stopping = True
        if self._opening is not None and not self._opening.done():
            self._opening.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._opening
        await self._disconnect()

    async def publish(
        self,
        subject: str,
        message: Message,
        *,
        event_id: str | None = None,
        time: datetime | None = None,
        timeout_s: float | None = None,
    ) -> int:
        """See `Bus.publish`."""
        event = Event(
            id=event_id or uuid4().hex,
            subject=subject,
            source=f"memvault/{self._service}",
            time=time or datetime.now(UTC),
            message=message,
        )
        body = envelope.body(message)
        budget = self._settings.publish_timeout_s if timeout_s is None else timeout_s
        attributes = {"messaging.system": "nats", "messaging.destination.name": subject}
        carrier: dict[str, str] = {}
        with (
            telemetry.serving(self._service),
            telemetry.span(f"publish {subject}", kind=telemetry.SpanKind.PRODUCER, **attributes),
        ):
            telemetry.inject(carrier)
            event = replace(event, traceparent=carrier.get(envelope.TRACEPARENT))
            try:
                async with asyncio.timeout(budget):
                    return await self._publish_until_stored(event, body)
            except TimeoutError as error:
                raise Fault(
                    Reason.BUS_UNAVAILABLE,
                    f"the bus did not acknowledge {subject} within {budget:g} s: send it again with the same id",
                    subject=subject,
                ) from error

    async def _publish_until_stored(self, event: Event[Any], body: bytes) -> int:
        await self._ready.wait()
        stream = stream_of(event.subject).name
        headers = envelope.headers(event)
        while True:
            try:
                stored = await self._jetstream().publish(
                    event.subject, body, timeout=self._settings.publish_try_s, stream=stream, headers=headers
                )
            except nats.errors.MaxPayloadError as error:
                raise Fault(
                    Reason.PAYLOAD_TOO_LARGE, "the event exceeds the bus's payload limit: send it in smaller parts"
                ) from error
            except _GONE as error:
                # The same id again: if the first try was stored after all, the server drops this one.
                if isinstance(error, APIError) and error.err_code in _FULL:
                    raise Fault(
                        Reason.OVERLOADED, f"the stream {stream} is full: raise bus.stream_max_bytes, or let it drain"
                    ) from error
                _log.warning("bus.publish_again", subject=event.subject, reason=_told(error))
                await asyncio.sleep(_PUBLISH_RETRY_S)
            else:
                return stored.seq

    def subscribe(
        self,
        durable: Durable,
        message_type: type[M],
        handler: Callable[[Event[M]], Awaitable[None]],
        *,
        at_once: int | None = None,
    ) -> None:
        """See `Bus.subscribe`."""
        if durable not in DURABLES:
            message = f"{durable.name} is not in memvault/bus/subjects.py DURABLES: nothing would be kept for it"
            raise ValueError(message)
        consumer = Consumer(durable, message_type, handler, self._settings, self._service, self._jetstream)
        self._consumers.append((durable, consumer, at_once or self._settings.fetch_batch))

    def watch(self, subject: str, message_type: type[M], handler: Callable[[Event[M]], Awaitable[None]]) -> None:
        """See `Bus.watch`."""
        self._watches.append((subject, message_type, handler))

    async def history(self, subject: str, message_type: type[M], limit: int) -> list[Event[M]]:
        """See `Bus.history`."""
        return await admin.history(await self._reachable(), subject, message_type, limit)

    async def erase(self, stream: str, sequence: int) -> bool:
        """See `Bus.erase`."""
        return await dead_letter.erase(await self._reachable(), stream, sequence)

    async def claim(self, key: str, ttl_s: float) -> bool:
        """See `Bus.claim`."""
        return await admin.claim(await self._reachable(), key, ttl_s, self._settings.replicas)

    async def release(self, key: str) -> None:
        """See `Bus.release`."""
        await admin.release(await self._reachable(), key)

    async def dead_letters(self, limit: int) -> list[DeadLetter]:
        """See `Bus.dead_letters`."""
        return await dead_letter.newest(await self._reachable(), limit)

    async def replay(self, dead_letter_id: str) -> int:
        """See `Bus.replay`."""
        jetstream = await self._reachable()
        return await dead_letter.replay(jetstream, dead_letter_id, self._settings.publish_timeout_s)

    async def erase_dead_letter(self, dead_letter_id: str) -> bool:
        """See `Bus.erase_dead_letter`."""
        return await dead_letter.erase_letter(await self._reachable(), dead_letter_id)

    async def durables(self) -> list[DurableState]:
        """See `Bus.durables`."""
        return await admin.durables(await self._reachable())

    def _new_broker(self) -> NatsBroker:
        settings = self._settings
        broker = NatsBroker(
            settings.url,
            name=f"memvault-{self._service}",
            connect_timeout=max(1, round(settings.connect_timeout_s)),
            reconnect_time_wait=settings.reconnect_wait_s,  # type: ignore[arg-type] # seconds, fractions work
            # With a bound the pull loop spins and freezes the event loop once the attempts run out.
            max_reconnect_attempts=-1,
            apply_types=False,
            ack_policy=AckPolicy.MANUAL,
            graceful_timeout=settings.stop_timeout_s,
            logger=None,
            error_cb=self._report,
            closed_cb=self._closed,
        )
        for durable, consume, at_once in self._consumers:
            subscribe_durable(broker, durable, settings, consume, at_once)
        return broker

    async def _open(self) -> None:
        """Connect and declare until it works; then start the subscribers."""
        pause_s = _RETRY_START_S
        broker = self._broker = self._new_broker()
        while True:
            try:
                self._client = await broker.connect()
                self._context = self._client.jetstream(timeout=self._settings.request_timeout_s)
                await declare(self._context, self._settings)
                await broker.start()
                make_patient(broker)
                break
            except _GONE as error:
                _log.warning("bus.open_again", url=self._settings.url, reason=_told(error), pause_s=pause_s)
                await asyncio.sleep(pause_s)
                pause_s = min(2 * pause_s, _RETRY_CAP_S)
        for subject, message_type, handler in self._watches:
            await admin.watch(self._client, subject, message_type, handler)
        self._last_report = ""
        self._ready.set()

    async def _disconnect(self) -> None:
        """Stop the subscribers first: one that outlives its connection would never stop asking it for messages."""
        self._ready.clear()
        client, self._client, self._context = self._client, None, None
        broker, self._broker = self._broker, None
        if client is None:
            return
        if broker is not None:
            with contextlib.suppress(*_GONE):
                async with asyncio.timeout(self._settings.stop_timeout_s):
                    await asyncio.gather(*(subscriber.stop() for subscriber in broker.subscribers))
        with contextlib.suppress(*_GONE):
            if client.is_connected:
                # Acknowledgements on their way still have to reach the server.
                await client.flush()
            await client.close()

    async def _closed(self) -> None:
        """The client gave the connection up for good, as it does after an error it does not know: open another."""
        if self._stopping or not self._ready.is_set():
            return
        self._ready.clear()
        self._opening = asyncio.create_task(self._reopen(), name="bus-reopen")

    async def _reopen(self) -> None:
        _log.error("bus.closed", url=self._settings.url, hint="opening a new connection")
        await self._disconnect()
        await self._open()

    async def _report(self, error: Exception) -> None:
        told = _told(error)
        if told != self._last_report:
            _log.warning("bus.connection", url=self._settings.url, reason=told)
        self._last_report = told

    def _jetstream(self) -> JetStreamContext:
        if self._context is None:
            raise Fault(Reason.BUS_UNAVAILABLE, "the bus is not connected yet: try again in a moment")
        return self._context

    async def _reachable(self) -> JetStreamContext:
        if not self.connected:
            raise Fault(Reason.BUS_UNAVAILABLE, "the bus cannot be reached: try again once it is back")
        return self._jetstream()


def _told(error: BaseException) -> str:
    """The server's own words where it gave any."""
    return f"{type(error).__name__}: {getattr(error, 'description', None) or error}"
