"""Conversation windows in Redis. Keys name the user; nothing lives longer than a day.

`memvault:window:{user}:{conversation}`: sorted set by event time, one JSON text for each utterance.
`memvault:said:{user}`: sorted set by arrival, one JSON text for each utterance's event id and sequence.
`memvault:conversations:{user}`: set of conversation ids, kept: it is what tells a newcomer from an old user.
`memvault:predicted:{user}`: sorted set by event time, one JSON text for each recent prediction.
What comes late of a forgotten user is told from what is new by a mark (`redis_marks`).
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from redis.asyncio import Redis
from redis.asyncio.client import Pipeline

from memvault_slow_thinker.adapters.redis_access import raw, reachable
from memvault_slow_thinker.adapters.redis_marks import mark_forgotten, unless_forgotten, was_forgotten
from memvault_slow_thinker.domain.conversation import Place, Utterance, in_order
from memvault_slow_thinker.domain.prediction import Predicted
from memvault_slow_thinker.ports import ForgottenWords
from memvault_slow_thinker.settings import WindowSettings


class RedisConversations:
    """See `ports.Conversations`."""

    def __init__(self, redis: Redis, settings: WindowSettings) -> None:
        self._redis = redis
        self._settings = settings

    async def append(
        self, place: Place, utterance: Utterance, *, sequence: int | None, now: float, told_at: float
    ) -> tuple[Utterance, ...]:
        """See `ports.Conversations`. Adding is one atomic step; what is too old or too much goes in the next."""
        key, said = _window_key(place), f"memvault:said:{place.user_id}"
        oldest = now - self._settings.ttl_s
        async with reachable():
            known = [json.loads(raw(member)) for member in await self._redis.zrange(key, 0, -1)]

            def fill(steps: Pipeline) -> None:
                if all(one["id"] != utterance.event_id for one in known):
                    steps.zadd(key, {_dump_utterance(utterance, now): utterance.at})
                    steps.zadd(said, {json.dumps([utterance.event_id, sequence]): now})
                for one in known:
                    if one["arrived"] < oldest:
                        steps.zrem(key, json.dumps(one, ensure_ascii=False))
                steps.zremrangebyrank(key, 0, -self._settings.utterances - 1)
                steps.zremrangebyscore(said, "-inf", f"({oldest}")
                steps.expire(key, self._settings.ttl_s)
                steps.expire(said, self._settings.ttl_s)
                steps.zrange(key, 0, -1)

            answers = await unless_forgotten(self._redis, place.user_id, told_at, fill)
        return in_order([_load_utterance(text) for text in answers[-1]]) if answers is not None else ()

    async def note(self, user_id: str, conversation_id: str, *, told_at: float) -> None:
        """See `ports.Conversations`. Above the bound no more are kept: admission asks for far fewer."""
        key = _conversations_key(user_id)
        async with reachable():
            if await self._redis.scard(key) < self._settings.conversations:
                await unless_forgotten(self._redis, user_id, told_at, lambda steps: steps.sadd(key, conversation_id))

    async def count(self, user_id: str) -> int:
        """See `ports.Conversations`."""
        async with reachable():
            return int(await self._redis.scard(_conversations_key(user_id)))

    async def predicted(self, user_id: str, at: float) -> tuple[Predicted, ...]:
        """See `ports.Conversations`."""
        near = self._settings.predictions_ttl_s
        async with reachable():
            found = await self._redis.zrangebyscore(_predicted_key(user_id), at - near, at + near)
        predicted = [Predicted(*json.loads(raw(member))) for member in found]
        return tuple(sorted(predicted, key=lambda one: (one.at, one.text)))

    async def note_predicted(self, user_id: str, predicted: Sequence[Predicted], *, told_at: float) -> None:
        """See `ports.Conversations`."""
        if not predicted:
            return
        key = _predicted_key(user_id)
        members = {json.dumps([one.text, one.conversation_id, one.at], ensure_ascii=False): one.at for one in predicted}

        def fill(steps: Pipeline) -> None:
            steps.zadd(key, members)
            # who talks all day never lets the key expire
            steps.zremrangebyrank(key, 0, -self._settings.predictions - 1)
            steps.expire(key, self._settings.predictions_ttl_s)

        async with reachable():
            await unless_forgotten(self._redis, user_id, told_at, fill)

    async def forget(self, user_id: str, at: float) -> ForgottenWords:
        """See `ports.Conversations`."""
        async with reachable():
            await mark_forgotten(self._redis, user_id, at)
            windows = [key async for key in self._redis.scan_iter(match=f"memvault:window:{user_id}:*")]
            spoken = sum([int(await self._redis.zcard(key)) for key in windows])
            said = f"memvault:said:{user_id}"
            logged = [json.loads(raw(member))[1] for member in await self._redis.zrange(said, 0, -1)]
            await self._redis.delete(*windows, said, _conversations_key(user_id), _predicted_key(user_id))
        return ForgottenWords(spoken, tuple(sorted(number for number in logged if number is not None)))

    async def settle(self, user_id: str, at: float) -> None:
        """See `ports.Conversations`."""
        async with reachable():
            await mark_forgotten(self._redis, user_id, at, done=True)

    async def settled(self, user_id: str, at: float) -> bool:
        """See `ports.Conversations`."""
        async with reachable():
            return await was_forgotten(self._redis, user_id, at)


def _window_key(place: Place) -> str:
    return f"memvault:window:{place.user_id}:{place.conversation_id}"


def _conversations_key(user_id: str) -> str:
    return f"memvault:conversations:{user_id}"


def _predicted_key(user_id: str) -> str:
    return f"memvault:predicted:{user_id}"


def _dump_utterance(utterance: Utterance, arrived: float) -> str:
    table = {
        "id": utterance.event_id,
        "speaker": utterance.speaker,
        "text": utterance.text,
        "at": utterance.at,
        "sequence": utterance.sequence,
        "arrived": arrived,
    }
    return json.dumps(table, ensure_ascii=False)


def _load_utterance(text: str | bytes) -> Utterance:
    table = json.loads(text)
    return Utterance(table["id"], table["speaker"], table["text"], float(table["at"]), int(table["sequence"]))
