"""The service as it is wired: contract in, contract out, real engine, bus in memory."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from memvault.bus.memory import MemoryBus
from memvault.bus.subjects import (
    BLOCK_ANNOTATED,
    BLOCK_FORGOTTEN,
    BLOCK_INDEXED,
    DREAM_FINISHED,
    DREAM_REQUESTED,
    TRIPLE_UPSERTED,
)
from memvault.cascade.v1 import cascade_pb2, cascade_pb2_grpc
from memvault.embed.v1 import embed_pb2, embed_pb2_grpc
from memvault.events.v1 import events_pb2
from memvault.faults import Fault, Reason
from memvault.recall.v1 import types_pb2
from memvault.rpc.client import stream
from memvault.rpc.local import LocalChannel
from memvault.runtime.settings import load
from memvault.vectors.edge import EdgeStore
from memvault_cascade.adapters.memory import DIMENSION, word_vector
from memvault_cascade.app import Peers, build
from memvault_cascade.settings import Settings
from tests.unit.cascade.conftest import until

NOW = datetime(2026, 3, 20, tzinfo=UTC)


class WordEmbed(embed_pb2_grpc.EmbedServiceServicer):
    """An encoder whose vectors share a mean, as real ones do."""

    mean = np.full(DIMENSION, 0.5, np.float32)

    async def Embed(self, request, context):
        vectors = [word_vector(text) + self.mean for text in request.texts]
        return embed_pb2.EmbedResponse(embeddings=[embed_pb2.Embedding(vector=v.tobytes()) for v in vectors])

    async def Describe(self, request, context):
        mean = self.mean.tobytes()
        return embed_pb2.DescribeResponse(encoder_id="words", dimension=DIMENSION, query_mean=mean, passage_mean=mean)


def embed_stub():
    servicers = ((embed_pb2_grpc.add_EmbedServiceServicer_to_server, WordEmbed()),)
    return embed_pb2_grpc.EmbedServiceStub(LocalChannel(servicers, "embed"))


class Service:
    """The app on a folder, with its stub and its bus."""

    def __init__(self, app, bus):
        self.app, self.bus = app, bus
        self.stub = cascade_pb2_grpc.CascadeServiceStub(LocalChannel(app.registrations, "cascade"))

    async def index(self, identity, text, user="alice", days_ago=1, triples=()):
        block = types_pb2.Block(id=identity, user_id=user, text=text, version=1)
        block.event_time.FromDatetime(NOW - timedelta(days=days_ago))
        for subject, predicate, target in triples:
            block.triples.add(subject=subject, predicate=predicate, object=target)
        await self.bus.publish(BLOCK_INDEXED, events_pb2.BlockIndexed(block=block, changed=True))

    async def walk(self, query, mode="LOCAL", user="alice", **more):
        return await self.stub.Walk(
            cascade_pb2.WalkRequest(user_id=user, query=query, retrieval_mode=mode, **more), timeout=10
        )

    def told(self, subject):
        return [event.message for event in self.bus.published if event.subject == subject]


async def start(folder):
    bus = MemoryBus("cascade")
    settings = load("cascade", Settings, profile="reference", home=folder, environ={})
    settings = settings.model_copy(
        update={"garden": settings.garden.model_copy(update={"quiet_s": 0.02, "longest_s": 0.1})}
    )
    app = await build(
        settings,
        peers=Peers(embed=embed_stub()),
        bus=bus,
        vectors=EdgeStore(folder / "data", flush_every_s=60),
        profile="reference",
        alarm=False,
    )
    await app.start()
    await bus.start(1)
    return Service(app, bus)


async def halt(service):
    await service.bus.stop()
    await service.app.stop()


@pytest.fixture
async def service(tmp_path):
    running = await start(tmp_path)
    yield running
    await halt(running)


async def diary(service):
    await service.index("b1", "王小明負責報銷系統。", days_ago=20)
    await service.index("b2", "報銷系統使用 PaddleOCR。", days_ago=15)
    await service.index("b3", "PaddleOCR 部署在 nas-01。", days_ago=10)
    await service.bus.settled()


@pytest.mark.r("R-31", "R-32", "R-34", "R-60")
async def test_an_indexed_block_can_be_walked_to_with_the_path_that_led_there(service):
    await diary(service)
    answer = await service.walk("王小明的東西跑在哪")
    assert list(answer.entities) == ["王小明"]
    path = next(b.path for b in answer.blocks if b.block_id == "b3")
    assert [(s.subject, s.predicate, s.object) for s in path][-1] == ("PaddleOCR", "部署在", "nas-01")
    fact = next(t for t in answer.triples if t.triple.object == "nas-01")
    assert list(fact.block_ids) == ["b3"]
    assert fact.HasField("valid_from")
    assert not fact.HasField("valid_to")
    assert answer.graph_version > 0
    assert {t.hop for t in answer.times} >= {"cascade.load", "cascade.walk"}


@pytest.mark.r("R-30")
async def test_summaries_are_there_soon_after_the_writes(service):
    await diary(service)

    async def overview():
        found = (await service.walk("報銷系統", "GLOBAL")).communities
        return [c for c in found if "報銷系統" in c.members]

    best = (await until(overview))[0]
    assert best.summary_kind == "extractive"
    assert best.summary
    assert set(best.block_ids) <= {"b1", "b2", "b3"}


@pytest.mark.r("R-13", "R-17a")
async def test_centrality_and_supersession_are_told_over_the_bus(service):
    await service.index("old", "我住在台南。", days_ago=300)
    await service.index("new", "我搬到台北了。", days_ago=30)
    await service.bus.settled()
    marks = [a for m in service.told(BLOCK_ANNOTATED) for a in m.annotations if a.HasField("superseded_by")]
    assert [(a.block_id, a.superseded_by) for a in marks] == [("old", "new")]
    await diary(service)

    async def centralities():
        return any(a.HasField("centrality") for m in service.told(BLOCK_ANNOTATED) for a in m.annotations)

    assert await until(centralities)


@pytest.mark.r("R-34")
async def test_a_fact_from_the_bus_joins_the_graph_and_is_listed(service):
    await diary(service)
    event = events_pb2.TripleUpserted(user_id="alice", block_ids=["b3"])
    event.triple.subject, event.triple.predicate, event.triple.object = "nas-01", "stands in", "機房 B"
    await service.bus.publish(TRIPLE_UPSERTED, event)
    await service.bus.settled()
    listed = [
        t
        async for page in stream(service.stub.ListTriples, cascade_pb2.ListTriplesRequest(user_id="alice"), timeout_s=5)
        for t in page.triples
    ]
    assert ("nas-01", "stands in", "機房 B") in [
        (t.triple.subject, t.triple.predicate, t.triple.object) for t in listed
    ]
    assert len(listed) == 4


@pytest.mark.r("R-62")
async def test_forgotten_blocks_and_users_are_gone_over_bus_and_call(service):
    await diary(service)
    await service.bus.publish(BLOCK_FORGOTTEN, events_pb2.BlockForgotten(user_id="alice", block_ids=["b3"]))
    await service.bus.settled()
    assert "b3" not in [b.block_id for b in (await service.walk("PaddleOCR")).blocks]
    counts = await service.stub.GetGraph(cascade_pb2.GetGraphRequest(user_id="alice"), timeout=5)
    assert counts.triples == 2
    gone = await service.stub.ForgetGraph(cascade_pb2.ForgetGraphRequest(user_id="alice"), timeout=5)
    assert gone.triples == 2
    assert (await service.stub.GetGraph(cascade_pb2.GetGraphRequest(), timeout=5)).entities == 0


@pytest.mark.r("R-36")
async def test_a_nightly_run_is_done_when_asked_for_and_reported(service):
    await diary(service)
    await service.bus.publish(DREAM_REQUESTED, events_pb2.DreamRequested(run_id="night"))
    await service.bus.settled(20)
    (report,) = service.told(DREAM_FINISHED)
    assert (report.run_id, report.owner) == ("night", "cascade")
    assert "summaries" in report.changes


async def test_the_graph_is_there_again_after_a_restart(tmp_path):
    first = await start(tmp_path)
    await diary(first)
    await halt(first)
    second = await start(tmp_path)
    try:
        assert (await second.walk("PaddleOCR")).blocks[0].block_id in {"b2", "b3"}
        assert len((await second.walk("PaddleOCR")).triples) == 3
    finally:
        await halt(second)


async def test_users_never_meet(service):
    await diary(service)
    await service.index("b1", "Bob uses Go.", user="bob")
    await service.bus.settled()
    answer = await service.walk("王小明 PaddleOCR", "HYBRID", user="bob")
    assert {t.triple.subject for t in answer.triples} <= {"Bob"}
    assert {b.block_id for b in answer.blocks} <= {"b1"}


@pytest.mark.parametrize(
    ("request_fields", "reason"),
    [
        ({"user_id": ""}, Reason.USER_REQUIRED),
        ({"user_id": "a b"}, Reason.USER_INVALID),
        ({"query": "  "}, Reason.QUERY_REQUIRED),
        ({"query": "x" * 70_000}, Reason.TEXT_TOO_LONG),
        ({"retrieval_mode": "local"}, Reason.FIELD_INVALID),
        ({"retrieval_mode": ""}, Reason.FIELD_INVALID),
        ({"limit": -1}, Reason.FIELD_INVALID),
        ({"limit": 201}, Reason.FIELD_INVALID),
        ({"profile": "bold"}, Reason.FIELD_INVALID),
        ({"query_vector": b"abc"}, Reason.FIELD_INVALID),
        ({"query_vector": np.full(DIMENSION, np.nan, np.float32).tobytes()}, Reason.FIELD_INVALID),
        ({"query_vector": np.ones(7, np.float32).tobytes()}, Reason.FIELD_INVALID),
        ({"seeds": [cascade_pb2.Seed(block_id="b", score=float("nan"))]}, Reason.FIELD_INVALID),
        ({"seeds": [cascade_pb2.Seed(block_id="", score=0.5)]}, Reason.FIELD_INVALID),
    ],
)
async def test_a_bad_request_is_refused_with_its_reason(service, request_fields, reason):
    await diary(service)
    fields = {"user_id": "alice", "query": "王小明", "retrieval_mode": "LOCAL", **request_fields}
    with pytest.raises(Fault) as refused:
        await service.stub.Walk(cascade_pb2.WalkRequest(**fields), timeout=5)
    assert refused.value.reason is reason


async def test_an_event_that_can_never_be_handled_goes_to_the_dead_letters(service):
    await service.index("b1", "text", user="not a user")
    await service.bus.settled()
    (letter,) = await service.bus.dead_letters(10)
    assert "user_id" in letter.reason
