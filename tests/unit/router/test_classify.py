"""R-01 to R-09 and R-54 together: the order of I/O, and what happens when a part is away."""

import asyncio
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from memvault.faults import Fault, Reason
from memvault.prefetch_key import pack_index_value
from memvault.rpc.deadline import limit, remaining_s
from memvault.slow_thinker.v1 import prefetch_pb2
from memvault.text import query_hash
from memvault_router.domain.state import Overrides, Said
from memvault_router.ports import Classified, Verdict
from memvault_router.usecases.asked import Asked

OCR = "上週那個 OCR 做到哪了？"


def reasons(answered):
    return {each.part: each.reason for each in answered.state.degraded}


def skips(answered):
    return {each.step: each.reason for each in answered.state.skipped}


async def prepare(desk, query, facet="none", conditions="c", rules="rules-1", user="ann", cards=(), alive=300):
    vector = (await desk.encoder.encode([query], "query")).vectors[0]
    expires = desk.clock.now() + timedelta(seconds=alive)
    entry = prefetch_pb2.PrefetchEntry(
        schema=1,
        user_id=user,
        query=query,
        query_hash=query_hash(query),
        conditions=conditions,
        ruleset_version=rules,
        encoder_id=desk.encoder.id,
    )
    entry.made_at.FromDatetime(desk.clock.now())
    entry.expires_at.FromDatetime(expires)
    entry.answer.intent, entry.answer.facet, entry.answer.intent_confidence = "factual", facet, 0.8
    for text in cards:
        entry.answer.cards.add(text=text)
    value = pack_index_value(expires.timestamp(), vector.tolist())
    desk.prepared.put(user, query_hash(query), entry.SerializeToString(), value)


@pytest.mark.r("R-09")
async def test_a_question_is_read_in_full(desk):
    answered = await desk.ask(OCR, recall_id="r1")
    state = answered.state
    assert (state.facet, state.plan.thinking_mode, state.plan.scoring_profile) == (
        "progress",
        "fast",
        "factual+progress",
    )
    assert (state.time.text, state.time.explicit, state.time.end) == ("上週", True, desk.clock.now())
    assert (state.bare, answered.passage_vector) == (False, None)
    assert answered.encoded.encoder_id == "hash-1"
    assert answered.encoded.tokens[0].rows == 1
    assert state.degraded == ()
    assert {name for name, _ in answered.times} >= {
        "router.follow_up",
        "router.time_range",
        "router.bare",
        "router.keyword",
        "router.embed",
        "router.fuse",
        "router.profile",
    }


async def test_warming_up_cuts_a_text_so_that_the_first_question_does_not_wait_for_the_dictionary(desk, monkeypatch):
    cut = []
    monkeypatch.setattr("memvault_router.domain.operators.bare.cut", lambda folded: cut.append(folded) or [folded])
    desk.build().warm_up()
    assert cut


@pytest.mark.parametrize("filler", ["最近", "說講談聊", "2024年3月", "a and b or c ", "一", "the last ", "(["])
async def test_a_question_in_a_long_paste_is_read_at_once(desk, filler):
    classify = desk.build()
    classify.warm_up()
    asked = Asked("ann", filler * (8000 // len(filler)) + "\n上週那個 OCR 做到哪了？", ZoneInfo("UTC"))
    started = asyncio.get_running_loop().time()
    answered = await classify(asked)
    assert asyncio.get_running_loop().time() - started < 1.0
    assert answered.state.facet == "progress"
    await classify.settle()


@pytest.mark.r("R-06")
async def test_an_own_question_is_announced_with_its_raw_intent_and_only_once(desk):
    await desk.ask(OCR, recall_id="r1")
    assert desk.announced.facts == [
        Classified(
            "ann", "factual", "progress", pytest.approx(desk.announced.facts[0].confidence), desk.clock.now(), "r1"
        )
    ]


@pytest.mark.r("R-06")
@pytest.mark.parametrize("origin", ["prefetch", "eval"])
async def test_prefetch_and_evaluation_never_feed_the_profile(desk, origin):
    await desk.ask(OCR, origin=origin)
    assert desk.announced.facts == []


@pytest.mark.r("R-06")
async def test_a_forced_intent_is_no_question_of_the_user(desk):
    answered = await desk.ask(OCR, overrides=Overrides(intent="conceptual"))
    assert answered.state.funnel == "override"
    assert desk.announced.facts == []


async def test_a_slow_bus_does_not_slow_the_answer(desk):
    desk.announced.gate = asyncio.Event()
    classify = desk.build()
    await desk.shelf.start()
    await asyncio.wait_for(classify(Asked("ann", OCR, ZoneInfo("UTC"))), 1)
    assert desk.announced.facts == []
    desk.announced.gate.set()
    await classify.settle()
    assert len(desk.announced.facts) == 1
    await desk.shelf.stop()


async def test_a_bus_that_is_away_is_counted_and_nothing_more(desk):
    desk.announced.fault = Fault(Reason.BUS_UNAVAILABLE, "away")
    answered = await desk.ask(OCR)
    assert answered.state.degraded == ()
    assert "memvault.router.unpublished" in [name for name, _ in desk.counts.names]


@pytest.mark.r("R-02", "R-44")
async def test_without_the_encoder_keywords_classify_alone_and_say_so(desk):
    desk.encoder.away = True
    answered = await desk.ask(OCR)
    assert reasons(answered) == {"embed": "UNREACHABLE"}
    assert "keywords alone" in answered.state.degraded[0].detail
    assert (answered.state.facet, answered.state.funnel, answered.encoded) == ("progress", "keyword", None)


@pytest.mark.r("R-02")
async def test_archetypes_are_encoded_once_and_cached_by_encoder(desk):
    await desk.ask(OCR)
    first = len(desk.encoder.encoded)
    await desk.ask(OCR)
    assert len(desk.encoder.encoded) == first + 1  # the question alone
    desk.encoder.id = "hash-2"
    await desk.ask(OCR)
    assert len(desk.encoder.encoded) > 2 * (first - 1)


@pytest.mark.r("R-02")
async def test_vectors_of_a_new_encoder_are_not_compared_with_old_archetypes(desk):
    classify = desk.build()
    await desk.shelf.start()
    desk.encoder.id = "hash-2"
    answered = await classify(Asked("ann", OCR, ZoneInfo("UTC")))
    assert reasons(answered) == {"embed": "UNREACHABLE"}
    async with asyncio.timeout(5):
        while desk.shelf.index is None:  # noqa: ASYNC110 - the shelf tells nobody
            await asyncio.sleep(0.01)
    assert desk.shelf.index.encoder_id == "hash-2"
    assert reasons(await classify(Asked("ann", OCR, ZoneInfo("UTC")))) == {}
    await classify.settle()
    await desk.shelf.stop()


@pytest.mark.r("R-02")
async def test_archetypes_made_anew_have_not_the_deadline_of_the_question_that_noticed(desk):
    left = []
    describe = desk.encoder.describe

    async def described():
        left.append(remaining_s(-1.0))
        return await describe()

    classify = desk.build()
    await desk.shelf.start()
    desk.encoder.id, desk.encoder.describe = "hash-2", described
    async with limit(5):
        await classify(Asked("ann", OCR, ZoneInfo("UTC")))
        while desk.shelf.index is None:  # noqa: ASYNC110 - the shelf tells nobody
            await asyncio.sleep(0.01)
    assert left == [-1.0]
    await classify.settle()
    await desk.shelf.stop()


@pytest.mark.r("R-44")
async def test_without_redis_the_question_is_still_classified_and_says_so_once(desk):
    broken = desk.broken()
    desk.profiles = desk.threshold = desk.prepared = desk.archetypes = broken
    answered = await desk.ask(OCR)
    assert [each.part for each in answered.state.degraded] == ["redis"]
    assert answered.state.facet == "progress"
    assert answered.state.funnel == "fused"


@pytest.mark.r("R-08")
async def test_a_follow_up_is_encoded_completed_and_as_asked(desk):
    answered = await desk.ask("那後來呢？", said=(Said("user", "OCR 的辨識率做到哪了？"), Said("assistant", "92%")))
    assert answered.state.completed == "OCR 的辨識率做到哪了？ 那後來呢？"
    assert answered.encoded.vectors.shape[0] == 2
    assert ("query", "那後來呢？") in desk.encoder.encoded
    assert answered.state.facet == "progress"


@pytest.mark.r("R-08")
async def test_what_is_perhaps_a_follow_up_is_encoded_as_asked_and_completed(desk):
    answered = await desk.ask("Membership fees", said=(Said("user", "Which gym is near the office?"),))
    assert answered.state.completed == "Membership fees"
    whole = "Which gym is near the office? Membership fees"
    assert [text for _, text in desk.encoder.encoded[-2:]] == ["Membership fees", whole]
    assert answered.encoded.vectors.shape[0] == 2


@pytest.mark.r("R-05", "R-06")
async def test_what_a_user_often_asks_tips_an_open_question(desk):
    for place in range(60):
        fact = Classified("ann", "exploratory", "recollection", 0.9, desk.clock.now() - timedelta(days=1), "")
        await desk.profiles.record(f"e{place}", fact)
    looking_back = await desk.ask("最近怎麼樣")
    assert (looking_back.state.intent, looking_back.state.facet) == ("exploratory", "recollection")
    assert looking_back.state.plan.grouping == "conversation"
    desk.profiles = type(desk.profiles)()
    for place in range(60):
        fact = Classified("ann", "factual", "progress", 0.9, desk.clock.now() - timedelta(days=1), "")
        await desk.profiles.record(f"e{place}", fact)
    chasing = await desk.ask("最近怎麼樣")
    assert (chasing.state.intent, chasing.state.facet) == ("factual", "progress")


async def test_a_question_without_a_subject_also_searches_with_a_statement_of_its_facet(desk):
    answered = await desk.ask("你覺得我下一步該怎麼走")
    assert (answered.state.bare, answered.state.facet, answered.passage) == (True, "advice", "")
    assert np.linalg.norm(answered.passage_vector.vectors[0]) == pytest.approx(1.0)
    assert (await desk.ask("我該換成 Rust 嗎，你覺得？")).passage_vector is None
    desk.settings = desk.settings.model_copy(update={"facet_passages": False})
    assert (await desk.ask("你覺得我下一步該怎麼走")).passage_vector is None


@pytest.mark.r("R-04")
async def test_no_language_model_is_the_normal_case(desk):
    assert skips(await desk.ask("嗯"))["llm"] == "not_configured"


@pytest.mark.r("R-04")
async def test_a_sure_result_asks_no_language_model(desk):
    desk.judge = desk.scripted(Verdict("unknown", "none", ""))
    answered = await desk.ask("台灣高鐵是哪一年通車的？")
    assert skips(answered)["llm"] == "sure"
    assert desk.judge.asked == []


@pytest.mark.r("R-04")
async def test_an_unsure_result_asks_and_takes_intent_and_passage_from_one_call(desk):
    desk.judge = desk.scripted(Verdict("conceptual", "definition", "快取是一種暫存。"))
    before = await desk.threshold.overruled_rate(0.4286)
    answered = await desk.ask("最近怎麼樣")
    assert answered.state.funnel == "llm"
    assert (answered.state.intent, answered.state.facet) == ("conceptual", "definition")
    assert answered.passage == "快取是一種暫存。"
    assert ("passage", "快取是一種暫存。") in desk.encoder.encoded
    assert await desk.threshold.overruled_rate(before) > before


@pytest.mark.r("R-04")
@pytest.mark.parametrize("reason", [Reason.DEADLINE_EXCEEDED, Reason.RATE_LIMITED, Reason.MODEL_FAILED])
async def test_when_the_model_fails_the_fused_result_stands_and_says_so(desk, reason):
    desk.judge = desk.scripted(Fault(reason, "no answer"))
    answered = await desk.ask("最近怎麼樣")
    assert answered.state.funnel != "llm"
    assert "llm" in reasons(answered)
    assert "fused result stands" in answered.state.degraded[0].detail


@pytest.mark.r("R-54")
async def test_an_exact_hit_does_not_wait_for_the_encoder(desk):
    await prepare(desk, "印表機的 IP 是多少？", facet="progress")
    desk.encoder.gate = asyncio.Event()
    classify = desk.build()
    answered = await classify(Asked("ann", "印表機的 ip 是多少？", ZoneInfo("UTC"), conditions="c"))
    assert answered.match.kind == "exact"
    desk.encoder.gate.set()
    assert (answered.state.intent, answered.state.facet, answered.state.confidence) == ("factual", "progress", 0.8)
    assert answered.state.plan.thinking_mode == "fast"
    assert not {"router.profile", "router.predicted"} & {name for name, _ in answered.times}  # nobody is asked in vain
    await classify.settle()
    assert len(desk.announced.facts) == 1  # the profile learns from the question all the same


@pytest.mark.r("R-54")
async def test_a_hit_that_teaches_nothing_leaves_the_encoder_alone(desk):
    await prepare(desk, "印表機的 IP 是多少？")
    desk.encoder.gate, known = asyncio.Event(), len(desk.encoder.encoded)
    classify = desk.build()
    answered = await classify(Asked("ann", "印表機的 IP 是多少？", ZoneInfo("UTC"), conditions="c", origin="eval"))
    assert answered.match.kind == "exact"
    desk.encoder.gate.set()
    await classify.settle()
    assert (len(desk.encoder.encoded), desk.announced.facts) == (known, [])


@pytest.mark.r("R-05")
async def test_the_profile_is_read_while_the_question_is_encoded(desk):
    classify = desk.build()
    await desk.shelf.start()
    desk.encoder.gate, read = asyncio.Event(), asyncio.Event()
    counts = desk.profiles.counts

    async def told(*asked):
        read.set()
        return await counts(*asked)

    desk.profiles.counts = told
    answer = asyncio.create_task(classify(Asked("ann", OCR, ZoneInfo("UTC"))))
    await asyncio.wait_for(read.wait(), 5)
    assert not answer.done()
    desk.encoder.gate.set()
    assert (await asyncio.wait_for(answer, 5)).state.frequencies is not None
    await desk.shelf.stop()


async def test_a_caller_that_gives_up_leaves_nothing_running(desk):
    classify = desk.build()
    desk.encoder.gate = asyncio.Event()
    answer = asyncio.create_task(classify(Asked("ann", OCR, ZoneInfo("UTC"))))
    await asyncio.wait_for(desk.encoder.asked.wait(), 5)
    answer.cancel()
    await asyncio.wait({answer})
    await asyncio.sleep(0)
    assert asyncio.all_tasks() == {asyncio.current_task()}


@pytest.mark.r("R-54")
async def test_a_near_and_covered_question_takes_the_prepared_answer(desk):
    await prepare(desk, "印表機的 IP 是多少？")
    vector = (await desk.encoder.encode(["印表機的 IP 是多少？"], "query")).vectors[0]
    desk.encoder.same["印表機的 IP 是多少呢，請問？"] = vector
    answered = await desk.ask("印表機的 IP 是多少呢，請問？", conditions="c")
    assert answered.match.kind == "near"
    assert answered.match.similarity == pytest.approx(1.0, abs=1e-5)


@pytest.mark.r("R-54")
@pytest.mark.parametrize(
    ("known", "why"),
    [
        ({"conditions": "other"}, "unusable"),
        ({"rules": "older"}, "unusable"),
        ({"facet": "advice"}, "uncovered_facet"),
    ],
)
async def test_a_near_answer_that_does_not_fit_is_left_and_says_why(desk, known, why):
    await prepare(desk, "印表機的 IP 是多少？", **known)
    desk.encoder.same["那台印表機 IP 是多少"] = (await desk.encoder.encode(["印表機的 IP 是多少？"], "query")).vectors[
        0
    ]
    answered = await desk.ask("那台印表機 IP 是多少", conditions="c")
    assert answered.match is None
    assert skips(answered)["prefetch"] == why


@pytest.mark.r("R-54")
async def test_a_question_with_another_name_is_no_hit_however_near_it_lies(desk):
    await prepare(desk, "What did Marcus say about the budget?")
    asked = "What did Priya say about the budget?"
    desk.encoder.same[asked] = (await desk.encoder.encode(["What did Marcus say about the budget?"], "query")).vectors[
        0
    ]
    answered = await desk.ask(asked, conditions="c")
    assert answered.match is None
    assert skips(answered)["prefetch"] == "uncovered_name"


@pytest.mark.r("R-54")
@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({"origin": "prefetch"}, "prefetch_itself"),
        ({"off": frozenset({"prefetch"})}, "switched_off"),
        ({"now": datetime(2025, 1, 1, tzinfo=UTC)}, "evaluation"),
        ({"overrides": Overrides(thinking_mode="slow")}, "evaluation"),
    ],
)
async def test_prepared_answers_are_only_for_plain_questions_of_the_present(desk, asked, why):
    await prepare(desk, "印表機的 IP 是多少？")
    answered = await desk.ask("印表機的 IP 是多少？", conditions="c", **asked)
    assert answered.match is None
    assert skips(answered)["prefetch"] == why


@pytest.mark.r("R-54")
async def test_a_question_of_another_time_takes_what_was_prepared_for_that_time_only(desk):
    then = datetime(2025, 1, 1, tzinfo=UTC)
    await prepare(desk, "印表機的 IP 是多少？")
    later = desk.clock.now() + timedelta(seconds=40)
    assert (await desk.ask("印表機的 IP 是多少？", conditions="c", now=later)).match.kind == "exact"
    answered = await desk.ask("印表機的 IP 是多少？", conditions="c", now=then)
    assert answered.match is None
    assert skips(answered)["prefetch"] == "evaluation"


@pytest.mark.r("R-54")
async def test_another_users_prepared_answer_never_appears(desk):
    await prepare(desk, "印表機的 IP 是多少？", user="bob")
    assert (await desk.ask("印表機的 IP 是多少？", conditions="c")).match is None


async def test_the_vector_handed_on_is_the_encoders_own_and_not_the_centred_one(desk):
    answered = await desk.ask(OCR)
    expected = (await desk.encoder.encode([OCR], "query")).vectors[0]
    assert np.array_equal(answered.encoded.vectors[0], expected)


async def test_archetypes_are_encoded_anew_where_the_same_encoder_rounds_otherwise(desk):
    await desk.ask(OCR)
    first = len(desk.encoder.encoded)
    await desk.ask(OCR)
    kept = len(desk.encoder.encoded) - first
    desk.encoder.mean = desk.encoder.mean + 0.001
    await desk.ask(OCR)
    assert kept == 1  # the question alone
    assert len(desk.encoder.encoded) == 2 * first + kept
