"""Makes the streams and durables on the server equal to those in `subjects.py`.

A durable is written with add_consumer and never left to a subscriber: a subscriber silently keeps the settings of a
durable that exists already.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nats.js.api import (
    AckPolicy,
    ConsumerConfig,
    DeliverPolicy,
    DiscardPolicy,
    RetentionPolicy,
    StorageType,
    StreamConfig,
)
from nats.js.errors import NotFoundError

from memvault.bus.subjects import DURABLES, STREAMS, Durable, Retention, Stream

if TYPE_CHECKING:
    from nats.js import JetStreamContext

    from memvault.bus.settings import BusSettings

_RETENTION = {
    Retention.UNTIL_ACKNOWLEDGED: RetentionPolicy.INTEREST,
    Retention.FOR_A_WHILE: RetentionPolicy.LIMITS,
}


async def declare(jetstream: JetStreamContext, settings: BusSettings) -> None:
    """Create or update every stream, then every durable. Safe to run by many processes at once."""
    for stream in STREAMS:
        config = stream_config(stream, settings)
        try:
            await jetstream.stream_info(stream.name)
        except NotFoundError:
            await jetstream.add_stream(config)
        else:
            await jetstream.update_stream(config)
    for durable in DURABLES:
        await jetstream.add_consumer(durable.stream, consumer_config(durable, settings))


def stream_config(stream: Stream, settings: BusSettings) -> StreamConfig:
    """The server's form of a stream. A full stream refuses what is new, so that the publisher notices."""
    return StreamConfig(
        name=stream.name,
        subjects=list(stream.subjects),
        retention=_RETENTION[stream.retention],
        storage=StorageType.FILE,
        discard=DiscardPolicy.NEW,
        max_bytes=settings.stream_max_bytes,
        max_age=getattr(settings, stream.max_age) if stream.max_age else 0,
        duplicate_window=getattr(settings, stream.duplicate_window),
        num_replicas=settings.replicas,
        allow_direct=True,
    )


def consumer_config(durable: Durable, settings: BusSettings) -> ConsumerConfig:
    """The server's form of a durable. Without server-side back-off, which would replace `ack_wait`."""
    return ConsumerConfig(
        durable_name=durable.name,
        filter_subject=durable.subject,
        deliver_policy=DeliverPolicy.ALL,
        ack_policy=AckPolicy.EXPLICIT,
        ack_wait=settings.ack_wait_s,
        max_deliver=settings.max_deliver,
        max_ack_pending=settings.max_ack_pending,
    )
