"""Plays conversations through the product: utterances over NATS, and after each one a wait for what came of it.

The clock of a conversation is compressed: turns are `GAP_S` apart on event time, which admission goes by, while the
next one is played as soon as all is told about the last. What lies ready expires by the wall clock, so the player lets
it expire by event time: what would be gone by the next turn is removed from the store.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, cast
from uuid import uuid4

import nats
from nats.aio.msg import Msg
from nats.js import JetStreamContext
from redis.asyncio import Redis

from memvault.bus import envelope
from memvault.bus.subjects import PREFETCH_STORED, UTTERANCE_APPENDED
from memvault.events.v1.events_pb2 import PrefetchStored, UtteranceAppended
from memvault.prefetch_key import entry_key, index_key
from memvault.rpc.stamps import timestamp_of
from memvault.slow_thinker.v1.prefetch_pb2 import PrefetchEntry
from memvault_evals.house import EvalError
from memvault_evals.suites.conversations import Conversation
from memvault_evals.suites.suite import Gateway

GAP_S = 40.0  # admission wants 30 between two predictions
SEEDED = 10  # conversations that a user had before
DOCUMENTS = 20  # kept of each prepared answer
TURN_LIMIT_S = 180.0
DAY_S = 86_400
DAYS = 9000
PUBLISHER = "memvault/evals"
NEW_USER = "few_conversations"
# no rule of admission, but a part that did not work
DEAD = frozenset({"late", "no_encoder", "busy", "fetch_failed", "degraded", "changed_meanwhile", NEW_USER})
# conversation, number of the last turn, id of the conversation, event time of what is said next
Ask = Callable[[Conversation, int, str, float], Awaitable[dict[str, Any]]]


@dataclass(frozen=True)
class Prepared:
    """A prepared answer: `documents` are the blocks in it, best first. `at`: event time it was made at."""

    query: str
    query_hash: str
    confidence: float
    fuel: str
    documents: tuple[str, ...]
    at: float
    ttl_s: float
    took_ms: float


@dataclass
class _Expected:
    """What has come in about one utterance; `complete` is set when nothing more will come."""

    told: list[tuple[PrefetchStored, float]] = field(default_factory=list)
    complete: asyncio.Event = field(default_factory=asyncio.Event)

    def add(self, message: PrefetchStored) -> None:
        self.told.append((message, time.perf_counter()))
        if not message.query_hash or len(self.told) >= message.questions:
            self.complete.set()


class Stage:
    """The product as whoever speaks and listens sees it: its bus, and the store of what lies ready."""

    def __init__(self, stream: JetStreamContext, redis: Redis) -> None:
        self._stream = stream
        self._redis = redis
        self._expected: dict[str, _Expected] = {}

    async def hear(self, raw: Msg) -> None:
        """Take in an event about a prepared answer."""
        now = datetime.now(UTC)
        event = envelope.parse(raw.headers or {}, raw.data, PrefetchStored, subject=raw.subject, stored_at=now)
        expected = self._expected.get(event.message.utterance_event_id)
        if expected is not None:
            expected.add(event.message)

    async def say(
        self, user_id: str, conversation_id: str, speaker: str, text: str, at: float, *, dead: frozenset[str] = DEAD
    ) -> list[tuple[PrefetchStored, float]]:
        """Say something at `at`, and return all that came of it, each with the seconds until it was told.

        `dead`: refusals that no rule of admission makes here.

        Raises:
            EvalError: When not all was told in time, or a part of the product did not work.
        """
        event_id, expected = uuid4().hex, _Expected()
        self._expected[event_id] = expected
        message = UtteranceAppended(
            user_id=user_id, conversation_id=conversation_id, speaker=speaker, text=text, event_time=timestamp_of(at)
        )
        event = envelope.Event(event_id, UTTERANCE_APPENDED, PUBLISHER, datetime.now(UTC), message)
        begin = time.perf_counter()
        await self._stream.publish(UTTERANCE_APPENDED, envelope.body(message), headers=envelope.headers(event))
        try:
            async with asyncio.timeout(TURN_LIMIT_S):
                await expected.complete.wait()
        except TimeoutError as error:
            raise EvalError(
                f"nothing, or not all, came of {text[:60]!r} of {user_id} within {TURN_LIMIT_S:g} s: "
                "is the slow thinker running? See its log"
            ) from error
        finally:
            del self._expected[event_id]
        for one, _ in expected.told:
            if one.left_out or one.refused_by in dead:
                raise EvalError(
                    f"{text[:60]!r} of {user_id}: refused by {one.refused_by or 'nothing'}, without "
                    f"{', '.join(one.left_out) or 'nothing'}: a part of the product did not work"
                )
        return [(one, told_at - begin) for one, told_at in expected.told]

    async def read(self, user_id: str, told: PrefetchStored, at: float, took_s: float) -> Prepared:
        """Read a prepared answer from the store.

        Raises:
            EvalError: When it is not there, or is not whole.
        """
        stored = await self._redis.get(entry_key(user_id, told.query_hash))
        if stored is None:
            raise EvalError(f"the answer {told.query_hash} of {user_id} was told to be stored and is not")
        entry = PrefetchEntry.FromString(cast("bytes", stored))
        if entry.answer.degraded:
            parts = ", ".join(f"{one.part} {one.reason}" for one in entry.answer.degraded)
            raise EvalError(f"the answer prepared for {entry.query!r} of {user_id} is degraded: {parts}")
        return Prepared(
            query=entry.query,
            query_hash=entry.query_hash,
            confidence=entry.confidence,
            fuel=entry.fuel,
            documents=documents(entry),
            at=at,
            ttl_s=(entry.expires_at.ToNanoseconds() - entry.made_at.ToNanoseconds()) / 1e9,
            took_ms=took_s * 1000,
        )

    async def expire(self, user_id: str, hashes: Sequence[str] | None = None) -> None:
        """Let prepared answers expire; None: all of the user's."""
        if hashes is None:
            known = await cast("Awaitable[list[bytes]]", self._redis.hkeys(index_key(user_id)))
            hashes = [one.decode() for one in known]
        if hashes:
            await self._redis.delete(*(entry_key(user_id, one) for one in hashes))
            await self._redis.hdel(index_key(user_id), *hashes)


def documents(entry: PrefetchEntry) -> tuple[str, ...]:
    """Return the blocks of a prepared answer, best first: its cards, those from the graph, then other candidates."""
    cards = [*entry.answer.cards, *entry.answer.cascade_cards]
    ids = [card.block_id for card in cards if card.kind == "block"]
    ids += [candidate.block_id for candidate in entry.candidates]
    return tuple(dict.fromkeys(ids))[:DOCUMENTS]


@asynccontextmanager
async def stage(gateway: Gateway) -> AsyncIterator[Stage]:
    """Connect to the product.

    Raises:
        EvalError: When its bus or its store is not known.
    """
    if not gateway.nats or not gateway.redis:
        raise EvalError("the prefetch suite speaks over NATS and reads Redis: give the addresses of both")
    connection = await nats.connect(gateway.nats)
    redis = Redis.from_url(gateway.redis)
    try:
        found = Stage(connection.jetstream(), redis)
        await connection.subscribe(PREFETCH_STORED, cb=found.hear)
        await connection.flush()
        yield found
    finally:
        await redis.aclose()
        await connection.close()


def first_moment(now: float) -> float:
    """Return when the first conversation of a play begins, on event time: a day of its own for each play.

    What a play that broke off has left behind then lies far from what is said in this one.
    """
    return float((int(now) % DAYS) * DAY_S)


async def seed(stage: Stage, user_id: str, at: float) -> None:
    """Let the user have had the conversations without which nothing is predicted."""
    play = uuid4().hex
    for number in range(SEEDED):
        conversation_id = f"before-{play}-{number}"
        await stage.say(user_id, conversation_id, "user", "Hello, good morning.", at, dead=DEAD - {NEW_USER})


async def play(
    stage: Stage, conversation: Conversation, begin: float, ask: Ask, heard: Callable[[], None]
) -> dict[str, Any]:
    """Play one conversation of a user; no two of one user at a time.

    Args:
        stage: The product.
        conversation: What is said.
        begin: Event time of its first turn, seconds since the epoch.
        ask: Asks what is really said next, at each point.
        heard: Called after each turn.

    Returns:
        `turns`: for each what was refused or stored; `served`: what `ask` returned, by point.
    """
    user_id, conversation_id = conversation.user_id, f"{conversation.id}-{uuid4().hex}"
    at_point = {point.after: point for point in conversation.points}
    await stage.expire(user_id)
    live: list[Prepared] = []
    turns, served = [], {}
    for number, (speaker, text) in enumerate(conversation.turns):
        at = begin + number * GAP_S
        told = await stage.say(user_id, conversation_id, speaker, text, at)
        stored = [await stage.read(user_id, one, at, took) for one, took in told if not one.refused_by]
        live = [*(one for one in live if one.query_hash not in {new.query_hash for new in stored}), *stored]
        gone = [one for one in live if at + GAP_S - one.at >= one.ttl_s]
        await stage.expire(user_id, [one.query_hash for one in gone])
        live = [one for one in live if one not in gone]
        refused = sorted(one.refused_by for one, _ in told if one.refused_by)
        turns.append({"refused_by": refused, "stored": [_told(one) for one in stored]})
        if number in at_point:
            served[at_point[number].id] = await ask(conversation, number, conversation_id, at + GAP_S)
        heard()
    return {"turns": turns, "served": served}


def _told(prepared: Prepared) -> dict[str, Any]:
    return {
        "query": prepared.query,
        "confidence": round(prepared.confidence, 4),
        "fuel": prepared.fuel,
        "documents": list(prepared.documents),
        "ttl_s": prepared.ttl_s,
        "took_ms": round(prepared.took_ms, 1),
    }
