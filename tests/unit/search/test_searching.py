"""Searching: rankers, explanation, gate, rerank, time, filters, validity, and late scores on one scale."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import numpy as np
import pytest

from memvault.faults import Fault, Reason
from memvault_search.domain.block import Source, Triple
from memvault_search.domain.scoring.candidates import TimeRange
from memvault_search.ports import Reranked
from memvault_search.usecases.asking import Conditions, Found, Question, Reference
from tests.unit.search.conftest import NOW, House, note, turn

Ids = Callable[[Found], list[str]]
NO_CLAMP = {"profile": "reference"}


async def late(house: House, text: str, names: list[str], reference: Reference | None) -> Found:
    conditions = Conditions(now=house.clock.now(), explain=True)
    return await house.app.usecases.searching.score(Question("ann", text), conditions, names, reference, limit=100)


@pytest.mark.r("R-11a")
async def test_of_200_notes_that_differ_in_one_code_the_one_asked_for_is_first(house: House, ids: Ids) -> None:
    text = "The invoice of ticket PRJ-{} was approved by the finance team after the review."
    await house.write(*(note(f"n{code}", text.format(code)) for code in range(1000, 1200)))
    for profile in ("reference", "tuned"):
        for code in (1000, 1117, 1199):
            assert ids(await house.ask(f"what about PRJ-{code}?", profile=profile))[0] == f"n{code}"


@pytest.mark.r("R-10", "R-13")
async def test_an_explanation_tells_every_rank_and_its_factors_multiply_to_the_score(house: House) -> None:
    await house.write(*(turn(n, f"we talked about gardens and number{n}") for n in range(5)))
    for profile in ("reference", "tuned"):
        found = await house.ask("gardens number3", profile=profile, off=frozenset({"rerank"}))
        assert found.hits[0].stored.block.id == "turn-3"
        for hit in found.hits:
            assert hit.why is not None
            assert {place.ranker for place in hit.why.places} >= {"dense_self", "sparse_self", "dense_context"}
            product = hit.why.base * float(np.prod([stage.factor for stage in hit.why.stages]))
            assert hit.why.scoring == pytest.approx(product)
            votes = sum(place.contribution for place in hit.why.places)
            assert hit.why.fused == pytest.approx(votes)
            assert len([stage for stage in hit.why.stages if stage.stage != "Clamp"]) == 11


@pytest.mark.r("R-10")
async def test_the_votes_are_those_of_the_weights_in_force_and_add_up(house: House) -> None:
    await house.write(*(turn(n, f"we talked about gardens and number{n}") for n in range(5)))
    for more in ({"bare": True}, {"bare": True, "facet": "advice"}, {"text": "gardens and unheard wonders"}):
        asked: dict[str, Any] = {"text": "gardens number3", **more}
        found = await house.ask(**asked, include_candidates=True)
        for hit in found.candidates:
            assert hit.why is not None
            assert hit.why.fused == pytest.approx(sum(place.contribution for place in hit.why.places))


@pytest.mark.r("R-11b")
async def test_a_turn_is_found_by_what_was_said_before_it(house: House, ids: Ids) -> None:
    await house.write(
        turn(0, "how was the concert in Vienna?"),
        turn(1, "wonderful, we stayed until midnight"),
        turn(2, "glad to hear that"),
        note("other", "a walk by the river"),
    )
    found = await house.ask("concert Vienna", off=frozenset({"view:self"}))
    assert "turn-1" in ids(found)
    assert "turn-2" not in ids(await house.ask("concert Vienna", off=frozenset({"view:self", "ranker:dense_context"})))


@pytest.mark.r("R-11b")
async def test_a_new_turn_refreshes_the_context_of_the_turn_before_it(house: House, ids: Ids) -> None:
    words_only = frozenset({"view:self", "ranker:dense_context"})
    await house.write(turn(0, "what shall we cook?"))
    assert ids(await house.ask("lasagne", off=words_only)) == []
    await house.write(turn(1, "lasagne would be nice"))
    assert set(ids(await house.ask("lasagne", off=words_only))) == {"turn-0", "turn-1"}


@pytest.mark.r("R-11b")
async def test_a_single_note_has_no_context_view_and_in_tuned_its_own_text_stands_there(house: House) -> None:
    await house.write(note("a", "alone in the world"))
    places = {}
    for profile in ("reference", "tuned"):
        found = await house.ask("alone", profile=profile)
        assert found.hits[0].why is not None
        places[profile] = {place.ranker for place in found.hits[0].why.places}
    assert places["reference"] == {"dense_self", "sparse_self"}
    assert places["tuned"] == {"dense_self", "sparse_self", "dense_context", "sparse_context"}


@pytest.mark.r("R-12")
async def test_a_long_block_is_ranked_and_highlighted_by_its_best_passage(house: House) -> None:
    filler = "The committee discussed the budget and the schedule of the coming year. " * 40
    await house.write(note("long", f"{filler} The password hint is marmalade. {filler}"))
    found = await house.ask("marmalade hint")
    assert [hit.stored.block.id for hit in found.hits] == ["long"]
    assert "marmalade" in found.hits[0].highlight
    assert len(found.hits[0].highlight) < 1200


@pytest.mark.r("R-10")
async def test_views_and_rankers_can_be_switched_off(house: House) -> None:
    await house.write(*(turn(n, f"sentence {n}") for n in range(3)))
    off = frozenset({"view:context", "ranker:sparse_self"})
    found = await house.ask("sentence", off=off)
    assert found.hits[0].why is not None
    assert [place.ranker for place in found.hits[0].why.places] == ["dense_self"]


async def test_another_users_blocks_never_appear(house: House, ids: Ids) -> None:
    await house.write(note("mine", "secret plan"), note("theirs", "secret plan", user_id="bob"))
    assert ids(await house.ask("secret plan")) == ["mine"]
    assert ids(await house.ask("secret plan", user="bob")) == ["theirs"]
    assert ids(await house.ask("secret plan", user="nobody")) == []
    assert ids(await late(house, "secret plan", ["theirs"], None)) == []


async def test_filters_act_before_the_best_are_taken(house: House, ids: Ids) -> None:
    await house.write(
        note("chat", "tea", service="chat", tags=("hot",), conversation_id="c1"),
        note("mail", "tea", service="mail", source=Source("web"), event_time=NOW - timedelta(days=5)),
    )
    selection = Conditions(now=NOW).selection
    for change, wanted in (
        ({"services": ("mail",)}, ["mail"]),
        ({"tags": ("hot",)}, ["chat"]),
        ({"source_kinds": ("web", "agent")}, ["mail"]),
        ({"conversation_ids": ("c1",)}, ["chat"]),
        ({"event_start": NOW - timedelta(days=6), "event_end": NOW - timedelta(days=4)}, ["mail"]),
        ({"event_end": NOW - timedelta(days=5)}, []),
        ({"event_start": NOW - timedelta(days=4)}, ["chat"]),
        ({"services": ("mail",), "tags": ("hot",)}, []),
    ):
        assert ids(await house.ask("tea", selection=replace(selection, **change))) == wanted


@pytest.mark.r("R-07")
async def test_an_explicit_time_filters_and_a_vague_one_does_not(house: House, ids: Ids) -> None:
    await house.write(
        note("old", "planted a tree", event_time=NOW - timedelta(days=40)),
        note("new", "planted a tree", event_time=NOW - timedelta(days=2)),
    )
    week = TimeRange((NOW - timedelta(days=7)).timestamp(), NOW.timestamp())
    explicit = await house.ask("tree", time_range=week, time_explicit=True)
    assert (ids(explicit), explicit.time_filtered) == (["new"], True)
    vague = await house.ask("tree", time_range=week)
    assert (set(ids(vague)), vague.time_filtered) == ({"old", "new"}, False)


@pytest.mark.r("R-07", "R-17a")
async def test_a_note_without_an_event_time_is_found_by_when_it_was_recorded(house: House, ids: Ids) -> None:
    """Also by a question as of then, and among statements that replace one another."""
    lives = [Triple("Mei", "lives in", town) for town in ("Taipei", "Tainan")]
    await house.write(
        note("then", "planted a tree", recorded_at=NOW - timedelta(days=40)),
        note("late", "planted a tree", recorded_at=NOW - timedelta(days=2)),
        note("told late", "planted a tree", event_time=NOW - timedelta(days=90), recorded_at=NOW),
        note("home", "Mei lives in Taipei", recorded_at=NOW - timedelta(days=80), triples=(lives[0],)),
        note("moved", "Mei lives in Tainan", recorded_at=NOW - timedelta(days=3), triples=(lives[1],)),
    )
    week = TimeRange((NOW - timedelta(days=7)).timestamp(), NOW.timestamp())
    found = await house.ask("tree", time_range=week, time_explicit=True)
    assert (found.time_filtered, "late" in ids(found), {"then", "told late"} & set(ids(found))) == (True, True, set())
    notes = {stage.stage: stage.note for stage in found.hits[ids(found).index("late")].why.stages}
    assert notes.pop("RecencyBoost") == "no event time: by when it was recorded"
    assert set(notes.values()) == {""}
    as_of = ids(await house.ask("tree", as_of=NOW - timedelta(days=10)))
    assert ("then" in as_of, "late" in as_of, "moved" in as_of) == (True, False, False)
    month = TimeRange((NOW - timedelta(days=60)).timestamp(), (NOW - timedelta(days=30)).timestamp())
    lived = await house.ask("where did Mei live", time_range=month, time_explicit=True)
    assert "home" in ids(lived)
    assert "moved" not in ids(lived)


@pytest.mark.r("R-15")
async def test_two_candidates_are_not_reranked_and_many_different_ones_are(house: House) -> None:
    await house.write(note("a", "apple pie"), note("b", "apple tree in the garden"))
    assert [(one.part, one.reason) for one in (await house.ask("apple")).skipped] == [("rerank", "too_few")]
    await house.write(*(note(f"n{n}", f"apple word{n} " * (n + 1)) for n in range(8)))
    found = await house.ask("apple word3 word4 word5")
    assert found.reranked == len(house.reranker.asked[-1]) > 2
    assert found.skipped == ()


@pytest.mark.r("R-16")
@pytest.mark.parametrize("status", ["NO_MODEL", "BREAKER_OPEN", "TIMEOUT", "UNREACHABLE", "FAILED"])
async def test_without_a_rerank_the_scoring_order_stands_and_says_why(house: House, status: str, ids: Ids) -> None:
    await house.write(*(note(f"n{n}", f"apple word{n} " * (n + 1)) for n in range(8)))
    plain = await house.ask("apple word3 word4", off=frozenset({"rerank"}))
    house.reranker.status = Reranked(status)  # type: ignore[arg-type]
    found = await house.ask("apple word3 word4")
    assert [(one.part, one.reason) for one in found.degraded] == [("rerank", status)]
    assert ids(found) == ids(plain)
    assert [hit.score for hit in found.hits] == [hit.score for hit in plain.hits]


@pytest.mark.r("R-16")
async def test_a_rerank_is_blended_and_the_rest_stays_below(house: House, ids: Ids) -> None:
    await house.write(*(note(f"n{n:02}", f"apple word{n} " * (n + 1)) for n in range(30)))
    house.reranker.rule = lambda _, candidate: -float(candidate.signals["scoring"])
    found = await house.ask("apple word3 word4 word9", off=frozenset({"gate"}), limit=30)
    plain = await house.ask("apple word3 word4 word9", off=frozenset({"rerank"}), limit=30)
    assert found.reranked == 15
    assert set(ids(found)[:15]) == set(ids(plain)[:15])
    assert ids(found)[:15] != ids(plain)[:15]
    assert ids(found)[15:] == ids(plain)[15:]
    scores = [hit.score for hit in found.hits]
    assert scores == sorted(scores, reverse=True)
    assert all(0.0 <= score <= 1.0 for score in scores)


@pytest.mark.r("R-14")
@pytest.mark.parametrize("off", [frozenset({"rerank"}), frozenset({"gate"})])
@pytest.mark.parametrize("profile", ["reference", "tuned"])
async def test_a_block_scored_late_gets_the_score_it_already_had(
    house: House, off: frozenset[str], profile: str
) -> None:
    await house.write(*(note(f"n{n:02}", f"apple word{n} " * (n + 1)) for n in range(20)))
    first = await house.ask("apple word3 word4 word9", off=off, limit=100, profile=profile)
    known = {hit.stored.block.id: hit.score for hit in first.hits}
    conditions = Conditions(now=house.clock.now(), off=off, profile=profile)
    question = Question("ann", "apple word3 word4 word9")
    again = await house.app.usecases.searching.score(question, conditions, list(known), first.reference, limit=100)
    assert {hit.stored.block.id: hit.score for hit in again.hits} == known
    forgetful = replace(first.reference, scored={})
    if off == frozenset({"rerank"}):  # without memory of it, the frame alone leads to the same scores
        anew = await house.app.usecases.searching.score(question, conditions, list(known), forgetful, limit=100)
        assert {hit.stored.block.id: hit.score for hit in anew.hits} == {
            name: pytest.approx(score, abs=1e-6) for name, score in known.items()
        }


@pytest.mark.r("R-14")
async def test_late_scores_lie_between_0_and_1_and_blocks_beyond_the_lists_get_nothing(house: House) -> None:
    await house.write(*(note(f"n{n:02}", f"apple word{n} " * (n + 1)) for n in range(20)))
    first = await house.ask("apple word3", off=frozenset({"rerank"}), limit=2)
    await house.write(note("late", "a stone"), note("best", "apple word3"))
    found = await late(house, "apple word3", ["late", "best"], first.reference)
    scores = {hit.stored.block.id: hit.score for hit in found.hits}
    assert all(0.0 <= score <= 1.0 for score in scores.values())
    assert scores["best"] > scores.get("late", 0.0)


@pytest.mark.r("R-17")
async def test_nothing_relevant_is_flagged(house: House) -> None:
    await house.write(note("a", "the cat sat on the mat"), note("b", "rain in the afternoon"))
    assert (await house.ask("quarterly revenue of subsidiaries")).confidence == "low"
    assert (await house.ask("cat sat on the mat")).confidence == "high"
    assert (await house.ask("anything", user="nobody")).confidence == "low"


@pytest.mark.r("R-17a")
async def test_of_two_statements_the_current_one_comes_first_unless_the_past_is_asked_for(
    house: House, ids: Ids
) -> None:
    march, may = NOW - timedelta(days=300), NOW - timedelta(days=240)
    await house.write(
        note(
            "new", "Mei moved, she lives in Tainan now", event_time=may, triples=(Triple("Mei", "lives in", "Tainan"),)
        ),
        note("old", "Mei lives in Taipei", event_time=march, triples=(Triple("Mei", "Lives in", "Taipei"),)),
    )
    old = await house.get("old")
    assert (old.superseded_by, old.valid_to) == ("new", may)
    assert (await house.get("new")).superseded_by == ""
    assert ids(await house.ask("where lives Mei Taipei"))[0] == "new"
    then = TimeRange(march.timestamp(), (march + timedelta(days=20)).timestamp())
    assert ids(await house.ask("where lives Mei Taipei", time_range=then, time_explicit=True))[0] == "old"
    between = TimeRange((march + timedelta(days=30)).timestamp(), (march + timedelta(days=40)).timestamp())
    assert ids(await house.ask("where lives Mei", time_range=between, time_explicit=True)) == ["old"]
    assert ids(await house.ask("where lives Mei", as_of=march + timedelta(days=1))) == ["old"]


@pytest.mark.r("R-17a")
async def test_a_predicate_with_many_objects_contradicts_nothing(house: House) -> None:
    await house.write(
        note("a", "Mei likes tea", event_time=NOW - timedelta(2), triples=(Triple("Mei", "likes", "tea"),)),
        note("b", "Mei likes cake", event_time=NOW, triples=(Triple("Mei", "likes", "cake"),)),
    )
    assert (await house.get("a")).superseded_by == ""


@pytest.mark.r("R-17a", "R-62")
async def test_when_the_newer_statement_is_forgotten_the_older_holds_again(house: House) -> None:
    await house.write(
        note("a", "at A", event_time=NOW - timedelta(3), triples=(Triple("box", "located at", "A"),)),
        note("b", "at B", event_time=NOW - timedelta(2), triples=(Triple("box", "located at", "B"),)),
        note("c", "at C", event_time=NOW - timedelta(1), triples=(Triple("box", "located at", "C"),)),
    )
    assert [(await house.get(name)).superseded_by for name in "abc"] == ["b", "c", ""]
    await house.app.usecases.forgetting.forget("ann", block_ids=["b"])
    assert [(await house.get(name)).superseded_by for name in "ac"] == ["c", ""]
    await house.app.usecases.forgetting.forget("ann", block_ids=["c"])
    assert ((await house.get("a")).superseded_by, (await house.get("a")).valid_to) == ("", None)


@pytest.mark.r("R-09")
async def test_recollections_come_by_conversation_newest_first(house: House, ids: Ids) -> None:
    def said(name: str, talk: str, days: int) -> None:
        blocks.append(note(name, "music", conversation_id=talk, event_time=NOW - timedelta(days=days)))

    blocks: list = []  # type: ignore[type-arg]
    for name, talk, days in (("a1", "a", 9), ("b1", "b", 1), ("a2", "a", 8), ("b2", "b", 2)):
        said(name, talk, days)
    await house.write(*blocks)
    found = await house.ask("music", grouping="conversation", off=frozenset({"stage:PairwiseDedup"}))
    assert ids(found) == ["b1", "b2", "a2", "a1"]


@pytest.mark.r("R-54")
async def test_a_prepared_pool_takes_in_what_was_written_since_and_names_what_changed(house: House) -> None:
    await house.write(note("a", "pear one"), note("b", "pear two"), note("c", "pear three"))
    version = (await house.app.vaults.of("ann")).write_version
    await house.write(note("d", "pear four"), note("b", "pear two, corrected"))
    await house.app.usecases.forgetting.forget("ann", block_ids=["c"])
    preparing = house.app.usecases.preparing
    names, changed = await preparing.pool("ann", [], {"a": 1, "b": 1, "c": 1}, since=version)
    assert set(names) >= {"a", "b", "d"}
    assert changed == ["b", "c"]


async def test_an_unknown_profile_is_refused(house: House) -> None:
    with pytest.raises(Fault) as caught:
        await house.ask("x", profile="wild")
    assert caught.value.reason == Reason.FIELD_INVALID


async def test_an_empty_vault_answers_with_nothing_and_low_confidence(house: House) -> None:
    found = await house.ask("anything at all")
    assert (found.hits, found.found, found.write_version) == ((), 0, 0)


@pytest.mark.r("R-07")
async def test_a_time_in_which_nothing_happened_narrows_nothing_and_the_answer_says_so(house: House, ids: Ids) -> None:
    await house.write(note("old", "planted a tree", event_time=NOW - timedelta(days=40)))
    week = TimeRange((NOW - timedelta(days=7)).timestamp(), NOW.timestamp())
    found = await house.ask("tree", time_range=week, time_explicit=True)
    assert (ids(found), found.time_filtered) == (["old"], False)
    assert ("time_filter", "nothing_in_range") in [(one.part, one.reason) for one in found.skipped]


@pytest.mark.r("R-09")
async def test_a_question_without_a_subject_finds_what_is_recent(house: House, ids: Ids) -> None:
    await house.write(
        *(note(f"day{days}", f"subject{days}", event_time=NOW - timedelta(days=days)) for days in (1, 2, 3, 50)),
        *(turn(n, f"chatter {n}") for n in range(3)),
    )
    found = await house.ask("what is new", bare=True, limit=3, off=frozenset({"stage:PairwiseDedup"}))
    assert ids(found)[0] == "day1"
    assert ("rerank", "no_subject") in [(one.part, one.reason) for one in found.skipped]
    assert found.hits[0].why is not None
    assert "recent" in {place.ranker for place in found.hits[0].why.places}
    recalled = await house.ask(
        "what did we talk about", bare=True, facet="recollection", grouping="conversation", limit=3
    )
    assert ids(recalled) == ["turn-2", "turn-1", "turn-0"]
    week = TimeRange((NOW - timedelta(days=7)).timestamp(), NOW.timestamp())
    assert "day50" not in ids(await house.ask("what is new", bare=True, time_range=week))
    conditions = Conditions(now=NOW, off=frozenset({"stage:PairwiseDedup"}))
    question = Question("ann", "what is new", bare=True)
    late = await house.app.usecases.searching.score(
        question, conditions, ["day2"], replace(found.reference, scored={}), limit=5
    )
    assert late.hits[0].score == pytest.approx(found.reference.scored["day2"], abs=0.02)


@pytest.mark.r("R-17")
@pytest.mark.parametrize(
    ("question", "confidence"),
    [
        ("which server is srv-0024 for the billing database", "high"),
        ("which server is SRV0024 for the billing database", "high"),
        ("which server is srv-0042 for the billing database", "medium"),
        ("伺服器srv-0042是 billing database server 嗎", "medium"),
        ("which server of srv-0042 and srv-0024 is for the billing database", "high"),
        ("which billing database server is v2.4.1", "high"),
        ("which billing database server is v2.4.2", "medium"),
        ("Q3 billing database server version srv 0024", "high"),
        ("2026-11-29 billing database server version srv 0024", "high"),
    ],
)
async def test_no_answer_is_sure_that_is_after_a_code_which_no_memory_holds(
    house: House, question: str, confidence: str
) -> None:
    await house.write(
        note("a", "srv-0024 is the billing database server, version 2.4.1"),
        note("b", "srv-0031 is the mail server"),
        note("c", "the cat sat on the mat"),
    )
    assert (await house.ask(question)).confidence == confidence


@pytest.mark.r("R-07", "R-17")
async def test_a_question_about_a_time_without_memories_is_answered_without_confidence(house: House) -> None:
    await house.write(note("old", "planted a tree", event_time=NOW - timedelta(days=40)))
    week = TimeRange((NOW - timedelta(days=7)).timestamp(), NOW.timestamp())
    asked: dict[str, Any] = {"text": "what did I do", "bare": True, "time_explicit": True}
    assert (await house.ask(**asked, time_range=week)).confidence == "low"
    month = TimeRange((NOW - timedelta(days=60)).timestamp(), NOW.timestamp())
    assert (await house.ask(**asked, time_range=month)).confidence == "medium"


@pytest.mark.r("R-09", "R-10")
async def test_the_reference_profile_asks_a_question_without_a_subject_like_any_other(house: House, ids: Ids) -> None:
    await house.write(*(note(f"day{n}", f"new subject{n}", event_time=NOW - timedelta(days=n)) for n in range(5)))
    found = await house.ask("what is new", bare=True, profile="reference")
    plain = await house.ask("what is new", profile="reference")
    assert (ids(found), found.confidence, found.skipped) == (ids(plain), plain.confidence, plain.skipped)
    assert [hit.score for hit in found.hits] == [hit.score for hit in plain.hits]
    assert "recent" in {
        place.ranker
        for hit in (await house.ask("what is new", bare=True, profile="tuned")).hits
        if hit.why
        for place in hit.why.places
    }


@pytest.mark.r("R-09")
async def test_grouping_does_not_lift_what_hardly_fits(house: House, ids: Ids) -> None:
    await house.write(
        note("fits", "violin lessons with Ada", conversation_id="a", event_time=NOW - timedelta(days=9)),
        note("fits too", "the violin lessons are on Monday", conversation_id="c", event_time=NOW - timedelta(days=8)),
        note("hardly", "bought some bread", conversation_id="b", event_time=NOW - timedelta(days=1)),
    )
    assert ids(await house.ask("violin lessons", grouping="conversation"))[-1] == "hardly"
