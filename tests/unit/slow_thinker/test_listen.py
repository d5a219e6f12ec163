"""From an utterance to a prepared answer, over memory (R-50 to R-56)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from memvault_slow_thinker.domain.conversation import Place, Utterance
from memvault_slow_thinker.domain.prediction import Draft, Kind, Linked
from memvault_slow_thinker.usecases.listen import Heard
from tests.unit.slow_thinker.conftest import ToldWriter, World, fetched

TALK = ("OCR 的模型昨天換了", "OCR 的準確率好像變高", "我等等想問 OCR 做到哪了")


@pytest.mark.r("R-50")
async def test_a_conversation_with_someone_known_leads_to_a_prepared_answer(world: World) -> None:
    await world.known()
    outcome = await world.say(*TALK)
    assert "OCR 做到哪了" in [question.text for question in outcome.questions]
    ready = await world.prepared.live("ann", now=world.clock.at)
    assert {one.query for one in ready} == {question.text for question in outcome.questions}
    assert {place for place, _ in world.recalls.asked} == {Place("ann", "c0")}


@pytest.mark.r("R-52")
async def test_with_nine_conversations_nothing_is_predicted_and_the_rule_is_counted(world: World) -> None:
    await world.known(conversations=9)
    await world.say(*TALK)
    assert world.recalls.asked == []
    assert (await world.keep.report("ann")).counts["refused.few_conversations"] == 3


@pytest.mark.r("R-52")
async def test_conversations_are_counted_in_utterances_and_in_blocks_each_once(world: World) -> None:
    await world.known(conversations=5)
    for number in range(3, 8):
        await world.say("嗨", conversation=f"c{number}")
    assert await world.conversations.count("ann") == 8


@pytest.mark.r("R-52")
async def test_two_turns_are_too_few(world: World) -> None:
    await world.known()
    assert (await world.say(*TALK[1:])).refused_by == "few_turns"


@pytest.mark.r("R-52")
async def test_within_thirty_seconds_of_event_time_nothing_is_predicted_again(world: World) -> None:
    await world.known()
    await world.say(*TALK)
    assert (await world.say("OCR 的速度呢？", gap=29.0)).refused_by == "just_predicted"
    assert (await world.say("OCR 的速度如何", gap=1.0)).refused_by == ""


@pytest.mark.r("R-52")
async def test_another_conversation_of_the_same_user_has_its_own_gap(world: World) -> None:
    await world.known()
    await world.say(*TALK)
    assert (await world.say("報表甲好了", "報表甲送出", "報表甲退回了", conversation="c1", gap=1.0)).refused_by == ""


@pytest.mark.r("R-52")
async def test_after_a_leap_to_another_topic_nothing_is_predicted(world: World) -> None:
    await world.known()
    outcome = await world.say("OCR 的模型換了", "OCR 的準確率變高", "晚餐想吃拉麵")
    assert outcome.refused_by == "topic_drift"
    assert world.recalls.asked == []


@pytest.mark.r("R-52")
async def test_a_guess_that_the_predictor_does_not_believe_in_is_refused() -> None:
    writer = ToldWriter(drafts=(Draft("天氣如何呢", 0.3, Kind.LLM),))
    world = World(writer)
    await world.known()
    outcome = await world.say("下雨了耶", "下雨好煩喔", "下雨")
    questions = {draft.text: draft.confidence for draft in outcome.questions}
    assert "天氣如何呢" not in questions
    assert all(confidence >= 0.4 for confidence in questions.values())


@pytest.mark.r("R-51")
async def test_the_same_question_is_not_predicted_twice_within_five_minutes(world: World) -> None:
    await world.known()
    await world.say(*TALK)
    asked = [question for _, question in world.recalls.asked]
    await world.say("我等等想問 OCR 做到哪了", gap=60.0)
    again = [question for _, question in world.recalls.asked[len(asked) :]]
    assert not set(asked) & set(again)


@pytest.mark.r("R-50a")
async def test_what_the_llm_wrote_competes_with_free_fuel() -> None:
    world = World(ToldWriter(drafts=(Draft("OCR 下週要交什麼", 0.95, Kind.LLM),)))
    await world.known()
    outcome = await world.say(*TALK)
    assert outcome.questions[0].text == "OCR 下週要交什麼"
    assert outcome.questions[0].fuel == "llm"


@pytest.mark.r("R-50a")
async def test_without_llm_and_graph_free_fuel_still_burns_and_the_lack_is_told() -> None:
    world = World(ToldWriter(down=True))
    world.graph.down = True
    await world.known()
    assert (await world.say(*TALK)).questions
    assert ("llm", "DEADLINE_EXCEEDED") in world.heralds.notes
    assert ("cascade", "SERVICE_UNAVAILABLE") in world.heralds.notes


@pytest.mark.r("R-50a")
async def test_an_entity_of_the_graph_leads_to_a_question_about_it(world: World) -> None:
    world.graph.entities = (Linked("小美", 1.0, 1.0, (("職位", "工程師"),)),)
    await world.known()
    outcome = await world.say("小美昨天來了", "小美說想換工作", "小美還是很猶豫")
    assert "小美最近怎麼樣？" in [question.text for question in outcome.questions]


async def test_without_an_encoder_nothing_is_predicted_and_it_is_said(world: World) -> None:
    await world.known()
    world.encoder.down = True
    assert (await world.say(*TALK)).refused_by == "no_encoder"
    assert ("embed", "SERVICE_UNAVAILABLE") in world.heralds.notes


@pytest.mark.r("R-50")
async def test_an_utterance_that_comes_late_is_remembered_but_nothing_is_made_of_it(world: World) -> None:
    await world.known()
    assert (await world.say(*TALK, late=61.0)).refused_by == "late"
    assert (await world.say("OCR 做完了沒")).questions


@pytest.mark.r("R-50")
async def test_an_utterance_delivered_twice_is_one_turn(world: World) -> None:
    await world.known()
    heard = Heard(Place("ann", "c0"), Utterance("same", "user", "OCR 換了", world.clock.at), world.clock.at, 1)
    assert {(await world.listen(heard)).refused_by for _ in range(5)} == {"few_turns"}


@pytest.mark.r("R-53")
async def test_the_recall_takes_the_time_of_the_utterance_as_now(world: World) -> None:
    await world.known()
    said_at = world.clock.at
    await world.say(*TALK, late=5.0)
    assert world.recalls.asked_for
    assert all(said_at <= at <= world.clock.at - 5.0 for at in world.recalls.asked_for)


@pytest.mark.r("R-53")
async def test_listening_does_not_wait_for_the_recall(world: World) -> None:
    started = asyncio.Event()

    async def never(*args: Any, **kwargs: Any) -> Any:
        started.set()
        await asyncio.Event().wait()

    world.recalls.recall = never  # type: ignore[method-assign]
    await world.known()
    async with asyncio.timeout(5):
        for text in TALK:
            world.said += 1
            world.clock.at += 10
            utterance = Utterance(f"e{world.said}", "user", text, world.clock.at)
            await world.listen(Heard(Place("ann", "c0"), utterance, world.clock.at, None))
        await started.wait()
        await world.fetcher.stop()


@pytest.mark.r("R-53")
async def test_a_failed_fetch_is_counted_announced_and_not_tried_again(world: World) -> None:
    await world.known()
    world.recalls.down = True
    outcome = await world.say(*TALK)
    assert len(world.recalls.asked) == len(outcome.questions)
    assert (await world.keep.report("ann")).counts["dropped.fetch_failed"] == len(outcome.questions)
    assert {told.refused_by for told in world.heralds.announced if told.query} == {"fetch_failed"}


@pytest.mark.r("R-53")
@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (fetched(cards=0), "nothing_found"),
        (fetched(confidence="low"), "nothing_found"),
        (fetched(degraded="cascade"), "degraded"),
    ],
)
async def test_an_answer_that_would_not_help_is_not_kept(world: World, answer: Any, reason: str) -> None:
    await world.known()
    world.recalls.answers["OCR 做到哪了"] = answer
    await world.say(*TALK)
    assert "OCR 做到哪了" not in {one.query for one in await world.prepared.live("ann", now=world.clock.at)}
    assert reason in {told.refused_by for told in world.heralds.announced if told.query == "OCR 做到哪了"}


@pytest.mark.r("R-53")
async def test_an_answer_without_a_reranker_is_kept(world: World) -> None:
    await world.known()
    world.recalls.answers["OCR 做到哪了"] = fetched(degraded="rerank")
    await world.say(*TALK)
    assert "OCR 做到哪了" in {one.query for one in await world.prepared.live("ann", now=world.clock.at)}


@pytest.mark.r("R-54")
async def test_a_block_changed_or_forgotten_while_fetching_leaves_no_entry(world: World) -> None:
    await world.known()
    real = world.recalls.recall

    async def changed_meanwhile(place: Place, question: str, *, now: float, timeout_s: float) -> Any:
        await world.keep.drop_blocks("ann", ["b1"])
        return await real(place, question, now=now, timeout_s=timeout_s)

    world.recalls.recall = changed_meanwhile  # type: ignore[method-assign]
    await world.say(*TALK)
    assert await world.prepared.live("ann", now=world.clock.at) == ()
    assert (await world.keep.report("ann")).counts["dropped.changed_meanwhile"] >= 1


@pytest.mark.r("R-54")
async def test_a_changed_block_drops_the_entries_that_hold_it_and_a_new_one_drops_none(world: World) -> None:
    await world.known()
    await world.say(*TALK)
    before = len(await world.prepared.live("ann", now=world.clock.at))
    assert before
    assert await world.keep.block_indexed("ann", "brand-new", "c0", changed=True, told_at=world.clock.at) == 0
    assert await world.keep.block_indexed("ann", "b1", "c0", changed=False, told_at=world.clock.at) == 0
    assert await world.keep.block_indexed("bob", "b1", "c0", changed=True, told_at=world.clock.at) == 0
    assert await world.keep.block_indexed("ann", "b1", "c0", changed=True, told_at=world.clock.at) == before
    assert (await world.keep.report("ann")).counts["invalidated"] == before


@pytest.mark.r("R-62")
async def test_forgetting_a_user_removes_words_entries_predictions_and_the_bus_s_copies(world: World) -> None:
    await world.known()
    await world.known(user="bob")
    await world.say(*TALK)
    removed = await world.keep.forget_user("ann")
    assert (removed.utterances, removed.entries >= 1) == (3, True)
    assert world.heralds.erased == [1, 2, 3]
    assert (await world.keep.report("ann")).counts == {"hits": 0, "wasted": 0}
    assert await world.conversations.predicted("ann", world.clock.at) == ()
    assert await world.conversations.count("ann") == 0
    assert await world.conversations.count("bob") == 10


@pytest.mark.r("R-62")
async def test_what_was_said_before_its_user_was_forgotten_and_comes_later_leaves_nothing(world: World) -> None:
    await world.known()
    await world.say(*TALK)
    await world.keep.forget_user("ann")
    told = len(world.heralds.announced)
    assert (await world.say(*TALK, gap=0.5, late=9)).refused_by == "forgotten"
    await world.keep.block_indexed("ann", "b1", "c1", changed=True, told_at=world.clock.at - 9)
    assert await world.conversations.count("ann") == 0
    assert len(world.heralds.announced) == told
    assert (await world.keep.report("ann")).counts == {"hits": 0, "wasted": 0}
    await world.known()
    assert (await world.say(*TALK)).questions, "who comes back is someone new"
    assert await world.prepared.live("ann", now=world.clock.at)


@pytest.mark.r("R-62")
async def test_what_waits_to_be_fetched_when_its_user_is_forgotten_leaves_nothing(world: World) -> None:
    await world.known()
    real, told = world.recalls.recall, len(world.recalls.asked)

    async def forgotten_meanwhile(place: Place, question: str, *, now: float, timeout_s: float) -> Any:
        if len(world.recalls.asked) == told:
            await world.keep.forget_user("ann")
        return await real(place, question, now=now, timeout_s=timeout_s)

    world.recalls.recall = forgotten_meanwhile  # type: ignore[method-assign]
    assert (await world.say(*TALK)).questions
    assert await world.prepared.live("ann", now=world.clock.at) == ()
    assert (await world.keep.report("ann")).counts == {"hits": 0, "wasted": 0}
    assert await world.conversations.predicted("ann", world.clock.at) == ()


@pytest.mark.r("R-62")
async def test_the_fact_that_a_user_is_forgotten_comes_after_the_call_and_takes_nothing_new(world: World) -> None:
    await world.known()
    await world.say(TALK[0])
    begun = world.clock.at
    await world.keep.forget_user("ann")
    await world.say(TALK[1])
    await world.keep.user_forgotten("ann", begun)
    assert await world.conversations.count("ann") == 1
    await world.keep.user_forgotten("ann", world.clock.at)
    assert await world.conversations.count("ann") == 0


@pytest.mark.r("R-56")
async def test_the_figures_tell_predictions_admissions_fetches_and_waste(world: World) -> None:
    await world.known()
    outcome = await world.say(*TALK)
    fetches = len(outcome.questions)
    counts = (await world.keep.report("ann")).counts
    assert counts["utterances"] == 3
    assert (counts["admitted"], counts["refused.few_turns"]) == (1, 2)
    assert counts["predictions"] >= fetches
    assert (counts["fetches"], counts["stored"], counts["wasted"]) == (fetches, fetches, 0)
    world.clock.at += 301
    assert (await world.keep.report("ann")).counts["wasted"] == fetches
    assert (await world.keep.report("")).counts["stored"] == fetches


@pytest.mark.r("R-56")
async def test_every_utterance_is_answered_by_one_announcement_or_one_per_question(world: World) -> None:
    await world.known()
    outcome = await world.say(*TALK)
    told = world.heralds.announced
    assert [one.refused_by for one in told[:2]] == ["few_turns", "few_turns"]
    assert {one.query for one in told[2:]} == {question.text for question in outcome.questions}
    assert {one.utterance_event_id for one in told[2:]} == {"e3"}
    assert [one.questions for one in told] == [0, 0, *[len(outcome.questions)] * len(outcome.questions)]


@pytest.mark.r("R-56")
async def test_a_question_that_found_no_place_in_the_line_is_announced_as_well(world: World) -> None:
    crowded = world.settings.fetch.model_copy(update={"concurrency": 1, "waiting": 0})
    world = World(fetching=crowded)
    world.graph.entities = (Linked("OCR", 1.0, 1.0),)
    await world.known()
    outcome = await world.say(*TALK)
    told = [one for one in world.heralds.announced if one.query]
    assert [one.questions for one in told] == [2, 2]
    assert {one.query: one.refused_by for one in told} == {
        outcome.questions[0].text: "",
        next(one.query for one in told if one.query != outcome.questions[0].text): "busy",
    }


@pytest.mark.r("R-50a")
async def test_an_announcement_tells_which_fuel_was_missing(world: World) -> None:
    world.graph.down = True
    await world.known()
    await world.say(*TALK)
    assert {one.left_out for one in world.heralds.announced if one.query} == {("cascade",)}
