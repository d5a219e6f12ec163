"""Attention profiles in Redis (or Valkey).

Keys, all under `memvault:`
- `profile:{user}:intent:{label}` and `...:facet:{label}`: sorted sets, event id scored by the time it was asked
- `profile:{user}:interests`: sorted set, name scored by forward-decayed weight
- `profile:{user}:seen:{event}` and `profile:{user}:topics:{recall}`: markers that expire
- `profile:{user}:gone`: hash, digest of a forgotten topic to the time it went; expires
- `profile:users`: set of users with a profile
- `profile-erased:{digest of user}`: hash, `at`: up to when all was erased, `done`: the same once it was; expires
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, cast

from memvault_router.adapters.redis_guard import RedisGuard
from memvault_router.domain.labels import FACETS, INTENTS
from memvault_router.domain.profile import Interest, WindowCounts
from memvault_router.ports import Classified, Counted

_USERS = "memvault:profile:users"
_DAY_S = 86_400
_LABELS = tuple([("intent", name) for name in INTENTS] + [("facet", name) for name in FACETS])

# Marks are compared where the writing is done: between a look at them and a write by themselves, a user might go.
_WENT = """
local function went(mark, field, at)
    local moment = redis.call('HGET', mark, field)
    return moment and tonumber(moment) >= tonumber(at)
end
"""

_MARK = f"""{_WENT}
if not went(KEYS[1], ARGV[1], ARGV[2]) then redis.call('HSET', KEYS[1], ARGV[1], ARGV[2]) end
redis.call('EXPIRE', KEYS[1], ARGV[3])
return 1
"""

_RECORD = f"""{_WENT}
if went(KEYS[1], 'at', ARGV[1]) then return 0 end
local added = redis.call('ZADD', KEYS[2], 'NX', ARGV[1], ARGV[2])
redis.call('ZADD', KEYS[3], 'NX', ARGV[1], ARGV[2])
redis.call('EXPIRE', KEYS[2], ARGV[3])
redis.call('EXPIRE', KEYS[3], ARGV[3])
redis.call('SADD', KEYS[4], ARGV[4])
return added
"""

_ADD_ONCE = f"""{_WENT}
if went(KEYS[1], 'at', ARGV[1]) then return 0 end
local about
if ARGV[2] ~= '' then
    about = {{}}
    for _, name in ipairs(cjson.decode(redis.call('GET', KEYS[3]) or '[]')) do about[name] = true end
end
local left = {{}}
for place = 6, #ARGV, 3 do
    if not went(KEYS[2], ARGV[place + 2], ARGV[1]) and (not about or about[ARGV[place]]) then
        left[#left + 1] = place
    end
end
if #left == 0 or not redis.call('SET', KEYS[4], '1', 'NX', 'EX', ARGV[3]) then return 0 end
for _, place in ipairs(left) do redis.call('ZINCRBY', KEYS[5], ARGV[place + 1], ARGV[place]) end
redis.call('ZREMRANGEBYSCORE', KEYS[5], '-inf', '0')
redis.call('ZREMRANGEBYRANK', KEYS[5], 0, -1 - tonumber(ARGV[4]))
redis.call('SADD', KEYS[6], ARGV[5])
return 1
"""

_REMEMBER = f"""{_WENT}
if went(KEYS[1], 'at', ARGV[1]) then return 0 end
local left = {{}}
for place = 3, #ARGV, 2 do
    if not went(KEYS[2], ARGV[place + 1], ARGV[1]) then left[#left + 1] = ARGV[place] end
end
if #left > 0 then redis.call('SET', KEYS[3], cjson.encode(left), 'EX', ARGV[2]) end
return #left
"""

# One script instead of 33 commands, and one text instead of 33 numbers: building and reading those takes longer than
# all that the router does itself.
_COUNT = """
local counts = {}
for place = 2, #ARGV do
    for _, key in ipairs(KEYS) do counts[#counts + 1] = redis.call('ZCOUNT', key, ARGV[place], ARGV[1]) end
end
return table.concat(counts, ' ')
"""


class RedisProfiles:
    """`Profiles` in Redis; `seen_s` is how long an event id is remembered."""

    def __init__(self, guard: RedisGuard, *, keep_days: int, seen_s: int) -> None:
        self._guard = guard
        self._keep_s = keep_days * _DAY_S
        self._seen_s = seen_s

    async def record(self, event_id: str, classified: Classified) -> bool:
        """Count a question once; the event id is the member, so a second time changes nothing."""
        user = classified.user_id
        labels = (_label_key(user, "intent", classified.intent), _label_key(user, "facet", classified.facet))
        keys, at = [_erased_key(user), *labels, _USERS], repr(classified.asked_at.timestamp())

        async def work() -> bool:
            return bool(await self._guard.client.eval(_RECORD, len(keys), *keys, at, event_id, str(self._keep_s), user))

        return await self._guard(work)

    async def counts(self, user_id: str, starts: Sequence[datetime], now: datetime) -> list[WindowCounts]:
        """Count by score range, all labels and windows in one round trip."""
        keys = [_label_key(user_id, kind, label) for kind, label in _LABELS]
        bounds = [str(moment.timestamp()) for moment in (now, *starts)]

        async def work() -> bytes:
            return cast("bytes", await self._guard.client.eval(_COUNT, len(keys), *keys, *bounds))

        flat = [int(count) for count in (await self._guard(work)).split()]
        windows = []
        for place in range(len(starts)):
            row = dict(zip(_LABELS, flat[place * len(_LABELS) : (place + 1) * len(_LABELS)], strict=True))
            windows.append(
                WindowCounts(
                    {name: row["intent", name] for name in INTENTS if row["intent", name]},
                    {name: row["facet", name] for name in FACETS if row["facet", name]},
                )
            )
        return windows

    async def add_interests(
        self,
        user_id: str,
        event_id: str,
        grown: Mapping[str, float],
        keep: int,
        at: datetime,
        *,
        recall_id: str = "",
    ) -> bool:
        """Add weights in one atomic step."""
        keys = [
            _erased_key(user_id),
            _gone_key(user_id),
            _topics_key(user_id, recall_id),
            f"memvault:profile:{user_id}:seen:{event_id}",
            _interests_key(user_id),
            _USERS,
        ]
        told = [repr(at.timestamp()), recall_id, str(self._seen_s), str(keep), user_id]
        told += [part for name, weight in grown.items() for part in (name, repr(weight), _digest(name))]

        async def work() -> bool:
            return bool(await self._guard.client.eval(_ADD_ONCE, len(keys), *keys, *told))

        return await self._guard(work)

    async def remember_topics(self, user_id: str, recall_id: str, topics: Sequence[str], at: datetime) -> None:
        """Keep the topics of a recall for a day, in one atomic step."""
        keys = [_erased_key(user_id), _gone_key(user_id), _topics_key(user_id, recall_id)]
        told = [repr(at.timestamp()), str(_DAY_S), *(part for name in topics for part in (name, _digest(name)))]

        async def work() -> None:
            await self._guard.client.eval(_REMEMBER, len(keys), *keys, *told)

        await self._guard(work)

    async def topics_of(self, user_id: str, recall_id: str) -> Sequence[str]:
        """Return the kept topics."""

        async def work() -> bytes | None:
            return cast("bytes | None", await self._guard.client.get(_topics_key(user_id, recall_id)))

        found = await self._guard(work)
        return tuple(json.loads(found)) if found else ()

    async def interests(self, user_id: str, growth_now: float, limit: int) -> list[Interest]:
        """Return the largest interests."""

        async def work() -> list[tuple[bytes, float]]:
            key = _interests_key(user_id)
            return cast(
                "list[tuple[bytes, float]]", await self._guard.client.zrevrange(key, 0, limit - 1, withscores=True)
            )

        return [Interest(name.decode(), float(weight) / growth_now) for name, weight in await self._guard(work)]

    async def questions(self, user_id: str) -> list[Counted]:
        """Join the labels of each question by its id."""
        keys = [_label_key(user_id, kind, label) for kind, label in _LABELS]

        async def work() -> list[list[tuple[bytes, float]]]:
            async with self._guard.client.pipeline(transaction=True) as pipe:
                for key in keys:
                    pipe.zrange(key, 0, -1, withscores=True)
                return cast("list[list[tuple[bytes, float]]]", await pipe.execute())

        labels: dict[str, dict[str, str]] = {"intent": {}, "facet": {}}
        times: dict[str, float] = {}
        for (kind, label), members in zip(_LABELS, await self._guard(work), strict=True):
            for member, at in members:
                labels[kind][member.decode()] = label
                times[member.decode()] = float(at)
        return [
            Counted(one, labels["intent"][one], labels["facet"][one], datetime.fromtimestamp(at, UTC))
            for one, at in sorted(times.items(), key=lambda item: (item[1], item[0]))
            if one in labels["intent"] and one in labels["facet"]
        ]

    async def restore(
        self, user_id: str, questions: Sequence[Counted], interests: Mapping[str, float], keep: int
    ) -> tuple[int, int]:
        """Add everything in one transaction."""
        key = _interests_key(user_id)

        async def work() -> tuple[int, int]:
            async with self._guard.client.pipeline(transaction=True) as pipe:
                for one in questions:
                    at = one.asked_at.timestamp()
                    pipe.zadd(_label_key(user_id, "intent", one.intent), {one.id: at}, nx=True)
                    pipe.zadd(_label_key(user_id, "facet", one.facet), {one.id: at}, nx=True)
                for label in {("intent", one.intent) for one in questions} | {
                    ("facet", one.facet) for one in questions
                }:
                    pipe.expire(_label_key(user_id, *label), self._keep_s)
                pipe.sadd(_USERS, user_id)
                if interests:
                    pipe.zadd(key, dict(interests), gt=True, ch=True)
                    pipe.zremrangebyrank(key, 0, -1 - keep)
                told = await pipe.execute()
            added = sum(told[: 2 * len(questions) : 2])
            return int(added), int(told[-2]) if interests else 0

        return await self._guard(work)

    async def forget_topics(self, user_id: str, topics: Sequence[str], at: datetime) -> None:
        """Remove topics from the interests and from every recall; what stays of them is a digest, for a day."""
        key, gone = _gone_key(user_id), {_digest(topic): repr(at.timestamp()) for topic in topics}

        async def work() -> None:
            client = self._guard.client
            await client.hset(key, mapping=cast("dict[Any, Any]", gone))
            await client.expire(key, _DAY_S)
            async for recall in client.scan_iter(match=f"memvault:profile:{_quoted(user_id)}:topics:*", count=1000):
                await self._drop_from(recall, frozenset(topics))
            # Last: until then a judgement of a recall could bring a topic back.
            await client.zrem(_interests_key(user_id), *topics)

        await self._guard(work)

    async def _drop_from(self, recall: bytes, topics: frozenset[str]) -> None:
        known = json.loads(cast("bytes | None", await self._guard.client.get(recall)) or "[]")
        left = [topic for topic in known if topic not in topics]
        if len(left) < len(known):
            await self._guard.client.set(recall, json.dumps(left, ensure_ascii=False), keepttl=True)

    async def erase(self, user_id: str, at: datetime) -> bool:
        """Set the mark, then remove every key of the user; a second mark says that it was done."""
        # Those that judgements read and write go in one step, whether they were there when the others were looked for.
        known = [_interests_key(user_id), *(_label_key(user_id, kind, label) for kind, label in _LABELS)]

        async def work() -> bool:
            client = self._guard.client
            await self._mark(user_id, "at", at)
            pattern = f"memvault:profile:{_quoted(user_id)}:*"
            found = [cast("bytes", key).decode() async for key in client.scan_iter(match=pattern, count=1000)]
            async with client.pipeline(transaction=True) as pipe:
                pipe.delete(*dict.fromkeys([*known, *found]))
                pipe.srem(_USERS, user_id)
                removed, _ = await pipe.execute()
            await self._mark(user_id, "done", at)
            return bool(removed)

        return await self._guard(work)

    async def _mark(self, user_id: str, field: str, at: datetime) -> None:
        key = _erased_key(user_id)
        await cast("Awaitable[int]", self._guard.client.eval(_MARK, 1, key, field, repr(at.timestamp()), str(_DAY_S)))

    async def erased_since(self, user_id: str, at: datetime) -> bool:
        """Compare with the second mark."""

        async def work() -> bytes | None:
            return await cast("Awaitable[bytes | None]", self._guard.client.hget(_erased_key(user_id), "done"))

        done = await self._guard(work)
        return done is not None and float(done) >= at.timestamp()

    async def expire(self, user_id: str, before: datetime) -> int:
        """Remove old questions of one user or of all."""
        users = [user_id] if user_id else await self._users()
        removed = 0
        for user in users:
            removed += await self._guard(lambda user=user: self._expire_one(user, before))  # type: ignore[misc]
        return removed

    async def _users(self) -> list[str]:
        async def work() -> set[bytes]:
            return cast("set[bytes]", await self._guard.client.smembers(_USERS))

        return sorted(user.decode() for user in await self._guard(work))

    async def _expire_one(self, user_id: str, before: datetime) -> int:
        async with self._guard.client.pipeline(transaction=False) as pipe:
            for kind, label in _LABELS:
                pipe.zremrangebyscore(_label_key(user_id, kind, label), "-inf", f"({before.timestamp()}")
            removed = cast("list[int]", await pipe.execute())
        return sum(removed[: len(INTENTS)])


def _label_key(user_id: str, kind: str, label: str) -> str:
    return f"memvault:profile:{user_id}:{kind}:{label}"


def _interests_key(user_id: str) -> str:
    return f"memvault:profile:{user_id}:interests"


def _topics_key(user_id: str, recall_id: str) -> str:
    return f"memvault:profile:{user_id}:topics:{recall_id}"


def _gone_key(user_id: str) -> str:
    return f"memvault:profile:{user_id}:gone"


def _erased_key(user_id: str) -> str:
    return f"memvault:profile-erased:{_digest(user_id)}"


def _quoted(user_id: str) -> str:
    return "".join(f"\\{letter}" if letter in "*?[]\\^-" else letter for letter in user_id)


def _digest(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()[:32]
