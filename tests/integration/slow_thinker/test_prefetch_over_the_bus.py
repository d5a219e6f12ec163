"""The whole service over a real NATS and a real Valkey; gateway, encoder and graph answer in this process."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import nats
import numpy as np
import pytest
from redis.asyncio import Redis

from memvault.bus import subjects
from memvault.bus.broker import BusSettings, NatsBus, build_bus
from memvault.bus.envelope import Event
from memvault.cascade.v1 import cascade_pb2, cascade_pb2_grpc
from memvault.embed.v1 import embed_pb2, embed_pb2_grpc
from memvault.events.v1.events_pb2 import BlockForgotten, BlockIndexed, PrefetchStored, UtteranceAppended
from memvault.faults import Fault, Reason
from memvault.prefetch_key import prefetch_key
from memvault.recall.v1 import recall_pb2, recall_pb2_grpc
from memvault.recall.v1.types_pb2 import Block, Card
from memvault.rpc.client import call
from memvault.rpc.local import LocalChannel
from memvault.runtime.settings import load
from memvault.slow_thinker.v1 import slow_thinker_pb2, slow_thinker_pb2_grpc
from memvault.slow_thinker.v1.prefetch_pb2 import PrefetchEntry
from memvault.text import query_hash
from memvault_slow_thinker.app import App, Peers, build
from memvault_slow_thinker.settings import Settings
from tests.contract.slow_thinker.conftest import redis, valkey_url
from tests.integration.bus.conftest import NatsServer

__all__ = ["redis", "valkey_url"]

WAIT_S = 20


class Gateway(recall_pb2_grpc.RecallServiceServicer):
    def __init__(self) -> None:
        self.asked: list[recall_pb2.RecallRequest] = []

    async def Recall(self, request: recall_pb2.RecallRequest, context: Any) -> recall_pb2.RecallResponse:
        self.asked.append(request)
        return recall_pb2.RecallResponse(
            query=request.query,
            confidence="high",
            cards=[Card(block_id="b1", kind="block", text=request.query)],
            candidates=[recall_pb2.Candidate(block_id="b2", version=1)],
            write_version=5,
            took_ms=42.0,
        )


class Embed(embed_pb2_grpc.EmbedServiceServicer):
    async def Embed(self, request: embed_pb2.EmbedRequest, context: Any) -> embed_pb2.EmbedResponse:
        assert request.soon, "an import must not hold up what a talk needs"
        vectors = [self._vector(text) for text in request.texts]
        made = [embed_pb2.Embedding(vector=vector.astype("<f4").tobytes()) for vector in vectors]
        return embed_pb2.EmbedResponse(embeddings=made, encoder_id="letters")

    async def Describe(self, request: embed_pb2.DescribeRequest, context: Any) -> embed_pb2.DescribeResponse:
        mean = np.zeros(256, dtype="<f4").tobytes()
        return embed_pb2.DescribeResponse(encoder_id="letters", dimension=256, query_mean=mean, passage_mean=mean)

    @staticmethod
    def _vector(text: str) -> np.ndarray[Any, Any]:
        vector = np.bincount(np.frombuffer(text.encode(), np.uint8), minlength=256).astype(np.float32)
        return vector / np.linalg.norm(vector)


class Cascade(cascade_pb2_grpc.CascadeServiceServicer):
    async def LinkEntities(self, request: Any, context: Any) -> cascade_pb2.LinkEntitiesResponse:
        raise Fault(Reason.SERVICE_UNAVAILABLE, "no graph today")


@dataclass
class Running:
    app: App
    bus: NatsBus
    gateway: Gateway
    url: str
    told: list[PrefetchStored] = field(default_factory=list)

    async def until_told(self, wanted: Callable[[PrefetchStored], bool]) -> PrefetchStored:
        async with asyncio.timeout(WAIT_S):
            while not (found := [one for one in self.told if wanted(one)]):  # noqa: ASYNC110 - told over the bus
                await asyncio.sleep(0.02)
        return found[0]


@pytest.fixture
async def running(tmp_path: Path, redis: Redis) -> AsyncIterator[Running]:
    server = NatsServer(tmp_path / "nats")
    await server.start()
    settings = load("bus", BusSettings, home=tmp_path, environ={}).model_copy(
        update={"url": server.url, "fetch_timeout_s": 0.5, "max_deliver": 3, "backoff_s": (0.05, 0.1)}
    )
    gateway, bus = Gateway(), build_bus(settings, "slow_thinker")
    peers = Peers(
        gateway=recall_pb2_grpc.RecallServiceStub(
            LocalChannel([(recall_pb2_grpc.add_RecallServiceServicer_to_server, gateway)], "gateway")
        ),
        embed=embed_pb2_grpc.EmbedServiceStub(
            LocalChannel([(embed_pb2_grpc.add_EmbedServiceServicer_to_server, Embed())], "search")
        ),
        cascade=cascade_pb2_grpc.CascadeServiceStub(
            LocalChannel([(cascade_pb2_grpc.add_CascadeServiceServicer_to_server, Cascade())], "cascade")
        ),
    )
    app = await build(load("slow_thinker", Settings, environ={}), peers=peers, bus=bus, redis=redis)
    world = Running(app, bus, gateway, server.url)

    async def told(event: Event[PrefetchStored]) -> None:
        world.told.append(event.message)

    bus.watch(subjects.PREFETCH_STORED, PrefetchStored, told)
    await app.start()
    assert await bus.start(timeout_s=20)
    yield world
    await bus.stop()
    await app.stop()
    server.kill()


async def talk(world: Running, *texts: str, user: str = "ann") -> None:
    """Known from ten conversations, then three utterances by a plain NATS client that knows nothing of us."""
    for number in range(10):
        block = Block(id=f"old{number}", user_id=user, conversation_id=f"c{number}")
        await world.bus.publish(subjects.BLOCK_INDEXED, BlockIndexed(block=block, changed=True))
    await _eventually(lambda: _has_conversations(world, user))
    client = await nats.connect(world.url)
    start = datetime.now(UTC) - timedelta(seconds=30)
    for place, text in enumerate(texts):
        body = {
            "user_id": user,
            "conversation_id": "c0",
            "speaker": "user",
            "text": text,
            "event_time": (start + timedelta(seconds=5 * place)).isoformat(),
        }
        await client.jetstream().publish(subjects.UTTERANCE_APPENDED, json.dumps(body, ensure_ascii=False).encode())
    await client.close()


async def _has_conversations(world: Running, user: str) -> bool:
    return (await world.app.listen._conversations.count(user)) == 10


async def _eventually(true: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(WAIT_S):
        while not await true():  # noqa: ASYNC110 - other processes set no event
            await asyncio.sleep(0.02)


TALK = ("OCR 的模型昨天換了", "OCR 的準確率好像變高", "我等等想問 OCR 做到哪了")


@pytest.mark.r("R-50", "R-53")
async def test_utterances_by_any_nats_client_lead_to_an_entry_that_the_router_can_find(
    running: Running, redis: Redis
) -> None:
    await talk(running, *TALK)
    told = await running.until_told(lambda one: one.query_hash == query_hash("OCR 做到哪了"))
    assert (told.user_id, told.conversation_id, told.refused_by) == ("ann", "c0", "")
    raw: Any = await redis.get(prefetch_key("ann", "OCR 做到哪了"))
    entry = PrefetchEntry.FromString(raw)
    assert [card.block_id for card in entry.answer.cards] == ["b1"]
    assert [candidate.block_id for candidate in entry.candidates] == ["b2"]
    assert (entry.write_version, entry.recall_ms, entry.encoder_id) == (5, 42.0, "letters")
    context = running.gateway.asked[0].context
    assert (context.user_id, context.origin, context.evaluation.include_candidates) == ("ann", "prefetch", True)
    assert [one.refused_by for one in running.told if not one.query_hash] == ["few_turns", "few_turns"]


@pytest.mark.r("R-54", "R-56")
async def test_a_changed_block_and_a_forgotten_user_leave_no_answer_behind(running: Running, redis: Redis) -> None:
    await talk(running, *TALK)
    await running.until_told(lambda one: one.query_hash == query_hash("OCR 做到哪了"))
    await running.app.fetcher.idle()
    channel = LocalChannel(running.app.registrations, "slow_thinker")
    stub = slow_thinker_pb2_grpc.SlowThinkerServiceStub(channel)
    figures = await call(stub.GetFigures, slow_thinker_pb2.GetFiguresRequest(user_id="ann"), timeout_s=5)
    assert "OCR 做到哪了" in {one.query for one in figures.prepared}
    assert (figures.counts["admitted"], figures.counts["refused.few_turns"]) == (1, 2)

    changed = BlockIndexed(block=Block(id="b2", user_id="ann"), changed=True)
    await running.bus.publish(subjects.BLOCK_INDEXED, changed)
    await _eventually(lambda: _gone(redis))
    await running.bus.publish(subjects.BLOCK_FORGOTTEN, BlockForgotten(user_id="ann", whole_user=True))

    async def forgotten() -> bool:
        stored = await running.bus.history(subjects.UTTERANCE_APPENDED, UtteranceAppended, 10)
        return stored == [] and not await _has_conversations(running, "ann")

    await _eventually(forgotten)
    await _leaves_an_epoch_only(redis)
    late = UtteranceAppended(user_id="ann", conversation_id="c0", speaker="user", text=TALK[0])
    minute_ago = datetime.now(UTC) - timedelta(minutes=1)
    await running.bus.publish(subjects.UTTERANCE_APPENDED, late, time=minute_ago)
    noted = BlockIndexed(block=Block(id="old", user_id="ann", conversation_id="c0"))
    await running.bus.publish(subjects.BLOCK_INDEXED, noted, time=minute_ago)
    await _eventually(forgotten)
    await running.bus.publish(subjects.UTTERANCE_APPENDED, UtteranceAppended(user_id="bob", text="in turn"))
    await _eventually(lambda: _was_heard(running, "bob"))
    await _leaves_an_epoch_only(redis)


async def _leaves_an_epoch_only(redis: Redis) -> None:
    left = [key async for key in redis.scan_iter(match="*ann*")]
    assert left == [b"memvault:prefetch_epoch:ann"]


async def _was_heard(world: Running, user: str) -> bool:
    return (await world.app.listen._conversations.count(user)) == 1


async def _gone(redis: Redis) -> bool:
    return await redis.get(prefetch_key("ann", "OCR 做到哪了")) is None


@pytest.mark.r("R-50")
async def test_an_utterance_without_a_user_goes_to_the_dead_letters_with_the_reason(running: Running) -> None:
    await running.bus.publish(subjects.UTTERANCE_APPENDED, UtteranceAppended(text="hello"))

    async def buried() -> bool:
        return bool(await running.bus.dead_letters(10))

    await _eventually(buried)
    (letter,) = await running.bus.dead_letters(10)
    assert "user_id" in letter.reason


@pytest.mark.parametrize("user_id", ["", "not a user"])
async def test_forgetting_needs_a_valid_user(running: Running, user_id: str) -> None:
    stub = slow_thinker_pb2_grpc.SlowThinkerServiceStub(LocalChannel(running.app.registrations, "slow_thinker"))
    with pytest.raises(Fault) as caught:
        await call(stub.ForgetPrepared, slow_thinker_pb2.ForgetPreparedRequest(user_id=user_id), timeout_s=5)
    assert caught.value.reason in {Reason.USER_REQUIRED, Reason.USER_INVALID}
