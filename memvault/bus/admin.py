"""What is asked of the bus beside publishing and consuming: history, locks, listeners, the state of durables."""

from __future__ import annotations

import asyncio
import contextlib
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeVar

import structlog
from google.protobuf.message import Message
from nats.js.api import KeyValueConfig
from nats.js.errors import (
    BucketNotFoundError,
    KeyNotFoundError,
    KeyWrongLastSequenceError,
    NotFoundError,
)

from memvault.bus import envelope
from memvault.bus.envelope import Event, Reject
from memvault.bus.port import DurableState
from memvault.bus.subjects import DURABLES, STREAMS, stream_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from nats.aio.client import Client
    from nats.aio.msg import Msg
    from nats.js import JetStreamContext
    from nats.js.kv import KeyValue

M = TypeVar("M", bound=Message)
_LOCKS = "memvault_locks"
_log = structlog.get_logger("memvault.bus")


async def history(jetstream: JetStreamContext, subject: str, message_type: type[M], limit: int) -> list[Event[M]]:
    """The newest `limit` stored events of a subject, oldest first; unreadable bodies are left out."""
    stream = stream_of(subject)
    state = (await jetstream.stream_info(stream.name)).state
    events: list[Event[M]] = []
    sequence = state.last_seq
    while sequence >= max(1, state.first_seq) and len(events) < limit:
        # Removed messages leave holes in the sequence.
        with contextlib.suppress(NotFoundError, Reject):
            found = await jetstream.get_msg(stream.name, sequence)
            if found.subject == subject:
                event = envelope.parse(
                    found.headers or {},
                    found.data or b"",
                    message_type,
                    subject=subject,
                    stored_at=found.time or datetime.now(UTC),
                    sequence=sequence,
                    stream=stream.name,
                )
                events.append(event)
        sequence -= 1
    return events[::-1]


async def watch(
    client: Client, subject: str, message_type: type[M], handler: Callable[[Event[M]], Awaitable[None]]
) -> None:
    """Listen to a subject as it is published, without a durable; errors of the handler are logged."""

    async def heard(message: Msg) -> None:
        try:
            event = envelope.parse(
                message.headers or {},
                message.data,
                message_type,
                subject=message.subject,
                stored_at=datetime.now(UTC),
            )
            await handler(event)
        except Reject as rejected:
            _log.warning("watch.unreadable", subject=subject, reason=rejected.reason)
        except Exception as error:  # noqa: BLE001 - a listener's error must not end the subscription
            _log.error("watch.failed", subject=subject, reason=repr(error))

    await client.subscribe(subject, cb=heard)


async def claim(jetstream: JetStreamContext, key: str, ttl_s: float, replicas: int) -> bool:
    """Take the lock `key` (characters `[-/_=.a-zA-Z0-9]`) unless somebody holds it; it ends after `ttl_s`."""
    locks = await _locks(jetstream, replicas)
    ends = str(time.time() + ttl_s).encode()
    try:
        await locks.create(key, ends)
    except KeyWrongLastSequenceError:
        return await _take_over(locks, key, ends)
    return True


async def release(jetstream: JetStreamContext, key: str) -> None:
    """Give the lock back; nothing happens when it was not held."""
    with contextlib.suppress(BucketNotFoundError):
        await (await jetstream.key_value(_LOCKS)).purge(key)


async def durables(jetstream: JetStreamContext) -> list[DurableState]:
    """Every durable on the server, by name."""
    declared = {durable.name for durable in DURABLES}
    lists = await asyncio.gather(*(jetstream.consumers_info(stream.name) for stream in STREAMS))
    states: list[DurableState] = [
        DurableState(
            name=info.name,
            stream=info.stream_name,
            waiting=info.num_pending or 0,
            in_flight=info.num_ack_pending or 0,
            declared=info.name in declared,
        )
        for infos in lists
        for info in infos
    ]
    return sorted(states, key=lambda state: state.name)


async def _locks(jetstream: JetStreamContext, replicas: int) -> KeyValue:
    try:
        return await jetstream.key_value(_LOCKS)
    except BucketNotFoundError:
        return await jetstream.create_key_value(KeyValueConfig(_LOCKS, history=1, replicas=replicas))


async def _take_over(locks: KeyValue, key: str, ends: bytes) -> bool:
    """Replace a lock whose time is over; of two that try, the revision lets one win."""
    try:
        held = await locks.get(key)
        if float(held.value or b"0") > time.time():
            return False
        await locks.update(key, ends, last=held.revision)
    except (KeyNotFoundError, KeyWrongLastSequenceError):
        return False
    return True
