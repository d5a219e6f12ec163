"""The ranker of what the asked speaker said (R-10), and the reranker that reads a turn among its neighbours (R-20)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from memvault_search.usecases.asking import Conditions, Found, Question
from memvault_search.usecases.finishing import joined
from memvault_search.usecases.readings import readings_of
from tests.unit.search.conftest import House, note, turn

Ids = Callable[[Found], list[str]]
NO_RERANK = frozenset({"rerank"})


async def talk(house: House) -> None:
    await house.write(
        turn(0, "the concert in Vienna was wonderful", speaker="Bob"),
        turn(1, "the concert in Vienna was wonderful", speaker="Ann"),
        turn(2, "we should cook lasagne", speaker="Bob"),
    )


def rankers(found: Found, block_id: str) -> set[str]:
    (hit,) = (hit for hit in found.hits if hit.stored.block.id == block_id)
    assert hit.why is not None
    return {place.ranker for place in hit.why.places}


@pytest.mark.r("R-10")
async def test_of_two_equal_turns_the_asked_speakers_is_first_and_the_explanation_says_why(
    house: House, ids: Ids
) -> None:
    await talk(house)
    for name, first in (("Ann", "turn-1"), ("Bob", "turn-0")):
        found = await house.ask(f"what did {name} say of the concert in Vienna?", off=NO_RERANK)
        assert ids(found)[0] == first
        assert "speaker" in rankers(found, first)
    assert "speaker" not in rankers(found, "turn-1")


@pytest.mark.r("R-10")
async def test_the_reference_profile_does_not_ask_who_said_it_and_the_tuned_one_need_not(house: House) -> None:
    await talk(house)
    question = "what did Ann say of the concert in Vienna?"
    for more in ({"profile": "reference"}, {"off": NO_RERANK | {"ranker:speaker"}}, {"bare": True}):
        assert "speaker" not in rankers(await house.ask(question, **more), "turn-1")


@pytest.mark.r("R-10")
async def test_when_one_person_said_everything_who_said_it_tells_nothing_apart(house: House) -> None:
    await house.write(*(turn(n, f"the garden number{n}", speaker="Ann") for n in range(3)))
    assert "speaker" not in rankers(await house.ask("Ann's garden number1", off=NO_RERANK), "turn-1")


@pytest.mark.r("R-14")
async def test_a_block_that_comes_late_is_placed_by_who_said_it_too(house: House) -> None:
    await talk(house)
    text = "what did Ann say of the concert in Vienna?"
    first = await house.ask(text, off=NO_RERANK)
    known = {hit.stored.block.id: hit.score for hit in first.hits}
    forgetful = replace(first.reference, scored={})
    conditions = Conditions(now=house.clock.now(), off=NO_RERANK)
    for names in (list(known), ["turn-1"]):
        again = await house.app.usecases.searching.score(Question("ann", text), conditions, names, forgetful, limit=9)
        assert {hit.stored.block.id: hit.score for hit in again.hits} == {
            name: pytest.approx(known[name], abs=1e-6) for name in names
        }


@pytest.mark.r("R-20")
async def test_the_reranker_reads_a_turn_among_its_neighbours_and_a_note_alone(house: House) -> None:
    await talk(house)
    await house.write(note("alone", "a walk by the river"))
    vault = await house.app.vaults.of("ann")
    names = ["turn-0", "turn-1", "alone"]
    rows = [vault.require_row(name) for name in names]
    slots = [vault.slots_of(row)[0] for row in rows]
    own = {name: vault.point_of(slot) for name, slot in zip(names, slots, strict=True)}
    last = vault.point_of(vault.slots_of(vault.require_row("turn-2"))[0])
    among = readings_of(vault, rows, slots, among_neighbours=True)
    assert among(0) == (own["turn-0"], own["turn-1"])
    assert among(1) == (own["turn-0"], own["turn-1"], last)
    assert among(2) == (own["alone"],)
    assert readings_of(vault, rows, slots, among_neighbours=False)(1) == (own["turn-1"],)
    tokens = await house.app.index.token_vectors("ann", [*own.values(), last])
    (read,) = joined(among(1), own["turn-1"], tokens)
    assert len(read) == sum(len(tokens[point][0]) for point in among(1))
    assert joined(among(2), own["alone"], tokens) == tokens[own["alone"]]
    assert joined(among(1), own["turn-1"], {}) == ()
