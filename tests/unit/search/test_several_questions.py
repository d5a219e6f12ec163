"""A text that asks several things is looked for part by part (R-10, R-14, R-20)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from memvault.faults import Fault, Reason
from memvault_search.ports import RerankCandidate, Reranked
from memvault_search.usecases.asking import Conditions, Found, Question
from memvault_search.usecases.finishing import best_of
from tests.unit.search.conftest import House, note, turn

Ids = Callable[[Found], list[str]]
NO_RERANK = frozenset({"rerank"})
TEXT = "Where is the violin workshop? Also, what colour are Bob's garden chairs?"
PARTS = ("Where is the violin workshop?", "what colour are Bob's garden chairs?")


async def notes(house: House) -> None:
    await house.write(
        note("violin", "the violin workshop is in Cremona"),
        note("chairs", "Bob's garden chairs are green"),
        note("neither", "a workshop with chairs"),
        note("tea", "tea tastes best in the afternoon"),
    )


def places(found: Found, block_id: str) -> dict[str, float]:
    (hit,) = (hit for hit in found.hits if hit.stored.block.id == block_id)
    assert hit.why is not None
    return {place.ranker: place.contribution for place in hit.why.places if place.contribution}


@pytest.mark.r("R-10")
async def test_what_answers_one_part_stands_above_what_touches_both(house: House, ids: Ids) -> None:
    await notes(house)
    found = await house.ask(TEXT, off=NO_RERANK)
    assert found.parts == PARTS
    assert set(ids(found)[:2]) == {"violin", "chairs"}
    assert {name[-2:] for name in places(found, "violin")} == {"#1"}
    assert {name[-2:] for name in places(found, "chairs")} == {"#2"}


@pytest.mark.r("R-10")
async def test_a_text_is_asked_as_it_is_in_the_reference_profile_switched_off_without_a_subject_and_completed(
    house: House,
) -> None:
    await notes(house)
    follow_up = (await house.encoder.embed(["and the chairs?"], "query")).vectors[0]
    for more in (
        {"profile": "reference"},
        {"off": NO_RERANK | {"parts"}},
        {"bare": True},
        {"follow_up_vector": follow_up},  # completed by what was asked before, which is no part of it
    ):
        found = await house.ask(TEXT, **more)
        assert found.parts == ()
        assert not any("#" in name for name in places(found, "violin"))


@pytest.mark.r("R-10")
async def test_switching_a_ranker_off_switches_it_off_for_every_part(house: House) -> None:
    await notes(house)
    found = await house.ask(TEXT, off=NO_RERANK | {"ranker:sparse_self", "ranker:sparse_context"})
    names = {name.partition("#")[0] for one in ("violin", "chairs") for name in places(found, one)}
    assert names == {"dense_self", "dense_context"}


@pytest.mark.r("R-10")
async def test_each_part_has_its_own_speaker(house: House) -> None:
    await house.write(
        *(
            turn(n, f"the {what} was wonderful", speaker=who)
            for n, (what, who) in enumerate(
                [("concert", "Ann"), ("concert", "Bob"), ("lasagne", "Ann"), ("lasagne", "Bob")]
            )
        )
    )
    found = await house.ask("How did Ann like the concert? Also, how did Bob like the lasagne?", off=NO_RERANK)
    assert "speaker#1" in places(found, "turn-0")
    assert "speaker#2" in places(found, "turn-3")
    assert "speaker#2" not in places(found, "turn-2")


@pytest.mark.r("R-14")
async def test_a_block_that_comes_late_is_placed_by_the_parts_too(house: House) -> None:
    await notes(house)
    first = await house.ask(TEXT, off=NO_RERANK)
    known = {hit.stored.block.id: hit.score for hit in first.hits}
    forgetful = replace(first.reference, scored={})
    conditions = Conditions(now=house.clock.now(), off=NO_RERANK)
    again = await house.app.usecases.searching.score(Question("ann", TEXT), conditions, ["chairs"], forgetful, limit=9)
    assert again.hits[0].score == pytest.approx(known["chairs"], abs=1e-6)


@pytest.mark.r("R-20")
async def test_the_reranker_reads_every_part_and_the_best_of_its_scores_counts(house: House, ids: Ids) -> None:
    await notes(house)
    queries: set[str] = set()

    def rule(query: str, candidate: RerankCandidate) -> float:
        queries.add(query)
        return float(candidate.id == ("tea" if query == PARTS[1] else "neither"))

    house.reranker.rule = rule
    found = await house.ask(TEXT, off=frozenset({"gate"}))
    assert queries == set(PARTS)
    why = {hit.stored.block.id: hit.why.rerank for hit in found.hits if hit.why is not None}
    assert (why["tea"], why["neither"], why["violin"]) == (1.0, 1.0, 0.0)


@pytest.mark.r("R-14")
async def test_a_block_that_comes_late_is_reranked_by_the_parts_on_the_first_lists_scale(house: House) -> None:
    await notes(house)
    best = {PARTS[0]: {"violin": 0.9, "neither": 0.5}, PARTS[1]: {"chairs": 0.4, "neither": 0.1}}
    house.reranker.rule = lambda query, candidate: best[query].get(candidate.id, 0.0)
    first = await house.ask(TEXT, off=frozenset({"gate"}))
    assert first.reference.rerank_lifts == pytest.approx((0.0, 0.5))
    known = {hit.stored.block.id: hit.score for hit in first.hits}
    forgetful = replace(first.reference, scored={})
    conditions = Conditions(now=house.clock.now(), off=frozenset({"gate"}))
    for names in (["chairs"], ["neither", "tea"]):
        again = await house.app.usecases.searching.score(Question("ann", TEXT), conditions, names, forgetful, limit=9)
        assert {hit.stored.block.id: hit.score for hit in again.hits} == {
            name: pytest.approx(known[name], abs=1e-6) for name in names
        }


@pytest.mark.r("R-44")
async def test_when_the_parts_cannot_be_embedded_the_whole_is_asked_and_the_answer_says_so(house: House) -> None:
    await notes(house)
    whole = (await house.encoder.embed([TEXT], "query")).vectors[0]
    house.encoder.outage = Fault(Reason.DEADLINE_EXCEEDED, "no time")
    found = await house.ask(TEXT, vector=whole, off=NO_RERANK)
    assert found.parts == ()
    assert [(one.part, one.reason) for one in found.degraded] == [("parts", "DEADLINE_EXCEEDED")]
    assert found.hits


def test_a_rerank_of_which_one_part_failed_is_none() -> None:
    late = Reranked("TIMEOUT", detail="slow")
    assert best_of([Reranked("OK", {"a": 1.0}), late]) == (late, ())


def test_each_parts_best_has_the_rerank_score_of_the_best_of_all() -> None:
    one = Reranked("OK", {"a": 0.1, "b": 0.9}, {"a": 0.2}, "m")
    other = Reranked("OK", {"a": 0.4, "b": 0.3}, {"a": 0.1, "b": 0.5}, "m")
    together, lifts = best_of([one, other])
    assert lifts == (0.0, 0.5)
    assert together.scores == pytest.approx({"a": 0.9, "b": 0.9})
    assert together.relevance == {"a": 0.2, "b": 0.5}
    assert best_of([one, other], lifts=(0.0, 0.1))[0].scores == pytest.approx({"a": 0.5, "b": 0.9})
    assert best_of([one]) == (one, ())
