"""The router's edge: requests in, responses out, and what it learns from the bus."""

import asyncio
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from memvault.bus import subjects
from memvault.bus.memory import MemoryBus
from memvault.embed.v1 import embed_pb2, embed_pb2_grpc
from memvault.events.v1 import events_pb2
from memvault.faults import Fault, Reason
from memvault.router.v1 import router_pb2
from memvault.router.v1.router_pb2_grpc import RouterServiceStub
from memvault.rpc.client import call
from memvault.rpc.local import LocalChannel
from memvault_router.app import Peers, build
from memvault_router.domain.profile import Interest
from memvault_router.usecases.profile import WholeProfile
from memvault_search.domain.block import NEAR_COPY_TAG

DIMENSION = 32
ZERO = np.zeros(DIMENSION, "<f4").tobytes()


class EmbedServicer(embed_pb2_grpc.EmbedServiceServicer):
    def __init__(self, encoder):
        self.encoder = encoder

    async def Describe(self, request, context):
        return embed_pb2.DescribeResponse(encoder_id=self.encoder.id, dimension=DIMENSION, query_mean=ZERO)

    async def Embed(self, request, context):
        made = await self.encoder.encode(request.texts, request.kind, token_vectors=request.token_vectors)
        answer = embed_pb2.EmbedResponse(encoder_id=made.encoder_id)
        for row, block in zip(made.vectors, made.tokens, strict=True):
            each = answer.embeddings.add(vector=row.astype("<f4").tobytes())
            if block is not None:
                each.tokens.values, each.tokens.rows, each.tokens.columns = block.values, block.rows, block.columns
        return answer


class House:
    """The whole router in this process, over a local channel and a bus in memory."""

    def __init__(self, desk):
        self.desk = desk
        self.bus = MemoryBus()

    async def __aenter__(self):
        servicer = (embed_pb2_grpc.add_EmbedServiceServicer_to_server, EmbedServicer(self.desk.encoder))
        self.app = await build(
            {"tuned": self.desk.settings, "reference": self.desk.settings},
            peers=Peers(embed=LocalChannel([servicer], "search")),
            bus=self.bus,
            redis=None,
            clock=self.desk.clock,
        )
        await self.app.start()
        await self.bus.start(1)
        self.stub = RouterServiceStub(LocalChannel(self.app.registrations, "router"))
        return self

    async def __aexit__(self, *exc):
        await self.app.stop()
        await self.bus.stop()

    async def classify(self, query, **known):
        request = router_pb2.ClassifyRequest(user_id="ann", query=query, time_zone="Asia/Taipei", **known)
        return await call(self.stub.Classify, request, timeout_s=5)


@pytest.fixture
async def house(desk):
    async with House(desk) as made:
        yield made


async def refused(house, **known):
    request = router_pb2.ClassifyRequest(**{"user_id": "ann", "query": "q", **known})
    with pytest.raises(Fault) as caught:
        await call(house.stub.Classify, request, timeout_s=5)
    return caught.value.reason


@pytest.mark.r("R-09")
async def test_the_response_holds_every_output_of_the_router(house):
    answer = await house.classify("上週那個 OCR 做到哪了？", recall_id="r1")
    assert (answer.intent, answer.facet, answer.funnel) == ("factual", "progress", "fused")
    assert (answer.thinking_mode, answer.retrieval_mode, answer.scoring_profile) == (
        "fast",
        "LOCAL",
        "factual+progress",
    )
    assert next(each.intent for each in answer.raw_distribution) == "factual"
    assert sum(each.probability for each in answer.distribution) == pytest.approx(1.0)
    assert answer.runner_up not in ("", "factual")
    assert list(answer.layers) == ["blocks"]
    assert answer.time_expression == "上週"
    assert answer.time_range.start.ToDatetime(tzinfo=UTC) == datetime(2026, 11, 15, 16, tzinfo=UTC)
    assert answer.time_explicit
    assert answer.time_range.end.ToDatetime(tzinfo=UTC) == house.desk.clock.now()
    assert not answer.bare
    assert len(answer.query_vector) == 4 * DIMENSION
    assert answer.query_tokens.rows == 1
    assert answer.raw_query_vector == b""
    assert answer.encoder_id == "hash-1"
    assert "progress: 做到哪" in list(answer.keyword_matches)
    assert {each.step for each in answer.skipped} == {"llm", "personalise"}
    assert {each.hop for each in answer.times} >= {"router.embed", "router.keyword"}


@pytest.mark.r("R-08")
async def test_a_follow_up_carries_both_vectors(house):
    said = [{"speaker": "user", "text": "OCR 的辨識率做到哪了？"}]
    answer = await house.classify("那後來呢？", recent_utterances=said)
    assert answer.completed_query == "OCR 的辨識率做到哪了？ 那後來呢？"
    assert len(answer.raw_query_vector) == 4 * DIMENSION


@pytest.mark.r("R-07")
async def test_an_open_range_has_one_end_only(house):
    answer = await house.classify("三月以來學了什麼")
    assert answer.time_range.HasField("start")
    assert not answer.time_range.HasField("end")
    assert answer.time_explicit


@pytest.mark.r("R-06")
async def test_a_question_reaches_the_profile_over_the_bus(house):
    await house.classify("上週那個 OCR 做到哪了？", recall_id="r1")
    await house.app.classify.settle()
    await house.bus.settled()
    profile = await call(house.stub.ReadProfile, router_pb2.ReadProfileRequest(user_id="ann"), timeout_s=5)
    assert profile.sample_count == 1
    assert [(each.name, each.weight) for each in profile.intents] == [("factual", 1.0)]
    assert [(each.name, each.weight) for each in profile.facets] == [("progress", 1.0)]
    dropped = await call(house.stub.DropProfile, router_pb2.DropProfileRequest(user_id="ann"), timeout_s=5)
    assert dropped.dropped
    assert (
        await call(house.stub.ReadProfile, router_pb2.ReadProfileRequest(user_id="ann"), timeout_s=5)
    ).sample_count == 0


@pytest.mark.r("R-06")
async def test_interests_grow_by_what_is_looked_at_and_by_feedback(house):
    async def interests():
        await house.bus.settled()
        found = await call(house.stub.ReadProfile, router_pb2.ReadProfileRequest(user_id="ann"), timeout_s=5)
        return {each.name: pytest.approx(each.weight, rel=1e-3) for each in found.interests}

    shown = events_pb2.BlockAccessed(
        user_id="ann", block_ids=["b"], recall_id="r1", kind="delivered", topics=["Rust", " "]
    )
    shown.accessed_at.FromDatetime(house.desk.clock.now())
    await house.bus.publish(subjects.BLOCK_ACCESSED, shown, time=house.desk.clock.now())
    assert await interests() == {"Rust": 1.0}
    shown.kind = "expanded"
    await house.bus.publish(subjects.BLOCK_ACCESSED, shown, time=house.desk.clock.now())
    assert await interests() == {"Rust": 4.0}
    liked = events_pb2.FeedbackRecorded(user_id="ann", block_id="b", verdict="up", recall_id="r1")
    await house.bus.publish(subjects.FEEDBACK_RECORDED, liked, time=house.desk.clock.now())
    assert await interests() == {"Rust": 6.0}
    liked.verdict = "rejected"
    await house.bus.publish(subjects.FEEDBACK_RECORDED, liked, time=house.desk.clock.now())
    assert await interests() == {"Rust": 4.0}


@pytest.mark.r("R-06", "R-60")
async def test_that_a_memory_is_a_near_copy_is_no_interest_nor_was_it_one_before(house):
    now = house.desk.clock.now()
    shown = events_pb2.BlockAccessed(user_id="ann", block_ids=["b"], recall_id="r1", topics=[NEAR_COPY_TAG, "Rust"])
    shown.accessed_at.FromDatetime(now)
    await house.bus.publish(subjects.BLOCK_ACCESSED, shown, time=now)
    await house.bus.settled()
    assert [one.name for one in (await house.app.profile.read("ann", now)).interests] == ["Rust"]
    weights = [Interest(NEAR_COPY_TAG, 1.0), Interest("tea", 1.0)]
    assert await house.app.profile.restore("bob", WholeProfile((), tuple(weights)), now) == (0, 1)
    await house.app.profile._store.restore("cid", (), {one.name: one.weight for one in weights}, keep=10)
    assert [one.name for one in (await house.app.profile.read("cid", now)).interests] == ["tea"]
    assert [one.name for one in (await house.app.profile.whole("cid")).interests] == ["tea"]


@pytest.mark.r("R-05")
async def test_habits_move_what_is_understood_and_the_answer_tells_their_part(house):
    before = await house.classify("What about it?", origin="eval")
    assert list(before.prior) == []
    for number in range(30):
        event = events_pb2.IntentClassified(user_id="ann", intent="conceptual", facet="none", recall_id=f"r{number}")
        event.asked_at.FromDatetime(house.desk.clock.now() - timedelta(days=1))
        await house.bus.publish(subjects.INTENT_CLASSIFIED, event)
    await house.bus.settled()
    after = await house.classify("What about it?", origin="eval")
    assert after.prior[0].intent == "conceptual"
    assert [one.factor for one in after.prior] == sorted((one.factor for one in after.prior), reverse=True)
    raw, by = (
        {one.intent: one.probability for one in after.raw_distribution},
        {one.intent: one.factor for one in after.prior},
    )
    assert raw == {one.intent: one.probability for one in before.raw_distribution}
    moved = {name: raw[name] * by[name] for name in raw}
    wanted = {name: value / sum(moved.values()) for name, value in moved.items()}
    assert {one.intent: one.probability for one in after.distribution} == pytest.approx(wanted)
    assert ("personalise_facets", "few_samples") in {(one.step, one.reason) for one in after.skipped}


@pytest.mark.r("R-62")
async def test_forgetting_a_whole_user_erases_the_profile_and_forgetting_a_block_does_not(house):
    await house.classify("多少錢？", recall_id="r1")
    await house.app.classify.settle()
    await house.bus.publish(subjects.BLOCK_FORGOTTEN, events_pb2.BlockForgotten(user_id="ann", block_ids=["b"]))
    await house.bus.settled()
    assert (await house.app.profile.read("ann", house.desk.clock.now())).frequencies.sample_count == 1
    await house.bus.publish(subjects.BLOCK_FORGOTTEN, events_pb2.BlockForgotten(user_id="ann", whole_user=True))
    await house.bus.settled()
    assert (await house.app.profile.read("ann", house.desk.clock.now())).frequencies.sample_count == 0


@pytest.mark.r("R-62", "R-06")
@pytest.mark.parametrize("asked", ["call", "bus", "call, then bus"])
async def test_what_was_on_its_way_while_a_user_was_forgotten_gives_nothing_back(house, asked):
    now, second = house.desk.clock.now(), timedelta(seconds=1)

    async def tell(at, mark):
        asked_at = events_pb2.IntentClassified(user_id="ann", intent="factual", facet="none", recall_id=mark)
        asked_at.asked_at.FromDatetime(at)
        await house.bus.publish(subjects.INTENT_CLASSIFIED, asked_at, time=now + 9 * second)
        shown = events_pb2.BlockAccessed(user_id="ann", block_ids=["b"], recall_id=mark, topics=["Rust"])
        shown.accessed_at.FromDatetime(at)
        await house.bus.publish(subjects.BLOCK_ACCESSED, shown, time=now + 9 * second)
        liked = events_pb2.FeedbackRecorded(user_id="ann", block_id="b", verdict="up", recall_id=mark)
        await house.bus.publish(subjects.FEEDBACK_RECORDED, liked, time=at)
        await house.bus.settled()

    async def known():
        view = await house.app.profile.read("ann", now + 99 * second)
        return view.frequencies.sample_count, [each.name for each in view.interests]

    await tell(now - 9 * second, "r1")
    assert await known() == (1, ["Rust"])
    if "call" in asked:
        await call(house.stub.DropProfile, router_pb2.DropProfileRequest(user_id="ann"), timeout_s=5)
    whole = events_pb2.BlockForgotten(user_id="ann", whole_user=True)
    if asked == "bus":
        await house.bus.publish(subjects.BLOCK_FORGOTTEN, whole, time=now)
        await house.bus.settled()
    assert await known() == (0, [])
    await tell(now - 5 * second, "r2")
    await tell(now, "r3")
    assert await known() == (0, []), "it happened before"
    await tell(now + second, "r4")
    assert await known() == (1, ["Rust"]), "who comes back is someone new"
    if asked == "call, then bus":
        await house.bus.publish(subjects.BLOCK_FORGOTTEN, whole, time=now - second)
        await house.bus.settled()
        assert await known() == (1, ["Rust"]), "the fact's echo finds its work done"


@pytest.mark.r("R-63", "R-06")
async def test_a_whole_profile_is_told_on_request_and_given_back_without_what_cannot_count(house):
    now = house.desk.clock.now()

    def question(identity, days=1.0, **more):
        one = router_pb2.CountedQuestion(id=identity, **{"intent": "factual", "facet": "none", **more})
        one.asked_at.FromDatetime(now - timedelta(days=days))
        return one

    given = router_pb2.RestoreProfileRequest(
        user_id="ann",
        questions=[
            question("good"),
            question("too old", days=91),
            question("of tomorrow", days=-1),
            question("another word", intent="whim"),
            question("", days=2),
        ],
        lasting_interests=[
            router_pb2.NamedWeight(name="tea", weight=2.5e9),
            router_pb2.NamedWeight(name=" ", weight=1),
            router_pb2.NamedWeight(name="disliked", weight=-1),
        ],
    )
    told = await call(house.stub.RestoreProfile, given, timeout_s=5)
    assert (told.questions, told.interests) == (1, 1)
    asked = router_pb2.ReadProfileRequest(user_id="ann", whole=True)
    whole = await call(house.stub.ReadProfile, asked, timeout_s=5)
    assert (list(whole.questions), whole.sample_count) == ([given.questions[0]], 1)
    assert list(whole.lasting_interests) == [given.lasting_interests[0]]
    assert [each.name for each in whole.interests] == ["tea"]
    asked.whole = False
    brief = await call(house.stub.ReadProfile, asked, timeout_s=5)
    assert (list(brief.questions), list(brief.lasting_interests)) == ([], [])
    given.lasting_interests[0].weight = float("nan")
    with pytest.raises(Fault) as caught:
        await call(house.stub.RestoreProfile, given, timeout_s=5)
    assert caught.value.reason is Reason.FIELD_INVALID


@pytest.mark.r("R-62", "R-06")
async def test_labels_that_went_with_forgotten_blocks_leave_the_interests_and_what_is_told_late_brings_none_back(house):
    now = house.desk.clock.now()

    async def look(at, recall_id):
        shown = events_pb2.BlockAccessed(user_id="ann", block_ids=["b"], recall_id=recall_id, topics=["trip", "Rust"])
        shown.accessed_at.FromDatetime(at)
        await house.bus.publish(subjects.BLOCK_ACCESSED, shown, time=at)
        await house.bus.settled()

    async def names():
        return {each.name for each in (await house.app.profile.read("ann", now)).interests}

    await look(now - timedelta(seconds=9), "r1")
    assert await names() == {"trip", "Rust"}
    gone = events_pb2.BlockForgotten(user_id="ann", tags=["trip"])
    await house.bus.publish(subjects.BLOCK_FORGOTTEN, gone, time=now)
    await house.bus.settled()
    assert await names() == {"Rust"}
    await look(now - timedelta(seconds=5), "r2")
    liked = events_pb2.FeedbackRecorded(user_id="ann", block_id="b", verdict="up", recall_id="r1")
    await house.bus.publish(subjects.FEEDBACK_RECORDED, liked, time=now + timedelta(seconds=1))
    await house.bus.settled()
    assert await names() == {"Rust"}
    await look(now + timedelta(seconds=5), "r3")
    assert await names() == {"trip", "Rust"}


@pytest.mark.r("R-36")
async def test_the_nightly_loop_expires_old_questions_and_reports(house):
    old = events_pb2.IntentClassified(user_id="ann", intent="factual", facet="none", recall_id="old")
    old.asked_at.FromDatetime(house.desk.clock.now() - timedelta(days=89))
    await house.bus.publish(subjects.INTENT_CLASSIFIED, old)
    await house.bus.settled()
    dream = events_pb2.DreamRequested(run_id="d1")
    dream.now.FromDatetime(house.desk.clock.now() + timedelta(days=5))
    await house.bus.publish(subjects.DREAM_REQUESTED, dream)
    await house.bus.settled()
    (finished,) = await house.bus.history(subjects.DREAM_FINISHED, events_pb2.DreamFinished, 10)
    assert (finished.message.owner, finished.message.run_id) == ("router", "d1")
    assert dict(finished.message.changes) == {"questions_expired": 1}


@pytest.mark.r("R-06")
async def test_labels_of_another_version_and_old_events_teach_nothing(house):
    for intent, days in (("gossip", 0), ("factual", 91)):
        event = events_pb2.IntentClassified(user_id="ann", intent=intent, facet="none", recall_id=intent)
        event.asked_at.FromDatetime(house.desk.clock.now() - timedelta(days=days))
        await house.bus.publish(subjects.INTENT_CLASSIFIED, event)
    await house.bus.settled()
    assert (await house.app.profile.read("ann", house.desk.clock.now())).frequencies.sample_count == 0


@pytest.mark.parametrize(
    ("known", "reason"),
    [
        ({"user_id": ""}, Reason.USER_REQUIRED),
        ({"user_id": "a b"}, Reason.USER_INVALID),
        ({"user_id": "x" * 129}, Reason.USER_INVALID),
        ({"query": "  "}, Reason.QUERY_REQUIRED),
        ({"time_zone": "Mars/Olympus"}, Reason.FIELD_INVALID),
        ({"time_zone": "../../etc/passwd"}, Reason.FIELD_INVALID),
        ({"origin": "nobody"}, Reason.FIELD_INVALID),
        ({"intent": "gossip"}, Reason.FIELD_INVALID),
        ({"facet": "gossip"}, Reason.FIELD_INVALID),
        ({"thinking_mode": "medium"}, Reason.FIELD_INVALID),
        ({"profile": "fast"}, Reason.FIELD_INVALID),
    ],
)
async def test_bad_input_is_refused_with_a_reason_of_the_contract(house, known, reason):
    assert await refused(house, **known) == reason


@pytest.mark.parametrize(
    "query", ["?", "\u0000", "😀" * 50, "a" * 8192, "的" * 8192, "\u200b\u200b x", "١٢٣", "(((((" * 500]
)
async def test_odd_questions_are_classified_all_the_same(house, query):
    answer = await asyncio.wait_for(house.classify(query), 5)
    assert answer.intent
