"""A reply to a question counts with what the question was about (R-10)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from memvault_search.domain.fusion import FusionNumbers, Ranking, fuse
from memvault_search.domain.replies import REPLY, Replies, Reply, with_replies
from memvault_search.usecases.asking import Found, Hit
from memvault_search.usecases.readings import readings_of
from tests.unit.search.conftest import House, note, turn

Ids = Callable[[Found], list[str]]
NO_RERANK = frozenset({"rerank", "ranker:speaker"})
CONVEX = FusionNumbers("convex", 10, "all_sides", 0.1, 0.05, 0.5)
ASKED = "what inspired Ann to join the march for veterans?"


async def talk(house: House, question: str = "what made you join?", **more: str) -> None:
    await house.write(
        turn(0, "last week I took part in the march for veterans", speaker="Ann"),
        turn(1, question, speaker="Bob"),
        turn(2, "respect has always been with me, they gave much", speaker=more.get("answers", "Ann")),
        turn(3, "now for something else: my garden is full of weeds", speaker="Bob"),
        turn(4, "mine too, and the lasagne burns", speaker="Ann"),
        note("fair", "the fair for veterans begins at nine"),
        note("tea", "tea tastes best in the afternoon"),
    )


def hit_of(found: Found, block_id: str) -> Hit:
    (hit,) = (hit for hit in found.hits if hit.stored.block.id == block_id)
    return hit


def votes(found: Found, block_id: str) -> dict[str, float]:
    why = hit_of(found, block_id).why
    assert why is not None
    return {place.ranker: place.contribution for place in why.places}


@pytest.mark.r("R-10")
async def test_the_answer_to_a_question_about_something_is_found_with_it_and_the_explanation_says_why(
    house: House, ids: Ids
) -> None:
    await talk(house)
    found = await house.ask(ASKED, off=NO_RERANK)
    without = await house.ask(ASKED, off=NO_RERANK | {"ranker:reply"})
    assert ids(found)[0] == ids(without)[0] == "turn-0"
    assert ids(found).index("turn-2") < ids(without).index("turn-2")
    assert REPLY in votes(found, "turn-2")
    assert all(REPLY not in votes(found, other) for other in ("turn-0", "turn-1", "turn-3", "turn-4", "fair"))
    said, reply = hit_of(found, "turn-0").why, hit_of(found, "turn-2").why
    assert said is not None
    assert reply is not None
    assert reply.base == pytest.approx(0.9 * said.base)
    assert sum(votes(found, "turn-2").values()) == pytest.approx(reply.fused)
    assert next(one.score for one in reply.places if one.ranker == REPLY) == pytest.approx(reply.fused)


@pytest.mark.r("R-10")
@pytest.mark.parametrize(
    ("question", "answers", "profile"),
    [
        ("I would never join.", "Ann", "tuned"),
        ("what made you join?", "Cem", "tuned"),
        ("what made you join?", "Ann", "reference"),
    ],
)
async def test_a_statement_another_speaker_and_the_reference_profile_know_no_replies(
    house: House, question: str, answers: str, profile: str
) -> None:
    await talk(house, question, answers=answers)
    found = await house.ask(ASKED, off=NO_RERANK, profile=profile)
    assert all(REPLY not in votes(found, hit.stored.block.id) for hit in found.hits)


async def test_a_long_turn_leans_less_and_the_first_turns_and_notes_on_nothing(house: House) -> None:
    await talk(house, "什麼讓你加入？")
    await house.write(turn(6, "who else was there?", speaker="Bob"), turn(7, "尊重" * 120, speaker="Ann"))
    vault = await house.app.vaults.of("ann")
    replies = Replies(vault.get, vault.sessions, 240)
    assert replies.of("turn-2") == Reply("turn-0", 1.0)
    assert replies.of("turn-7") == Reply("turn-4", 0.5)
    assert [replies.of(one) for one in ("turn-0", "turn-1", "turn-3", "turn-4", "tea", "nobody")] == [None] * 6


async def test_the_reranker_reads_a_reply_with_what_it_goes_on_with(house: House) -> None:
    await talk(house)
    vault = await house.app.vaults.of("ann")
    rows = [vault.require_row(f"turn-{number}") for number in range(5)]
    slots = [vault.slots_of(row)[0] for row in rows]
    points = [vault.point_of(slot) for slot in slots]
    replies = Replies(vault.get, vault.sessions, 240)
    reading = readings_of(vault, rows, slots, among_neighbours=True, replies=replies)
    assert reading(2) == tuple(points[:4])
    assert reading(3) == tuple(points[2:5])
    assert readings_of(vault, rows, slots, among_neighbours=True)(2) == tuple(points[1:4])


def test_nothing_is_lowered_and_nothing_passed_on_twice() -> None:
    ids = ("a", "b", "c", "d")
    fused = fuse([Ranking("dense_self", "dense", ids, np.array([1.0, 0.6, 0.2, 0.97]), 9)], CONVEX)
    links = {"b": Reply("a", 1.0), "c": Reply("b", 1.0), "d": Reply("a", 1.0), "a": Reply("gone", 1.0)}
    after, raised = with_replies(fused, links.get, 0.9)
    before = dict(zip(fused.ids, fused.score.tolist(), strict=True))
    now = dict(zip(after.ids, after.score.tolist(), strict=True))
    assert now["a"] == before["a"]
    assert now["d"] == before["d"] > 0.9
    assert now["b"] == pytest.approx(0.9 * before["a"])
    assert now["c"] == pytest.approx(0.9 * before["b"])
    assert now["c"] > before["c"]
    assert raised == {"b": now["b"], "c": now["c"]}
    assert list(after.score) == sorted(after.score, reverse=True)
    assert after.votes.sum(axis=1) == pytest.approx(after.score)
    assert after.ranks_of(after.ids.index("c"))[REPLY] == 2
    assert REPLY not in after.ranks_of(after.ids.index("d"))
    same, none = with_replies(fused, {}.get, 0.9)
    assert same is fused
    assert none == {}
