"""Prepared answers in Redis, in the contract's schema and under the shared keys (`memvault/prefetch_key.py`).

Beside an entry and the index of a user's entries lie `memvault:prefetch_blocks:{user}` (hash: query hash -> block
ids, for invalidation) and `memvault:prefetch_epoch:{user}` (counter: something was changed or forgotten).
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from redis.asyncio import Redis
from redis.exceptions import WatchError

from memvault.prefetch_key import (
    SCHEMA,
    conditions_fingerprint,
    entry_key,
    index_key,
    pack_index_value,
    unpack_index_value,
)
from memvault.recall.v1.recall_pb2 import RecallResponse
from memvault.rpc.stamps import timestamp_of
from memvault.slow_thinker.v1.prefetch_pb2 import PrefetchEntry
from memvault.text import query_hash
from memvault_slow_thinker.adapters.redis_access import raw, reachable, text
from memvault_slow_thinker.adapters.redis_marks import bars, mark_forgotten, mark_key
from memvault_slow_thinker.ports import Prepared, PreparedQuestion

_EPOCH_TTL_S = 86_400  # only what is being fetched at this moment compares it


class RedisPreparedAnswers:
    """See `ports.PreparedAnswers`."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    async def epoch(self, user_id: str) -> int:
        """See `ports.PreparedAnswers`."""
        async with reachable():
            return int(await self._redis.get(_epoch_key(user_id)) or 0)

    async def store(self, prepared: Prepared, *, epoch: int) -> bool:
        """See `ports.PreparedAnswers`. Entry, index and epoch are compared and written in one transaction."""
        user_id, hashed = prepared.place.user_id, query_hash(prepared.question.text)
        ttl_s = max(round(prepared.expires_at - prepared.made_at), 1)
        expired = await self._expired(user_id, prepared.made_at)
        async with reachable(), self._redis.pipeline(transaction=True) as steps:
            await steps.watch(_epoch_key(user_id), mark_key(user_id))
            if int(await steps.get(_epoch_key(user_id)) or 0) != epoch or await bars(steps, user_id, prepared.told_at):
                return False
            steps.multi()  # type: ignore[no-untyped-call] # untyped in redis 8
            steps.set(entry_key(user_id, hashed), _entry(prepared, hashed).SerializeToString(), ex=ttl_s)
            for key, value in (
                (index_key(user_id), pack_index_value(prepared.expires_at, prepared.vector.tolist())),
                (_blocks_key(user_id), json.dumps(sorted(prepared.fetched.block_ids)).encode()),
            ):
                if expired:
                    steps.hdel(key, *expired)
                steps.hset(key, hashed, value)
                steps.expire(key, ttl_s)
            try:
                await steps.execute()
            except WatchError:
                return False
        return True

    async def live(self, user_id: str, *, now: float) -> tuple[PreparedQuestion, ...]:
        """See `ports.PreparedAnswers`."""
        async with reachable():
            hashes = [text(hashed) for hashed in await self._redis.hkeys(index_key(user_id))]
            found = await self._redis.mget([entry_key(user_id, hashed) for hashed in hashes]) if hashes else []
        ready = [_question(PrefetchEntry.FromString(raw(value))) for value in found if value is not None]
        alive = [one for one in ready if one.expires_at > now]
        return tuple(sorted(alive, key=lambda one: (-one.confidence, one.query)))

    async def drop_holding(self, user_id: str, block_ids: Sequence[str]) -> int:
        """See `ports.PreparedAnswers`."""
        wanted = set(block_ids)
        await self._begin_epoch(user_id)
        async with reachable():
            holdings = await self._redis.hgetall(_blocks_key(user_id))
            held = [text(key) for key, value in holdings.items() if not wanted.isdisjoint(json.loads(value))]
            return await self._remove(user_id, held)

    async def forget(self, user_id: str, at: float) -> int:
        """See `ports.PreparedAnswers`. The epoch itself stays a day: it is a number and nothing else."""
        async with reachable():
            await mark_forgotten(self._redis, user_id, at)
        await self._begin_epoch(user_id)
        async with reachable():
            keys = [key async for key in self._redis.scan_iter(match=entry_key(user_id, "*"))]
            used = [key async for key in self._redis.scan_iter(match=f"memvault:prefetch_used:{user_id}:*")]
            removed = int(await self._redis.delete(*keys)) if keys else 0
            await self._redis.delete(*used, index_key(user_id), _blocks_key(user_id))
        return removed

    async def _begin_epoch(self, user_id: str) -> None:
        async with reachable(), self._redis.pipeline(transaction=True) as steps:
            steps.incr(_epoch_key(user_id))
            steps.expire(_epoch_key(user_id), _EPOCH_TTL_S)
            await steps.execute()

    async def _remove(self, user_id: str, hashes: list[str]) -> int:
        if not hashes:
            return 0
        async with self._redis.pipeline(transaction=True) as steps:
            steps.delete(*(entry_key(user_id, hashed) for hashed in hashes))
            steps.hdel(index_key(user_id), *hashes)
            steps.hdel(_blocks_key(user_id), *hashes)
            answers = await steps.execute()
        return int(answers[0])

    async def _expired(self, user_id: str, now: float) -> list[str]:
        async with reachable():
            index = await self._redis.hgetall(index_key(user_id))
        return [text(hashed) for hashed, value in index.items() if unpack_index_value(raw(value))[0] <= now]


def _entry(prepared: Prepared, hashed: str) -> PrefetchEntry:
    answer = RecallResponse.FromString(prepared.fetched.answer)
    candidates = list(answer.candidates)
    answer.ClearField("candidates")
    answer.ClearField("trace")
    return PrefetchEntry(
        schema=SCHEMA,
        user_id=prepared.place.user_id,
        query=prepared.question.text,
        query_hash=hashed,
        confidence=prepared.question.confidence,
        made_at=timestamp_of(prepared.made_at),
        made_for=timestamp_of(prepared.made_for),
        expires_at=timestamp_of(prepared.expires_at),
        answer=answer,
        candidates=candidates,
        query_vector=prepared.vector.astype("<f4").tobytes(),
        write_version=prepared.fetched.write_version,
        conditions=conditions_fingerprint(),
        ruleset_version=prepared.ruleset_version,
        conversation_id=prepared.place.conversation_id,
        encoder_id=prepared.encoder_id,
        fuel=prepared.question.fuel,
        recall_ms=prepared.fetched.took_ms,
    )


def _question(entry: PrefetchEntry) -> PreparedQuestion:
    cards = len(entry.answer.cards) + len(entry.answer.cascade_cards)
    return PreparedQuestion(entry.query, entry.confidence, entry.expires_at.ToNanoseconds() / 1e9, cards)


def _epoch_key(user_id: str) -> str:
    return f"memvault:prefetch_epoch:{user_id}"


def _blocks_key(user_id: str) -> str:
    return f"memvault:prefetch_blocks:{user_id}"
