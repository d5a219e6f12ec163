"""Stage 5 counts where BM25 does not allow for length already (R-13a)."""

from __future__ import annotations

import pytest

from memvault.runtime.settings import load
from memvault_search.settings import SearchSettings
from memvault_search.usecases.asking import Found, Part, Question
from memvault_search.usecases.rankers import known_share_of
from tests.unit.search.conftest import House, note

TEXT = "the violin workshop in Cremona opens at nine"


def length_factor(found: Found) -> float:
    (hit,) = (hit for hit in found.hits if hit.stored.block.id == "violin")
    assert hit.why is not None
    return next(one.factor for one in hit.why.stages if one.stage == "LengthNorm")


async def notes(house: House) -> None:
    await house.write(note("violin", TEXT), note("tea", "tea tastes best in the afternoon"))


@pytest.mark.r("R-13a")
async def test_a_question_whose_words_are_all_known_leaves_length_to_them_and_one_of_unknown_words_to_the_stage(
    house: House,
) -> None:
    await notes(house)
    known = length_factor(await house.ask("violin workshop"))
    half = length_factor(await house.ask("violin xylophone"))
    unknown = length_factor(await house.ask("xylophone zither"))
    assert known == 1.0
    assert unknown < half < known
    assert unknown == length_factor(await house.ask("violin workshop", profile="reference"))


@pytest.mark.r("R-13a")
async def test_a_question_without_a_subject_is_scored_by_length_as_ever(house: House) -> None:
    await notes(house)
    assert length_factor(await house.ask("violin workshop", bare=True)) == length_factor(
        await house.ask("xylophone zither")
    )


async def test_of_a_question_in_parts_the_mean_of_their_shares_counts(house: House) -> None:
    await notes(house)
    vault = await house.app.vaults.of("ann")
    parts = (Part("violin workshop", None), Part("xylophone zither", None))
    assert known_share_of(Question("ann", "of both", parts=parts), vault) == pytest.approx(0.5)
    assert known_share_of(Question("ann", "violin workshop"), vault) == 1.0


def test_the_strength_falls_with_the_share_and_the_others_stay() -> None:
    strengths = load("search", SearchSettings, profile="tuned").strengths
    assert strengths.where_words_tell_length(0.25).length == pytest.approx(0.75 * strengths.length)
    assert strengths.where_words_tell_length(0.25).semantic == strengths.semantic
    assert strengths.where_words_tell_length(1.0).length == 0.0
