"""Takes one delivered message through parse, handler and acknowledgement."""

from __future__ import annotations

import asyncio
import contextlib
import random
import traceback
from dataclasses import dataclass
from datetime import UTC
from typing import TYPE_CHECKING, Generic, TypeVar

import nats.errors
import structlog
from faststream.middlewares import AckPolicy
from faststream.nats import JStream, NatsBroker, NatsMessage, PullSub
from faststream.nats.subscriber.usecases.stream_pull_subscriber import PullStreamSubscriber
from google.protobuf.message import Message

from memvault.bus import dead_letter
from memvault.bus.dead_letter import Failure
from memvault.bus.declare import consumer_config
from memvault.bus.envelope import REPLAY_FOR, TRACEPARENT, Event, Reject, parse
from memvault.runtime import telemetry

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from nats.aio.msg import Msg
    from nats.js import JetStreamContext

    from memvault.bus.settings import BusSettings
    from memvault.bus.subjects import Durable

M = TypeVar("M", bound=Message)
_HEARTBEATS_PER_ACK_WAIT = 3
_PAUSE_AFTER_FAILURE_S = 0.2
_log = structlog.get_logger("memvault.bus")


@dataclass(frozen=True)
class Consumer(Generic[M]):
    """What a durable does with each message. `jetstream` is asked for when needed: it exists only once connected."""

    durable: Durable
    message_type: type[M]
    handler: Callable[[Event[M]], Awaitable[None]]
    settings: BusSettings
    service: str
    jetstream: Callable[[], JetStreamContext]

    async def __call__(self, message: NatsMessage) -> None:
        """Handle one message and acknowledge, postpone or terminate it. Never raises for a handler's error."""
        raw = message.raw_message
        headers = dict(raw.headers or {})
        if headers.get(REPLAY_FOR, self.durable.name) != self.durable.name:
            await message.ack()
            return
        meta = raw.metadata
        try:
            event = parse(
                headers,
                raw.data,
                self.message_type,
                subject=raw.subject,
                stored_at=meta.timestamp.astimezone(UTC),
                sequence=meta.sequence.stream,
                stream=meta.stream,
                delivery=meta.num_delivered,
            )
            await self._handle(message, event)
        except Reject as rejected:
            await self._give_up(message, rejected.reason)
        except asyncio.CancelledError:
            # The process is stopping: whoever comes next gets the event at once instead of after ack_wait.
            await message.nack()
            raise
        except Exception as error:  # noqa: BLE001 - any failure of a handler means the same: try again later
            await self._retry(message, error)
        else:
            await message.ack()

    async def _handle(self, message: NatsMessage, event: Event[M]) -> None:
        carrier = {TRACEPARENT: event.traceparent} if event.traceparent else {}
        name = f"process {event.subject}"
        with (
            telemetry.serving(self.service),
            telemetry.extract(carrier),
            telemetry.span(name, kind=telemetry.SpanKind.CONSUMER, **self._attributes(event)),
        ):
            async with (
                _kept_alive(message, self.settings.ack_wait_s / _HEARTBEATS_PER_ACK_WAIT),
                asyncio.timeout(getattr(self.settings, self.durable.timeout)),
            ):
                await self.handler(event)

    def _attributes(self, event: Event[M]) -> dict[str, str]:
        return {
            "messaging.system": "nats",
            "messaging.operation.type": "process",
            "messaging.destination.name": event.subject,
            "messaging.consumer.group.name": self.durable.name,
            "messaging.message.id": event.id,
        }

    async def _retry(self, message: NatsMessage, error: Exception) -> None:
        delivery = message.raw_message.metadata.num_delivered
        reason = f"{type(error).__name__}: {error}"
        if delivery >= self.settings.max_deliver:
            await self._give_up(message, reason)
            return
        pause = pause_before(delivery, self.settings.backoff_s)
        _log.warning(
            "event.retry", durable=self.durable.name, delivery=delivery, pause_s=round(pause, 2), reason=reason
        )
        await message.nack(delay=pause)

    async def _give_up(self, message: NatsMessage, reason: str) -> None:
        raw = message.raw_message
        meta = raw.metadata
        failure = Failure(
            meta.stream, meta.sequence.stream, self.durable.name, reason, meta.num_delivered, meta.timestamp
        )
        _log.error("event.dead_letter", durable=self.durable.name, sequence=failure.sequence, reason=reason)
        try:
            await dead_letter.store(
                self.jetstream(), failure, raw.subject, raw.headers or {}, raw.data, self.settings.publish_try_s
            )
        except Exception as error:  # noqa: BLE001 - whatever kept it from being stored, the event must stay
            # Left unacknowledged: it comes again, or the server reports that its deliveries ran out.
            _log.error("event.dead_letter_not_stored", sequence=failure.sequence, reason=repr(error))
            return
        await message.reject()


def subscribe_durable(
    broker: NatsBroker,
    durable: Durable,
    settings: BusSettings,
    consume: Callable[[NatsMessage], Awaitable[None]],
    at_once: int,
) -> None:
    """Register `consume` as durable pull subscriber; it acknowledges by itself. `at_once` is its concurrency."""

    async def whole(message: NatsMessage) -> NatsMessage:
        return message

    async def handle(message: NatsMessage) -> None:
        await consume(message)

    subscriber = broker.subscriber(
        durable.subject,
        durable=durable.name,
        stream=JStream(durable.stream, declare=False),
        config=consumer_config(durable, settings),
        pull_sub=PullSub(batch_size=at_once, timeout=settings.fetch_timeout_s),
        decoder=whole,
        ack_policy=AckPolicy.MANUAL,
        no_reply=True,
    )
    subscriber(handle)


class _Patient:
    """A pull subscription whose failures take time.

    FastStream asks again at once whatever happened. On a connection that is closed or a stream that is not led that
    would be a loop without a pause, and on a closed one without a single point where others may run.
    """

    def __init__(self, inner: JetStreamContext.PullSubscription) -> None:
        self._inner = inner

    async def fetch(self, batch: int, timeout: float | None) -> list[Msg]:  # noqa: ASYNC109 - the replaced signature
        try:
            return await self._inner.fetch(batch=batch, timeout=timeout)
        except nats.errors.TimeoutError:
            raise
        except nats.errors.Error:
            await asyncio.sleep(_PAUSE_AFTER_FAILURE_S)
            raise

    async def unsubscribe(self) -> None:
        # On a connection that is gone the subscription is gone too.
        with contextlib.suppress(nats.errors.Error):
            await self._inner.unsubscribe()


def _leave_no_cycles(inner: JetStreamContext.PullSubscription) -> None:
    """Empty the frames of every wait that ends without a message.

    The client's own frame holds the task that failed with the error that holds the frame: 30 objects for each durable
    every few seconds, which only the garbage collector can free. What is frozen with a vault meanwhile it never frees
    (docs/decisions/0039).
    """
    waiting = inner._sub  # noqa: SLF001 - the client passes over some of these errors itself
    next_message = waiting.next_msg

    async def next_msg(timeout: float | None = 1.0) -> Msg:  # noqa: ASYNC109 - the replaced signature
        try:
            return await next_message(timeout)
        except TimeoutError as error:
            before: BaseException | None = error
            while before is not None:
                traceback.clear_frames(before.__traceback__)
                before = before.__context__
            raise

    waiting.next_msg = next_msg  # type: ignore[method-assign] # same signature


def make_patient(broker: NatsBroker) -> None:
    """Give every started pull subscriber a subscription that pauses after a failure and leaves no cycles behind."""
    for subscriber in broker.subscribers:
        if isinstance(subscriber, PullStreamSubscriber) and subscriber.subscription is not None:
            _leave_no_cycles(subscriber.subscription)
            subscriber.subscription = _Patient(subscriber.subscription)  # type: ignore[assignment] # same two methods


def pause_before(delivery: int, backoff_s: tuple[float, ...]) -> float:
    """Seconds until the next try after `delivery` failed ones: the schedule's entry, its last one repeated, +-20 %."""
    planned = backoff_s[min(delivery, len(backoff_s)) - 1]
    return planned * random.uniform(0.8, 1.2)  # noqa: S311 - spreads retries, protects nothing


@contextlib.asynccontextmanager
async def _kept_alive(message: NatsMessage, every_s: float) -> AsyncIterator[None]:
    async def beat() -> None:
        while True:
            await asyncio.sleep(every_s)
            await message.in_progress()

    task = asyncio.create_task(beat())
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
