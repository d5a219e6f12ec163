"""What all of a vault has in common tells none of it apart (R-10)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from memvault_search.domain.similarity import EncoderMeans, scale_of_centred
from memvault_search.ports import RankedPoints, Ranker
from memvault_search.usecases.apart import without_common
from memvault_search.usecases.asking import Found
from tests.unit.search.conftest import House, note, turn

Ids = Callable[[Found], list[str]]
DENSE = frozenset({"rerank", "ranker:sparse_self", "ranker:sparse_context", "ranker:dense_context", "stage:Semantic"})
COMMON = "Bart was happy happy happy"


async def notes(house: House) -> None:
    await house.write(*(note(f"other-{number}", f"{COMMON} thing{number}") for number in range(20)))
    await house.write(note("snow", "snow on the long way home from the mountain school"))


def first_score(found: Found, block_id: str, ranker: str = "dense_self") -> float:
    (hit,) = (hit for hit in found.hits if hit.stored.block.id == block_id)
    assert hit.why is not None
    return next(place.score for place in hit.why.places if place.ranker == ranker)


@pytest.mark.r("R-10")
async def test_what_every_note_says_no_longer_hides_the_one_that_says_something_else(house: House, ids: Ids) -> None:
    await notes(house)
    text = "Bart was happy to see snow on his way home"
    assert ids(await house.ask(text, off=DENSE))[0] == "snow"
    kept = await house.ask(text, off=DENSE | {"common"})
    assert ids(kept)[0] != "snow"
    reference = await house.ask(text, off=DENSE, profile="reference", limit=30)
    assert first_score(reference, "snow") == pytest.approx(
        first_score(await house.ask(text, off=DENSE | {"common"}, limit=30), "snow")
    )


async def test_a_vault_of_two_notes_is_ordered_as_by_the_question_alone(house: House) -> None:
    await house.write(note("snow", "snow on the way home"), note("tea", "tea tastes best in the afternoon"))
    found = await house.ask("snow at home", off=DENSE)
    alone = await house.ask("snow at home", off=DENSE | {"common"})
    assert [hit.stored.block.id for hit in found.hits] == [hit.stored.block.id for hit in alone.hits] == ["snow", "tea"]


async def test_the_mean_follows_what_is_written_and_forgotten(house: House) -> None:
    await notes(house)
    vault = await house.app.vaults.of("ann")
    slots = [vault.slots_of(vault.require_row(one.block.id))[0] for one in vault.blocks()]
    assert vault.common == pytest.approx(vault.vectors_of(slots).mean(axis=0), abs=1e-6)
    await house.write(note("snow", "an other text altogether"))
    await house.app.usecases.forgetting.forget("ann", block_ids=[f"other-{number}" for number in range(19)])
    left = [vault.slots_of(vault.require_row(one.block.id))[0] for one in vault.blocks()]
    assert len(left) == 2
    assert vault.common == pytest.approx(vault.vectors_of(left).mean(axis=0), abs=1e-6)


async def test_the_new_scores_lie_where_cosines_lie_so_that_notes_and_turns_share_the_context_list(
    house: House,
) -> None:
    await notes(house)
    await house.write(turn(0, "rain all day", speaker="Ann"), turn(1, "snow tomorrow", speaker="Bob"))
    means = []
    for off in (frozenset({"rerank"}), frozenset({"rerank", "common"})):
        found = await house.ask("snow on the way home", off=off, limit=30)
        names = [hit.stored.block.id for hit in found.hits]
        assert len(names) == 23
        means.append(np.mean([first_score(found, name) for name in names]))
        assert first_score(found, "snow", "dense_context") == first_score(found, "snow")
    assert means[0] == pytest.approx(means[1], abs=1e-5)


async def test_only_lists_of_a_questions_meaning_are_scored_anew(house: House) -> None:
    await notes(house)
    vault = await house.app.vaults.of("ann")
    points = RankedPoints(tuple(vault.places), np.linspace(0.9, 0.1, len(vault.places)))
    vector = house.encoder.direction("snow")
    rankers = [Ranker(name, "self", vector, 100) for name in ("hyde", "dense_self#2")]
    found = {"hyde": points, "dense_self#2": RankedPoints((*points.point_ids, "gone"), np.append(points.scores, 0.0))}
    after = without_common(rankers, found, vault, house.encoder.means, 20)
    assert after["hyde"] is points
    assert set(after["dense_self#2"].point_ids) == set(points.point_ids)
    assert list(after["dense_self#2"].scores) == sorted(after["dense_self#2"].scores, reverse=True)
    assert vault.places[after["dense_self#2"].point_ids[0]].block_id == "snow"


def test_raw_cosines_spread_less_the_more_all_vectors_have_in_common() -> None:
    zero, most = np.zeros(4, np.float32), np.full(4, 0.4, np.float32)
    assert scale_of_centred(EncoderMeans("a", zero, zero, zero)) == 1.0
    assert scale_of_centred(EncoderMeans("a", most, most, zero)) == pytest.approx(1.0 - 0.64)
