"""What Redis and the streams of a running memvault hold, read past every service: proof that something is gone."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress

import nats
from nats.js.errors import NotFoundError
from redis.asyncio import Redis

from tests.house import House


async def kept_text(house: House) -> dict[str, str]:
    """All keys with their values, and all messages, as text by where they lie."""
    state = json.loads((house.home / "run" / "state.json").read_text(encoding="utf-8"))
    kept = await _in_redis(state["redis"]) | await _on_the_bus(state["nats"])
    return {where: _read(data) for where, data in kept.items()}


def holding(kept: Mapping[str, str], words: Sequence[str]) -> dict[str, list[str]]:
    """Where any of the words lie, and which."""
    found = {where: [word for word in words if word in text] for where, text in kept.items()}
    return {where: some for where, some in found.items() if some}


async def _in_redis(url: str) -> dict[str, bytes]:
    redis = Redis.from_url(url, decode_responses=False)
    reads = {
        b"string": redis.get,
        b"hash": redis.hgetall,
        b"set": redis.smembers,
        b"zset": lambda key: redis.zrange(key, 0, -1),
    }
    kept = {}
    async for key in redis.scan_iter():
        kind = await redis.type(key)
        assert kind in reads, f"{key!r} is a {kind!r}: read it here"
        kept[f"redis {key!r}"] = key + repr(await reads[kind](key)).encode()
    await redis.aclose()
    return kept


async def _on_the_bus(url: str) -> dict[str, bytes]:
    client = await nats.connect(url)
    stream = client.jetstream()
    kept = {}
    for one in await stream.streams_info():
        for sequence in range(max(1, one.state.first_seq), one.state.last_seq + 1):
            with suppress(NotFoundError):  # erased, or acknowledged by all
                message = await stream.get_msg(str(one.config.name), sequence)
                kept[f"{message.subject} {sequence}"] = message.data or b""
    await client.close()
    return kept


def _read(data: bytes) -> str:
    """Bytes as written, and as repr and JSON write them."""
    text = data.decode("utf-8", "replace")
    return text + text.encode("latin-1", "ignore").decode("unicode_escape", "replace")
