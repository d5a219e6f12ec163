"""Dead letters: what could not be handled, kept with the reason and ready for replay.

Two ways lead here. A handler's wrapper that gives up stores the letter itself and only then terminates the event,
because a terminated event may be gone from its stream at once. And the server's own advisories, kept in a stream, tell
of events that nobody could give up on any more, since the process died or hung each time. Both use the same message
id, so that one failure is one letter.
"""

from __future__ import annotations

import contextlib
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import nats.errors
import structlog
from nats.js.errors import NotFoundError

from memvault.bus.envelope import MESSAGE_ID, ORIGINAL_SEQUENCE, REPLAY_FOR, decode_header, encode_header
from memvault.bus.port import DeadLetter
from memvault.bus.subjects import BLOCKS, DEAD_LETTER_PREFIX, DEAD_LETTERS, DURABLES
from memvault.faults import Fault, Reason

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from faststream.nats import NatsMessage
    from nats.js import JetStreamContext
    from nats.js.api import RawStreamMsg

    from memvault.bus.settings import BusSettings

_log = structlog.get_logger("memvault.bus")
_REASON = "dead-letter-reason"
_DURABLE = "dead-letter-durable"
_STREAM = "dead-letter-stream"
_SEQUENCE = "dead-letter-sequence"
_DELIVERIES = "dead-letter-deliveries"
_MAX_REASON_CHARS = 500


class StillWanted(Exception):  # noqa: N818 - a state of the event, not an error
    """Another durable has not handled the event yet, so it may not be removed: ask again later."""


@dataclass(frozen=True)
class Failure:
    """Which event failed, at which durable, why, after how many deliveries, and when it had been stored (UTC)."""

    stream: str
    sequence: int
    durable: str
    reason: str
    deliveries: int
    stored_at: datetime


async def store(
    jetstream: JetStreamContext,
    failure: Failure,
    subject: str,
    received: Mapping[str, str],
    body: bytes,
    timeout_s: float,
) -> None:
    """Keep an event as a dead letter; the same failure stored twice is kept once."""
    headers = {name: value for name, value in received.items() if name not in {MESSAGE_ID, REPLAY_FOR}}
    if all(name.lower() != "ce-time" for name in headers):
        # Without a time of its own the event's is that of its place in the stream, which it leaves now.
        headers["ce-time"] = failure.stored_at.astimezone(UTC).isoformat()
    headers |= {
        MESSAGE_ID: f"dead_letter:{failure.stream}:{failure.sequence}:{failure.durable}",
        _REASON: encode_header(failure.reason[:_MAX_REASON_CHARS]),
        _DURABLE: failure.durable,
        _STREAM: failure.stream,
        _SEQUENCE: str(failure.sequence),
        _DELIVERIES: str(failure.deliveries),
    }
    await jetstream.publish(
        DEAD_LETTER_PREFIX + subject, body, timeout=timeout_s, stream=DEAD_LETTERS.name, headers=headers
    )


async def settle_advisory(jetstream: JetStreamContext, advisory: bytes, timeout_s: float) -> None:
    """Turn one server advisory into a dead letter and free the event's place in its stream.

    Raises `StillWanted` while another durable has yet to handle the event. An event that is no longer stored was
    settled before: nothing to do.
    """
    told = json.loads(advisory)
    reason = told.get("reason") or "handling it never finished: the process died or hung at each delivery"
    stream, sequence = str(told["stream"]), int(told["stream_seq"])
    try:
        message = await jetstream.get_msg(stream, sequence)
    except NotFoundError:
        return
    stored_at = message.time or datetime.now(UTC)
    failure = Failure(stream, sequence, str(told["consumer"]), reason, int(told["deliveries"]), stored_at)
    subject = message.subject or ""
    await store(jetstream, failure, subject, message.headers or {}, message.data or b"", timeout_s)
    for durable in DURABLES:
        if durable.stream != failure.stream or durable.subject != subject or durable.name == failure.durable:
            continue
        info = await jetstream.consumer_info(failure.stream, durable.name)
        if info.ack_floor is None or info.ack_floor.stream_seq < failure.sequence:
            raise StillWanted
    await erase(jetstream, failure.stream, failure.sequence)


@dataclass(frozen=True)
class AdvisoryConsumer:
    """Consumes the stream of server advisories. Every process of the product shares the work."""

    settings: BusSettings
    jetstream: Callable[[], JetStreamContext]

    async def __call__(self, message: NatsMessage) -> None:
        """Settle one advisory; one that cannot be settled yet comes again after the longest pause."""
        try:
            await settle_advisory(self.jetstream(), message.raw_message.data, self.settings.publish_try_s)
        except StillWanted:
            await message.nack(delay=self.settings.backoff_s[-1])
        except (KeyError, ValueError) as error:
            _log.error("advisory.unreadable", reason=repr(error))
            await message.ack()
        except (nats.errors.Error, OSError, TimeoutError, Fault) as error:
            _log.warning("advisory.again", reason=repr(error))
            await message.nack(delay=self.settings.backoff_s[0])
        else:
            await message.ack()


async def newest(jetstream: JetStreamContext, limit: int) -> list[DeadLetter]:
    """The newest `limit` dead letters, oldest first."""
    state = (await jetstream.stream_info(DEAD_LETTERS.name)).state
    letters: list[DeadLetter] = []
    sequence = state.last_seq
    while sequence >= state.first_seq and len(letters) < min(limit, state.messages):
        # Erased and replayed letters leave holes in the sequence.
        with contextlib.suppress(NotFoundError):
            letters.append(_letter(await jetstream.get_msg(DEAD_LETTERS.name, sequence)))
        sequence -= 1
    return letters[::-1]


async def replay(jetstream: JetStreamContext, dead_letter_id: str, timeout_s: float) -> int:
    """Publish the letter's event again for the durable that failed, then remove the letter; the new sequence.

    An event about blocks carries the sequence that it had at first, so that nothing newer is overwritten by it. An
    utterance does not: it is erased by its place in the stream, which is the new one.
    """
    message = await _get(jetstream, dead_letter_id)
    letter = _letter(message)
    # Not the id of the event: the server would take the replay for a repetition and drop it.
    headers = {name: value for name, value in (message.headers or {}).items() if not _is_ours(name)}
    if letter.stream == BLOCKS.name:
        headers = {ORIGINAL_SEQUENCE: str(letter.sequence), **headers}  # the first one stays when it fails again
    headers |= {MESSAGE_ID: f"replay:{dead_letter_id}", REPLAY_FOR: letter.durable}
    stored = await jetstream.publish(
        letter.subject, letter.body, timeout=timeout_s, stream=letter.stream, headers=headers
    )
    await erase(jetstream, DEAD_LETTERS.name, int(dead_letter_id))
    return stored.seq


async def erase(jetstream: JetStreamContext, stream: str, sequence: int) -> bool:
    """Remove one message from a stream; False when it was no longer there."""
    try:
        await jetstream.get_msg(stream, sequence)
    except NotFoundError:
        return False
    return await jetstream.delete_msg(stream, sequence)


async def erase_letter(jetstream: JetStreamContext, dead_letter_id: str) -> bool:
    """Remove one dead letter; False when there was none of that id."""
    return dead_letter_id.isdecimal() and await erase(jetstream, DEAD_LETTERS.name, int(dead_letter_id))


async def _get(jetstream: JetStreamContext, dead_letter_id: str) -> RawStreamMsg:
    hint = "see `memvault dead-letter list` for those there are"
    if not dead_letter_id.isdecimal() or int(dead_letter_id) < 1:
        raise Fault(Reason.NOT_FOUND, f"{dead_letter_id!r} is no dead letter: {hint}")
    try:
        return await jetstream.get_msg(DEAD_LETTERS.name, int(dead_letter_id))
    except NotFoundError as error:
        raise Fault(Reason.NOT_FOUND, f"there is no dead letter {dead_letter_id}: {hint}") from error


def _letter(message: RawStreamMsg) -> DeadLetter:
    headers = message.headers or {}
    return DeadLetter(
        id=str(message.seq),
        subject=(message.subject or "").removeprefix(DEAD_LETTER_PREFIX),
        event_id=decode_header(headers.get("ce-id", "")),
        durable=headers.get(_DURABLE, ""),
        reason=decode_header(headers.get(_REASON, "")),
        deliveries=int(headers.get(_DELIVERIES, "0")),
        stream=headers.get(_STREAM, ""),
        sequence=int(headers.get(_SEQUENCE, "0")),
        time=(message.time or datetime.now(UTC)).astimezone(UTC),
        body=message.data or b"",
    )


def _is_ours(header: str) -> bool:
    return header.startswith("dead-letter-") or header == MESSAGE_ID
