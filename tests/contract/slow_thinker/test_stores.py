"""One contract for the stores in memory and in a real Valkey (R-50, R-53, R-54, R-56, R-62)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from redis.asyncio import Redis

from memvault.faults import Fault, Reason
from memvault.prefetch_key import (
    conditions_fingerprint,
    figures_key,
    index_key,
    prefetch_key,
    unpack_index_value,
    used_key,
)
from memvault.recall.v1.recall_pb2 import Candidate, RecallResponse
from memvault.recall.v1.types_pb2 import Card
from memvault.runtime.settings import load
from memvault.slow_thinker.v1.prefetch_pb2 import PrefetchEntry
from memvault.text import query_hash
from memvault_slow_thinker.adapters.memory import MemoryConversations, MemoryFigures, MemoryPreparedAnswers
from memvault_slow_thinker.adapters.redis_conversations import RedisConversations
from memvault_slow_thinker.adapters.redis_figures import RedisFigures
from memvault_slow_thinker.adapters.redis_prepared import RedisPreparedAnswers
from memvault_slow_thinker.domain.conversation import Place, Utterance
from memvault_slow_thinker.domain.prediction import Draft, Kind, Predicted
from memvault_slow_thinker.ports import (
    Conversations,
    Fetched,
    Figures,
    ForgottenWords,
    Prepared,
    PreparedAnswers,
    PreparedQuestion,
)
from memvault_slow_thinker.settings import Settings

SETTINGS = load("slow_thinker", Settings, environ={})
NOW = 1_790_000_000.0
ANN, BOB = Place("ann", "c1"), Place("bob", "c1")
BOTH = pytest.mark.parametrize("kind", ["memory", "redis"])


@pytest.fixture
def conversations(kind: str, request: pytest.FixtureRequest) -> Conversations:
    if kind == "memory":
        return MemoryConversations(SETTINGS.window)
    return RedisConversations(request.getfixturevalue("redis"), SETTINGS.window)


@pytest.fixture
def prepared(kind: str, request: pytest.FixtureRequest) -> PreparedAnswers:
    return MemoryPreparedAnswers() if kind == "memory" else RedisPreparedAnswers(request.getfixturevalue("redis"))


@pytest.fixture
def figures(kind: str, request: pytest.FixtureRequest) -> Figures:
    return MemoryFigures() if kind == "memory" else RedisFigures(request.getfixturevalue("redis"))


def said(event_id: str, at: float, text: str = "你好 ‘quotes’ \n and lines") -> Utterance:
    return Utterance(event_id, "user", text, at)


def answer(query: str = "OCR 做到哪了？", *block_ids: str, user: str = "ann", made_at: float = NOW) -> Prepared:
    ids = block_ids or ("b1", "b2")
    response = RecallResponse(
        query=query,
        confidence="high",
        cards=[Card(block_id=one, kind="block", text="screened") for one in ids],
        candidates=[Candidate(block_id="b9", version=3)],
    )
    return Prepared(
        place=Place(user, "c1"),
        question=Draft(query, 0.6, Kind.ENTITY),
        vector=np.array([0.5, -0.25], dtype=np.float32),
        encoder_id="e5",
        fetched=Fetched(response.SerializeToString(), frozenset({*ids, "b9"}), len(ids), "high", frozenset(), 7, 80.0),
        made_at=made_at,
        made_for=made_at - 5,
        told_at=made_at - 4,
        expires_at=made_at + 300,
        ruleset_version="r1",
    )


@BOTH
@pytest.mark.r("R-50")
async def test_a_window_is_in_event_time_and_each_event_is_in_it_once(conversations: Conversations) -> None:
    await conversations.append(ANN, said("late", NOW + 5), sequence=2, now=NOW, told_at=NOW)
    await conversations.append(ANN, said("early", NOW + 1), sequence=1, now=NOW, told_at=NOW)
    window = await conversations.append(ANN, said("late", NOW + 5), sequence=3, now=NOW + 9, told_at=NOW)
    assert window == (said("early", NOW + 1), said("late", NOW + 5))
    assert await conversations.append(BOB, said("x", NOW), sequence=4, now=NOW, told_at=NOW) == (said("x", NOW),)


@BOTH
async def test_a_window_keeps_the_newest_utterances_only(conversations: Conversations) -> None:
    window: tuple[Utterance, ...] = ()
    for place in range(SETTINGS.window.utterances + 5):
        window = await conversations.append(ANN, said(f"e{place:03}", NOW + place), sequence=None, now=NOW, told_at=NOW)
    assert len(window) == SETTINGS.window.utterances
    assert window[0].event_id == "e005"


@BOTH
@pytest.mark.r("R-62")
async def test_nothing_said_is_kept_longer_than_a_day(conversations: Conversations) -> None:
    await conversations.append(ANN, said("old", NOW), sequence=1, now=NOW, told_at=NOW)
    window = await conversations.append(ANN, said("new", NOW + 90_000), sequence=2, now=NOW + 90_000, told_at=NOW)
    assert [utterance.event_id for utterance in window] == ["new"]
    assert await conversations.forget("ann", NOW) == ForgottenWords(1, (2,))


@BOTH
@pytest.mark.r("R-52")
async def test_distinct_conversations_are_counted_per_user(conversations: Conversations) -> None:
    for conversation_id in ("a", "b", "a", "c:d"):
        await conversations.note("ann", conversation_id, told_at=NOW)
    assert (await conversations.count("ann"), await conversations.count("bob")) == (3, 0)


@BOTH
@pytest.mark.r("R-51")
async def test_predictions_are_remembered_per_user(conversations: Conversations) -> None:
    made = [Predicted("做到哪了？", "c1", NOW + 1.5), Predicted('and "then"', "c2", NOW)]
    await conversations.note_predicted("ann", made, told_at=NOW)
    await conversations.note_predicted("ann", made[:1], told_at=NOW)
    await conversations.note_predicted("ann", [], told_at=NOW)
    assert await conversations.predicted("ann", NOW) == (made[1], made[0])
    assert await conversations.predicted("bob", NOW) == ()


@BOTH
@pytest.mark.r("R-51")
async def test_only_predictions_near_in_event_time_are_read(conversations: Conversations) -> None:
    near = SETTINGS.window.predictions_ttl_s
    made = [Predicted("old", "c1", NOW - near - 1), Predicted("now", "c1", NOW), Predicted("ahead", "c1", NOW + near)]
    await conversations.note_predicted("ann", made, told_at=NOW)
    assert await conversations.predicted("ann", NOW) == tuple(made[1:])
    assert await conversations.predicted("ann", NOW - 2) == (made[0], made[1])


@BOTH
@pytest.mark.r("R-51")
async def test_who_talks_all_day_piles_up_no_predictions(conversations: Conversations) -> None:
    most = SETTINGS.window.predictions
    for number in range(most + 2):
        await conversations.note_predicted("ann", [Predicted(f"q{number}", "c1", NOW + number / most)], told_at=NOW)
    assert [one.text for one in (await conversations.predicted("ann", NOW))[:2]] == ["q2", "q3"]


@BOTH
@pytest.mark.r("R-62")
async def test_forgetting_a_user_leaves_nothing_and_touches_nobody_else(conversations: Conversations) -> None:
    for user, sequence in (("ann", 11), ("ann.b", 12), ("ann", 10)):
        place = Place(user, f"c{sequence}:x")
        await conversations.append(place, said(f"e{sequence}", NOW), sequence=sequence, now=NOW, told_at=NOW)
        await conversations.note(user, place.conversation_id, told_at=NOW)
        await conversations.note_predicted(user, [Predicted("q", place.conversation_id, NOW)], told_at=NOW)
    assert await conversations.forget("ann", NOW) == ForgottenWords(2, (10, 11))
    assert (await conversations.count("ann"), await conversations.predicted("ann", NOW)) == (0, ())
    assert await conversations.forget("ann", NOW) == ForgottenWords(0, ())
    assert (await conversations.count("ann.b"), len(await conversations.predicted("ann.b", NOW))) == (1, 1)


@BOTH
@pytest.mark.r("R-62")
async def test_what_was_on_its_way_when_a_user_was_forgotten_is_not_kept_and_what_comes_later_is(
    conversations: Conversations,
) -> None:
    async def told(at: float, user: str = "ann") -> tuple[int, int, int]:
        place = Place(user, f"c{at}")
        window = await conversations.append(place, said(f"e{at}", NOW), sequence=1, now=NOW, told_at=at)
        await conversations.note(user, place.conversation_id, told_at=at)
        await conversations.note_predicted(user, [Predicted("q", place.conversation_id, NOW)], told_at=at)
        return len(window), await conversations.count(user), len(await conversations.predicted(user, NOW))

    await conversations.forget("ann", NOW)
    assert [await told(at) for at in (NOW - 9, NOW)] == [(0, 0, 0)] * 2
    assert await told(NOW, user="ann.b") == (1, 1, 1)
    assert await told(NOW + 0.001) == (1, 1, 1)
    await conversations.forget("ann", NOW - 3600)
    assert await told(NOW) == (0, 0, 0), "an older fact opens no door again"
    assert await conversations.forget("ann", NOW + 1) == ForgottenWords(0, ())


@BOTH
@pytest.mark.r("R-62")
async def test_a_forgetting_is_settled_once_it_is_said_so(conversations: Conversations) -> None:
    await conversations.forget("ann", NOW)
    assert not await conversations.settled("ann", NOW)
    await conversations.settle("ann", NOW)
    await conversations.settle("ann", NOW - 60)
    assert [await conversations.settled("ann", NOW + late) for late in (-1, 0, 1)] == [True, True, False]
    assert not await conversations.settled("ann.b", NOW)


@BOTH
@pytest.mark.r("R-53")
async def test_what_is_stored_is_live_until_it_expires(prepared: PreparedAnswers) -> None:
    assert await prepared.store(answer(), epoch=0)
    assert await prepared.store(answer("晚餐", "b5", made_at=NOW - 200), epoch=0)
    live = await prepared.live("ann", now=NOW)
    assert [one.query for one in live] == ["OCR 做到哪了？", "晚餐"]
    assert live[0] == PreparedQuestion("OCR 做到哪了？", 0.6, NOW + 300, 2)
    assert [one.query for one in await prepared.live("ann", now=NOW + 150)] == ["OCR 做到哪了？"]
    assert await prepared.live("bob", now=NOW) == ()


@BOTH
@pytest.mark.r("R-54")
async def test_an_answer_with_a_changed_block_or_candidate_is_dropped_and_others_stay(
    prepared: PreparedAnswers,
) -> None:
    await prepared.store(answer("one", "b1"), epoch=0)
    await prepared.store(answer("two", "b2"), epoch=0)
    assert await prepared.drop_holding("ann", ["b1", "b7"]) == 1
    assert [one.query for one in await prepared.live("ann", now=NOW)] == ["two"]
    assert await prepared.drop_holding("ann", ["b9"]) == 1
    assert await prepared.drop_holding("ann", ["b9"]) == 0


@BOTH
@pytest.mark.r("R-54")
async def test_what_was_fetched_before_a_change_is_not_stored_after_it(prepared: PreparedAnswers) -> None:
    epoch = await prepared.epoch("ann")
    await prepared.drop_holding("ann", ["b1"])
    assert not await prepared.store(answer(), epoch=epoch)
    assert await prepared.store(answer(), epoch=await prepared.epoch("ann"))
    await prepared.forget("ann", NOW)
    assert not await prepared.store(answer(), epoch=epoch + 1)
    assert await prepared.live("ann", now=NOW) == ()


@BOTH
@pytest.mark.r("R-62")
async def test_forgetting_removes_all_answers_of_one_user(prepared: PreparedAnswers) -> None:
    await prepared.store(answer("one"), epoch=0)
    await prepared.store(answer("two"), epoch=0)
    await prepared.store(answer("one", user="bob"), epoch=0)
    assert await prepared.forget("ann", NOW) == 2
    assert await prepared.live("ann", now=NOW) == ()
    assert len(await prepared.live("bob", now=NOW)) == 1


@BOTH
@pytest.mark.r("R-62")
async def test_an_answer_that_waited_while_its_user_was_forgotten_is_not_stored(prepared: PreparedAnswers) -> None:
    waited = answer()
    await prepared.forget("ann", waited.told_at)
    assert not await prepared.store(waited, epoch=await prepared.epoch("ann"))
    assert await prepared.live("ann", now=NOW) == ()
    assert await prepared.store(answer(user="bob"), epoch=0)
    assert await prepared.store(answer(made_at=NOW + 1), epoch=await prepared.epoch("ann"))


@BOTH
@pytest.mark.r("R-62")
async def test_what_is_counted_late_of_a_forgotten_user_counts_for_all_only(figures: Figures) -> None:
    await figures.forget("ann", NOW)
    await figures.add("ann", {"fetches": 2}, told_at=NOW)
    assert (await figures.read("ann"), await figures.read("")) == ({}, {"fetches": 2})
    await figures.add("ann", {"fetches": 1}, told_at=NOW + 1)
    assert (await figures.read("ann"), await figures.read("")) == ({"fetches": 1}, {"fetches": 3})


@BOTH
@pytest.mark.r("R-56")
async def test_figures_add_up_per_user_and_for_all_and_the_sums_survive_a_user(figures: Figures) -> None:
    await figures.add("ann", {"fetches": 2, "refused.few_turns": 1}, told_at=NOW)
    await figures.add("bob", {"fetches": 1}, told_at=NOW)
    assert await figures.read("ann") == {"fetches": 2, "refused.few_turns": 1}
    assert (await figures.read(""))["fetches"] == 3
    await figures.forget("ann", NOW)
    assert (await figures.read("ann"), (await figures.read(""))["fetches"]) == ({}, 3)


@pytest.mark.r("R-53")
async def test_an_entry_in_redis_is_what_the_contract_says_under_the_shared_key_and_ends_by_itself(
    redis: Redis,
) -> None:
    await RedisPreparedAnswers(redis).store(answer(), epoch=0)
    key = prefetch_key("ann", "OCR 做到哪了？")
    raw: Any = await redis.get(key)
    entry = PrefetchEntry.FromString(raw)
    assert (entry.schema, entry.user_id, entry.query) == (1, "ann", "OCR 做到哪了？")
    assert entry.query_hash == query_hash("OCR 做到哪了？")
    assert [card.block_id for card in entry.answer.cards] == ["b1", "b2"]
    assert [candidate.block_id for candidate in entry.candidates] == ["b9"]
    assert not entry.answer.candidates
    assert np.frombuffer(entry.query_vector, "<f4").tolist() == [0.5, -0.25]
    assert (entry.conditions, entry.ruleset_version) == (conditions_fingerprint(), "r1")
    assert (entry.write_version, entry.recall_ms, entry.fuel) == (7, 80.0, "free")
    assert entry.expires_at.ToDatetime().timestamp() - entry.made_at.ToDatetime().timestamp() == 300
    assert entry.made_for.ToDatetime().timestamp() == entry.made_at.ToDatetime().timestamp() - 5
    assert 0 < await redis.ttl(key) <= 300
    index: Any = await redis.hgetall(index_key("ann"))
    assert unpack_index_value(index[entry.query_hash.encode()]) == (NOW + 300, [0.5, -0.25])


@pytest.mark.r("R-54")
async def test_the_index_loses_what_has_expired_when_something_new_is_stored(redis: Redis) -> None:
    store = RedisPreparedAnswers(redis)
    await store.store(answer("old", made_at=NOW - 400), epoch=0)
    await store.store(answer("new"), epoch=0)
    assert await redis.hkeys(index_key("ann")) == [query_hash("new").encode()]


@pytest.mark.r("R-62")
async def test_after_forgetting_no_key_in_redis_holds_a_word_of_the_user(redis: Redis) -> None:
    conversations, store = RedisConversations(redis, SETTINGS.window), RedisPreparedAnswers(redis)
    await conversations.append(ANN, said("e1", NOW, "secret"), sequence=1, now=NOW, told_at=NOW)
    await conversations.note("ann", "c1", told_at=NOW)
    await conversations.note_predicted("ann", [Predicted("secret", "c1", NOW)], told_at=NOW)
    await store.store(answer("secret"), epoch=0)
    await redis.set(used_key("ann", query_hash("secret")), 1)
    await RedisFigures(redis).add("ann", {"stored": 1}, told_at=NOW)
    await conversations.forget("ann", NOW)
    await store.forget("ann", NOW)
    await RedisFigures(redis).forget("ann", NOW)
    left = [key async for key in redis.scan_iter()]
    marks = {key for key in left if key.startswith(b"memvault:slow_thinker_forgotten:")}
    assert {b"memvault:prefetch_epoch:ann", figures_key("").encode()} == set(left) - marks
    assert [(b"ann" in key, await redis.ttl(key)) for key in marks] == [(False, pytest.approx(86_400, abs=60))]


async def test_a_redis_that_is_away_is_a_fault_that_names_the_setting() -> None:
    away = Redis.from_url("redis://127.0.0.1:1/0", socket_connect_timeout=0.5)
    for asking in (
        RedisConversations(away, SETTINGS.window).count("ann"),
        RedisPreparedAnswers(away).live("ann", now=NOW),
        RedisFigures(away).read("ann"),
    ):
        with pytest.raises(Fault) as caught:
            await asking
        assert caught.value.reason is Reason.STORE_UNAVAILABLE
        assert "stores.redis" in caught.value.message
    await away.aclose()
