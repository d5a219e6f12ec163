"""What was done or noted of a day, asked without a subject: "what did we decide?", "what is on 12/3?" (R-10)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from memvault_search.adapters.deeds_file import load_deeds
from memvault_search.domain.days import NamedDay, days_in
from memvault_search.domain.deeds import DeedWords
from memvault_search.domain.scoring.candidates import TimeRange
from tests.unit.search.conftest import NOW, House, note

NAMEDS = load_deeds()


@pytest.mark.parametrize(
    "text",
    [
        "我們決定了什麼？",
        "What did we decide?",
        "what has been decided",
        "我们决定了什么",
        "敲定了什麼",
        "the decision?",
    ],
)
def test_a_deed_is_named_in_all_its_words_whatever_the_language_of_the_question(text: str) -> None:
    words = NAMEDS.asked(text).split()
    assert {"決定", "decide"} <= set(words)
    assert "推薦" not in words


@pytest.mark.parametrize(
    "text", ["What's new?", "最近有什麼進展？", "上次聊到哪？", "How's it going?", "做到哪了？", ""]
)
def test_a_question_that_names_no_deed_has_no_words(text: str) -> None:
    assert NAMEDS.asked(text) == ""


@pytest.mark.parametrize("rows", [[["long walk"]], [["decide"], ["decided"]], [["？"]]])
def test_a_word_that_is_not_one_token_of_one_deed_is_refused(rows: list[list[str]]) -> None:
    with pytest.raises(ValueError, match="one token of the index and of one deed"):
        DeedWords(rows)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "12/3 有什麼事？",
            "12/03",
            "2026-12-03 停水",
            "2027/12/3",
            "在12/3停水",
            "12月3日",
            "12 月 3 號",
            "十二月三號",
        ),
        *("Dec 3", "Dec. 3rd", "December 3", "3 December 2026", "the 3rd of December", "１２月３日"),
    ],
)
def test_a_day_is_read_in_every_way_of_writing_it(text: str) -> None:
    assert days_in(text) == (NamedDay(12, 3),)


@pytest.mark.parametrize(
    "text",
    [
        "13/5",
        "0/3",
        "1/2/3",
        "10.0.0.5",
        "12-03-04",
        "過去 2-3 天",
        "v12/3",
        "December 2026",
        "maybe 5",
        "二十月三日",
        "12月32日",
        "",
    ],
)
def test_what_is_no_day_is_not_read_as_one(text: str) -> None:
    assert days_in(text) == ()


def test_several_days_are_read_each_once_and_found_again_by_their_words() -> None:
    assert days_in("十一月二十一日、3/15 和 Nov 21") == (NamedDay(11, 21), NamedDay(3, 15))
    assert set(days_in(NamedDay(11, 21).words)) == {NamedDay(11, 21)}


@pytest.fixture
async def lately(house: House) -> House:
    def days_ago(days: int) -> Any:
        return NOW - timedelta(days=days)

    await house.write(
        *(note(f"day-{days}", f"a walk by the river number {days}", event_time=days_ago(days)) for days in range(1, 9)),
        note("first", "we decided to paint the shed green", event_time=days_ago(90)),
        note("second", "上個月底開會的時候，我們決定把院子裡那間舊倉庫整間重新漆成藍色", event_time=days_ago(60)),
    )
    return house


async def first(house: House, text: str, **more: Any) -> list[str]:
    found = await house.ask(
        text, bare=True, limit=3, off=frozenset({"stage:PairwiseDedup"}) | more.pop("off", set()), **more
    )
    return [hit.stored.block.id for hit in found.hits]


@pytest.mark.r("R-10")
@pytest.mark.parametrize("text", ["what did we decide", "我們決定了什麼"])
async def test_what_speaks_of_the_deed_comes_before_what_is_recent_in_either_language(lately: House, text: str) -> None:
    found = await first(lately, text)
    assert set(found[:2]) == {"first", "second"}
    assert found[2] == "day-1"


@pytest.mark.r("R-10")
async def test_of_what_speaks_of_the_deed_the_newest_has_the_first_rank(lately: House) -> None:
    hits = (await lately.ask("what did we decide", bare=True)).hits
    ranks = {
        hit.stored.block.id: place.rank
        for hit in hits
        if hit.why
        for place in hit.why.places
        if place.ranker == "named"
    }
    assert ranks == {"second": 1, "first": 2}


@pytest.mark.r("R-10")
async def test_without_a_deed_or_when_switched_off_or_by_reference_what_is_recent_comes_first(lately: House) -> None:
    assert await first(lately, "what is new") == ["day-1", "day-2", "day-3"]
    assert await first(lately, "what did we decide", off={"ranker:named"}) == ["day-1", "day-2", "day-3"]
    assert (await first(lately, "what did we recommend"))[0] == "day-1"
    for profile, held in (("tuned", True), ("reference", False)):
        found = await lately.ask("what did we decide", bare=True, profile=profile)
        assert ("named" in [one.name for one in found.reference.lists]) == held


@pytest.mark.r("R-10")
async def test_who_asks_for_advice_is_not_answered_by_what_was_decided(lately: House) -> None:
    assert (await first(lately, "what should we decide", facet="advice"))[0] == "day-1"


@pytest.mark.r("R-10")
async def test_a_deed_of_a_time_in_which_nothing_of_it_was_told_lowers_nobody(lately: House) -> None:
    """An empty list must not raise what a candidate could have got."""
    week = TimeRange((NOW - timedelta(days=7)).timestamp(), NOW.timestamp())
    with_deed = await lately.ask("what did we decide", bare=True, time_range=week)
    without = await lately.ask("what did we decide", bare=True, time_range=week, off=frozenset({"ranker:named"}))
    assert [hit.score for hit in with_deed.hits] == [hit.score for hit in without.hits]


@pytest.mark.r("R-10")
@pytest.mark.parametrize("text", ["12/3 有什麼事", "what is on December 3rd"])
async def test_what_names_the_day_that_is_asked_about_comes_first_whenever_it_was_noted(
    lately: House, text: str
) -> None:
    await lately.write(
        note("named", "十二月三號停水，早上八點到下午五點", event_time=NOW - timedelta(days=40)),
        note("other", "第 3 天，12 個人，住了一個月又三日", event_time=NOW - timedelta(days=30)),
    )
    december_3 = datetime(2025, 12, 3, tzinfo=UTC).timestamp()
    asked = {"time_range": TimeRange(december_3, december_3 + 86_400), "time_explicit": True}
    assert (await first(lately, text, **asked))[:2] == ["named", "day-1"]
