"""One suite for every store of the router, on memory and on a real Valkey (R-04, R-05, R-06, R-54)."""

import asyncio
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from redis.asyncio import Redis

from memvault.faults import Fault, Reason
from memvault.prefetch_key import entry_key, index_key, pack_index_value
from memvault.slow_thinker.v1 import prefetch_pb2
from memvault_router.adapters.archetype_files import FileArchetypes, LayeredArchetypes
from memvault_router.adapters.memory import MemoryArchetypes, MemoryPrepared, MemoryProfiles, MemoryThreshold
from memvault_router.adapters.redis_guard import RedisGuard
from memvault_router.adapters.redis_profiles import RedisProfiles
from memvault_router.adapters.redis_store import (
    RedisArchetypes,
    RedisPrepared,
    RedisThreshold,
)
from memvault_router.domain.profile import WindowCounts
from memvault_router.ports import Classified, Counted

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
STARTS = tuple(NOW - timedelta(days=days) for days in (7, 30, 90))


class Stores:
    """The four stores of one technology, and a way to write what the slow thinker would."""

    def __init__(self, redis: Redis | None) -> None:
        self.redis = redis
        if redis is None:
            self.profiles, self.threshold = MemoryProfiles(), MemoryThreshold()
            self.prepared = MemoryPrepared()
        else:
            guard = RedisGuard(redis, timeout_s=5, rest_s=0.5)
            self.profiles = RedisProfiles(guard, keep_days=90, seen_s=600)
            self.threshold, self.prepared = RedisThreshold(guard), RedisPrepared(guard)

    async def put(self, user, key, entry, value):
        if self.redis is None:
            self.prepared.put(user, key, entry, value)
        else:
            await self.redis.set(entry_key(user, key), entry)
            await self.redis.hset(index_key(user), key, value)


@pytest.fixture(params=["memory", "valkey"])
async def stores(request, redis):
    return Stores(None if request.param == "memory" else redis)


def fact(user="ann", intent="factual", facet="progress", days=0.0):
    return Classified(user, intent, facet, 0.9, NOW - timedelta(days=days), "r")


@pytest.mark.r("R-06")
async def test_a_question_counts_once_however_often_its_event_arrives(stores):
    assert await stores.profiles.record("e1", fact())
    assert not await stores.profiles.record("e1", fact())
    counts = await stores.profiles.counts("ann", STARTS, NOW)
    assert counts == [WindowCounts({"factual": 1}, {"progress": 1})] * 3


@pytest.mark.r("R-06")
async def test_windows_slide_and_an_event_older_than_ninety_days_counts_no_more(stores):
    for place, days in enumerate((1, 6.9, 7.1, 29, 31, 89.9, 90.1)):
        await stores.profiles.record(f"e{place}", fact(days=days))
    counts = await stores.profiles.counts("ann", STARTS, NOW)
    assert [each.intents["factual"] for each in counts] == [2, 4, 6]
    later = NOW + timedelta(days=7)
    moved = await stores.profiles.counts("ann", tuple(start + timedelta(days=7) for start in STARTS), later)
    assert [each.intents.get("factual", 0) for each in moved] == [0, 3, 5]


@pytest.mark.r("R-06")
async def test_questions_asked_after_now_do_not_count_yet(stores):
    await stores.profiles.record("e1", fact(days=-1))
    assert (await stores.profiles.counts("ann", STARTS, NOW))[2].intents == {}


async def test_one_users_profile_is_not_anothers(stores):
    await stores.profiles.record("e1", fact())
    await stores.profiles.record("e1", fact(user="bob", intent="conceptual"))
    assert (await stores.profiles.counts("bob", STARTS, NOW))[0].intents == {"conceptual": 1}
    assert (await stores.profiles.counts("carol", STARTS, NOW))[0].intents == {}


@pytest.mark.r("R-06")
async def test_an_erased_profile_is_gone_and_others_stay(stores):
    for user in ("ann", "ann.b", "an*"):
        await stores.profiles.record("e1", fact(user=user))
        await stores.profiles.add_interests(user, "i1", {"rust": 2.0}, 10, NOW)
        await stores.profiles.remember_topics(user, "r", ("rust",), NOW)
    assert await stores.profiles.erase("an*", NOW)
    assert not await stores.profiles.erase("an*", NOW)
    assert (await stores.profiles.counts("an*", STARTS, NOW))[2].intents == {}
    assert await stores.profiles.interests("an*", 1.0, 10) == []
    assert tuple(await stores.profiles.topics_of("an*", "r")) == ()
    for user in ("ann", "ann.b"):
        assert (await stores.profiles.counts(user, STARTS, NOW))[2].intents == {"factual": 1}
        assert len(await stores.profiles.interests(user, 1.0, 10)) == 1


@pytest.mark.r("R-36")
async def test_expiring_drops_old_questions_of_one_user_or_of_all(stores):
    for user in ("ann", "bob"):
        await stores.profiles.record("old", fact(user=user, days=91))
        await stores.profiles.record("new", fact(user=user, days=1))
    before = NOW - timedelta(days=90)
    assert await stores.profiles.expire("ann", before) == 1
    assert await stores.profiles.expire("", before) == 1
    assert await stores.profiles.expire("", before) == 0
    assert (await stores.profiles.counts("bob", (NOW - timedelta(days=200),), NOW))[0].intents == {"factual": 1}


@pytest.mark.r("R-06")
async def test_interests_add_up_once_per_event_and_fade_together(stores):
    assert await stores.profiles.add_interests("ann", "i1", {"rust": 4.0, "ocr": 1.0}, 10, NOW)
    assert not await stores.profiles.add_interests("ann", "i1", {"rust": 4.0}, 10, NOW)
    assert await stores.profiles.add_interests("ann", "i2", {"ocr": 2.0}, 10, NOW)
    found = await stores.profiles.interests("ann", 2.0, 10)
    assert [(each.name, each.weight) for each in found] == [("rust", 2.0), ("ocr", 1.5)]


@pytest.mark.r("R-06")
async def test_only_the_largest_interests_are_kept_and_disliked_ones_leave(stores):
    await stores.profiles.add_interests("ann", "i1", {"a": 1.0, "b": 2.0, "c": 3.0}, 2, NOW)
    assert [each.name for each in await stores.profiles.interests("ann", 1.0, 10)] == ["c", "b"]
    await stores.profiles.add_interests("ann", "i2", {"c": -3.0}, 2, NOW)
    assert [each.name for each in await stores.profiles.interests("ann", 1.0, 10)] == ["b"]


@pytest.mark.r("R-06", "R-63")
async def test_a_profile_taken_along_comes_back_just_as_it_was_and_the_same_again_changes_nothing(stores):
    asked = [("q2", fact(days=2.25)), ("q1", fact(intent="conceptual", facet="none", days=40))]
    for identity, one in asked:
        await stores.profiles.record(identity, one)
    await stores.profiles.add_interests("ann", "i1", {"rust": 4.1, "ocr": 1e9 / 3}, 10, NOW)
    taken = await stores.profiles.questions("ann")
    weights = {each.name: each.weight for each in await stores.profiles.interests("ann", 1.0, 10)}
    assert taken == [Counted(key, one.intent, one.facet, one.asked_at) for key, one in reversed(asked)]
    assert await stores.profiles.restore("bob", taken, weights, 10) == (2, 2)
    assert await stores.profiles.questions("bob") == taken
    assert await stores.profiles.interests("bob", 1.0, 10) == await stores.profiles.interests("ann", 1.0, 10)
    assert await stores.profiles.counts("bob", STARTS, NOW) == await stores.profiles.counts("ann", STARTS, NOW)
    assert await stores.profiles.restore("bob", taken, weights, 10) == (0, 0)
    assert await stores.profiles.expire("", NOW - timedelta(days=30)) == 2
    assert await stores.profiles.questions("nobody") == []


@pytest.mark.r("R-06", "R-63")
async def test_a_profile_that_meets_another_adds_what_is_new_and_keeps_the_larger_weights(stores):
    await stores.profiles.record("q1", fact())
    await stores.profiles.add_interests("ann", "i1", {"rust": 4.0, "ocr": 1.0}, 10, NOW)
    come = [Counted("q1", "factual", "progress", NOW), Counted("q3", "conceptual", "none", NOW)]
    assert await stores.profiles.restore("ann", come, {"rust": 3.0, "ocr": 2.0, "tea": 0.5}, 2) == (1, 2)
    assert {(one.id, one.intent) for one in await stores.profiles.questions("ann")} == {
        ("q1", "factual"),
        ("q3", "conceptual"),
    }
    assert [(each.name, each.weight) for each in await stores.profiles.interests("ann", 1.0, 10)] == [
        ("rust", 4.0),
        ("ocr", 2.0),
    ]
    assert await stores.profiles.restore("ann", [], {}, 2) == (0, 0)


@pytest.mark.r("R-62")
async def test_forgotten_topics_leave_the_interests_and_the_recalls_and_stay_gone_for_what_was_before(stores):
    await stores.profiles.add_interests("ann", "i1", {"trip": 4.0, "ocr": 1.0}, 10, NOW)
    await stores.profiles.add_interests("an*", "i1", {"trip": 2.0}, 10, NOW)
    await stores.profiles.remember_topics("ann", "r1", ["trip", "ocr"], NOW)
    await stores.profiles.remember_topics("ann", "r2", ["ocr"], NOW)
    await stores.profiles.forget_topics("ann", ["trip", "never"], NOW)
    assert [each.name for each in await stores.profiles.interests("ann", 1.0, 10)] == ["ocr"]
    assert [each.name for each in await stores.profiles.interests("an*", 1.0, 10)] == ["trip"]
    assert [tuple(await stores.profiles.topics_of("ann", recall)) for recall in ("r1", "r2")] == [("ocr",), ("ocr",)]
    for place, at in enumerate((NOW - timedelta(seconds=1), NOW)):
        await stores.profiles.remember_topics("ann", "late", ["trip"], at)
        assert not await stores.profiles.add_interests("ann", f"late{place}", {"trip": 1.0}, 10, at)
    assert await stores.profiles.add_interests("ann", "half", {"trip": 1.0, "ocr": 1.0}, 10, NOW)
    assert tuple(await stores.profiles.topics_of("ann", "late")) == ()
    assert [(each.name, each.weight) for each in await stores.profiles.interests("ann", 1.0, 10)] == [("ocr", 2.0)]
    if stores.redis is not None:
        kept = [key async for key in stores.redis.scan_iter(match="memvault:profile:ann:*")]
        held = [await stores.redis.hgetall(key) for key in kept if await stores.redis.type(key) == b"hash"]
        assert held
        assert b"trip" not in repr(held).encode()
    again = NOW + timedelta(seconds=1)
    await stores.profiles.remember_topics("ann", "late", ["ocr", "trip"], again)
    assert tuple(await stores.profiles.topics_of("ann", "late")) == ("ocr", "trip")
    assert await stores.profiles.add_interests("ann", "again", {"trip": 3.0}, 10, again)
    assert [each.name for each in await stores.profiles.interests("ann", 1.0, 10)] == ["trip", "ocr"]


@pytest.mark.r("R-06", "R-62")
async def test_a_judgement_reaches_only_what_its_recall_is_still_known_to_be_about(stores):
    quoted = 'a "quoted" \\ 名/字'
    await stores.profiles.remember_topics("ann", "r1", [quoted, "ocr"], NOW)
    grown = {quoted: 2.0, "trip": 2.0}
    assert await stores.profiles.add_interests("ann", "i1", grown, 10, NOW, recall_id="r1")
    assert not await stores.profiles.add_interests("ann", "i2", {"trip": 2.0}, 10, NOW, recall_id="r1")
    assert not await stores.profiles.add_interests("ann", "i3", grown, 10, NOW, recall_id="unknown")
    assert [each.name for each in await stores.profiles.interests("ann", 1.0, 10)] == [quoted]


@pytest.mark.r("R-06", "R-62")
async def test_what_was_on_its_way_when_a_user_was_erased_leaves_nothing_and_who_comes_back_begins_anew(stores):
    later = NOW + timedelta(milliseconds=1)

    async def tell(user, at, event_id):
        told = Classified(user, "factual", "progress", 0.9, at, "r")
        await stores.profiles.remember_topics(user, "r", ["rust"], at)
        return (
            await stores.profiles.record(f"q-{event_id}", told),
            await stores.profiles.add_interests(user, f"i-{event_id}", {"rust": 2.0}, 10, at),
            await stores.profiles.add_interests(user, f"f-{event_id}", {"rust": 2.0}, 10, at, recall_id="r"),
        )

    async def known(user):
        return (
            len(await stores.profiles.questions(user)),
            [each.name for each in await stores.profiles.interests(user, 1.0, 10)],
            tuple(await stores.profiles.topics_of(user, "r")),
        )

    assert not await stores.profiles.erase("ann", NOW)
    for place, at in enumerate((NOW - timedelta(days=1), NOW - timedelta(milliseconds=1), NOW)):
        assert await tell("ann", at, place) == (False, False, False)
    assert await known("ann") == (0, [], ())
    if stores.redis is not None:
        left = [key async for key in stores.redis.scan_iter()]
        assert [await stores.redis.ttl(key) for key in left] == [pytest.approx(86_400, abs=60)]
        assert b"ann" not in b" ".join(left)
    assert await tell("bob", NOW, "b") == (True, True, True)
    assert await tell("ann", later, "new") == (True, True, True)
    assert await known("ann") == (1, ["rust"], ("rust",))
    assert await stores.profiles.erase("ann", NOW - timedelta(days=2))
    assert await tell("ann", NOW, "late") == (False, False, False), "an older erasure opens no door again"
    given = [Counted("old", "factual", "none", NOW - timedelta(days=3))]
    assert await stores.profiles.restore("ann", given, {"tea": 1.0}, 10) == (1, 1), "an import is no event of before"


@pytest.mark.r("R-62")
async def test_an_erasure_tells_up_to_when_it_was_carried_out(stores):
    assert not await stores.profiles.erased_since("ann", NOW)
    await stores.profiles.erase("ann", NOW)
    await stores.profiles.erase("ann", NOW - timedelta(hours=1))
    for seconds, done in ((-1, True), (0, True), (1, False)):
        assert await stores.profiles.erased_since("ann", NOW + timedelta(seconds=seconds)) is done
    assert not await stores.profiles.erased_since("ann.b", NOW)


@pytest.mark.r("R-62")
async def test_an_erasure_that_broke_off_bars_what_is_late_and_does_not_count_as_done(redis):
    profiles = RedisProfiles(RedisGuard(redis, timeout_s=5, rest_s=0), keep_days=90, seen_s=600)
    await profiles.record("q1", fact(days=1))

    def broken(*args, **kwargs):
        raise ConnectionError("cut off")

    scan, redis.scan_iter = redis.scan_iter, broken
    with pytest.raises(Fault):
        await profiles.erase("ann", NOW)
    redis.scan_iter = scan
    assert not await profiles.record("q2", fact(days=0.5))
    assert not await profiles.erased_since("ann", NOW)
    assert await profiles.erase("ann", NOW)
    assert await profiles.erased_since("ann", NOW)


@pytest.mark.r("R-04")
async def test_the_rate_of_overrulings_is_kept_and_moves_by_its_weight(stores):
    assert await stores.threshold.overruled_rate(0.4) == 0.4
    assert await stores.threshold.verdict(overruled=True, start=0.4, rate=0.1) == pytest.approx(0.46)
    assert await stores.threshold.overruled_rate(0.4) == pytest.approx(0.46)
    assert await stores.threshold.verdict(overruled=False, start=0.4, rate=0.5) == pytest.approx(0.23)


@pytest.mark.r("R-04")
async def test_verdicts_of_replicas_that_come_together_are_all_counted(stores):
    await asyncio.gather(*(stores.threshold.verdict(overruled=True, start=0.0, rate=0.1) for _ in range(20)))
    assert await stores.threshold.overruled_rate(0.0) == pytest.approx(1 - 0.9**20)


@pytest.fixture(params=["memory", "valkey", "file", "layered"])
async def archetypes(request, redis, tmp_path):
    far = RedisArchetypes(RedisGuard(redis, timeout_s=5, rest_s=0.5))
    return {
        "memory": MemoryArchetypes(),
        "valkey": far,
        "file": FileArchetypes(tmp_path / "archetypes"),
        "layered": LayeredArchetypes(FileArchetypes(tmp_path / "archetypes"), far),
    }[request.param]


ROWS = {"h1": np.array([0.25, -1.0], np.float32), "h2": np.array([1.0, 0.5], np.float32)}


@pytest.mark.r("R-02")
async def test_archetype_vectors_come_back_as_they_were_and_per_encoder(archetypes):
    await archetypes.keep("e5:q4:1", {"h1": ROWS["h1"]})
    await archetypes.keep("e5:q4:1", {"h2": ROWS["h2"]})
    found = await archetypes.load("e5:q4:1", ["h1", "h2", "h3"])
    assert sorted(found) == ["h1", "h2"]
    assert np.array_equal(found["h1"], ROWS["h1"])
    assert dict(await archetypes.load("e5:q4:2", ["h1"])) == {}


async def test_a_broken_archetype_file_is_as_good_as_none(tmp_path):
    (tmp_path / "e1.npz").write_bytes(b"not a zip file")
    files = FileArchetypes(tmp_path)
    assert dict(await files.load("e1", ["h1"])) == {}
    await files.keep("e1", ROWS)
    assert sorted(await files.load("e1", ["h1", "h2"])) == ["h1", "h2"]


async def test_a_folder_that_cannot_be_written_leaves_the_far_layer_to_serve(tmp_path):
    (tmp_path / "taken").write_text("a file")
    near, far = FileArchetypes(tmp_path / "taken" / "below"), MemoryArchetypes()
    with pytest.raises(Fault) as caught:
        await near.keep("e1", ROWS)
    assert "archetype_folder" in caught.value.message
    layered = LayeredArchetypes(near, far)
    await layered.keep("e1", ROWS)
    assert sorted(await layered.load("e1", ["h1", "h2"])) == ["h1", "h2"]


def stored(user="ann", schema=1):
    entry = prefetch_pb2.PrefetchEntry(schema=schema, user_id=user, query="q", query_hash="h", conditions="c")
    entry.expires_at.FromDatetime(NOW + timedelta(seconds=300))
    entry.answer.facet = "progress"
    entry.answer.cards.add(text="一張卡")
    return entry.SerializeToString()


@pytest.mark.r("R-54")
async def test_a_prepared_answer_is_found_by_user_and_hash_only(stores):
    await stores.put("ann", "h", stored(), pack_index_value(NOW.timestamp() + 300, [1.0, 0.0]))
    found = await stores.prepared.exact("ann", "h")
    assert (found.facet, found.texts, found.payload) == ("progress", ("一張卡",), stored())
    assert await stores.prepared.exact("bob", "h") is None
    assert await stores.prepared.exact("ann", "other") is None


@pytest.mark.r("R-54")
@pytest.mark.parametrize("payload", [b"\xff\xff\xff", stored(user="bob"), stored(schema=2)])
async def test_an_entry_that_is_unreadable_or_not_ours_is_none(stores, payload):
    await stores.put("ann", "h", payload, pack_index_value(NOW.timestamp() + 300, [1.0]))
    assert await stores.prepared.exact("ann", "h") is None


@pytest.mark.r("R-54")
async def test_the_index_holds_live_entries_of_the_user_only(stores):
    await stores.put("ann", "live", stored(), pack_index_value(NOW.timestamp() + 1, [0.5, 0.25]))
    await stores.put("ann", "dead", stored(), pack_index_value(NOW.timestamp() - 1, [1.0, 0.0]))
    found = await stores.prepared.index("ann", NOW)
    assert list(found) == ["live"]
    assert found["live"] == pytest.approx([0.5, 0.25])
    assert dict(await stores.prepared.index("bob", NOW)) == {}


@pytest.mark.r("R-44")
async def test_a_redis_that_is_away_is_a_fault_and_is_left_alone_for_a_while():
    client = Redis.from_url("redis://127.0.0.1:1/0")
    guard = RedisGuard(client, timeout_s=0.5, rest_s=60)
    threshold = RedisThreshold(guard)
    with pytest.raises(Fault) as first:
        await threshold.overruled_rate(0.5)
    with pytest.raises(Fault) as second:
        await threshold.overruled_rate(0.5)
    assert first.value.reason == second.value.reason == Reason.STORE_UNAVAILABLE
    assert "failed a moment ago" in second.value.message
    await client.aclose()


async def test_a_redis_that_hangs_costs_no_more_than_the_time_allowed():
    async def hang(reader, writer):
        await reader.read()
        writer.close()

    server = await asyncio.start_server(hang, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    client = Redis.from_url(f"redis://127.0.0.1:{port}/0")
    started = asyncio.get_running_loop().time()
    with pytest.raises(Fault):
        await RedisThreshold(RedisGuard(client, timeout_s=0.1, rest_s=60)).overruled_rate(0.5)
    assert asyncio.get_running_loop().time() - started < 1.0
    await client.aclose()
    server.close()


async def test_a_redis_that_came_back_is_used_again(redis):
    guard = RedisGuard(redis, timeout_s=5, rest_s=0.05)

    async def fail():
        raise ConnectionError("gone")

    with pytest.raises(Fault):
        await guard(fail)
    await asyncio.sleep(0.06)
    assert await RedisThreshold(guard).overruled_rate(0.5) == 0.5
