"""What was told after a time asked about, in words that name that time (R-08)."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from memvault_search.domain.block import Block
from memvault_search.domain.scoring.candidates import TimeRange
from memvault_search.domain.selection import Selection
from memvault_search.domain.told import spans_of
from tests.unit.search.conftest import House, note

SAID = datetime(2023, 8, 3, 18, 20, tzinfo=UTC)  # a Thursday


def days(text: str, said: datetime = SAID) -> list[tuple[str, str]]:
    return [
        tuple(datetime.fromtimestamp(one, UTC).strftime("%y-%m-%d") for one in span) for span in spans_of(text, said)
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We had dinner yesterday.", [("23-08-02", "23-08-03")]),
        ("Last night was warm", [("23-08-02", "23-08-03")]),
        ("Last week we went to a memorial.", [("23-07-24", "23-07-31")]),
        ("this past weekend", [("23-07-29", "23-07-31")]),
        ("last month, and last year", [("23-07-01", "23-08-01"), ("22-01-01", "23-01-01")]),
        ("I met her last Friday", [("23-07-28", "23-07-29")]),
        ("I met her last Thursday", [("23-07-27", "23-07-28")]),
        ("I got a puppy two weeks ago!", [("23-07-17", "23-07-24")]),
        ("a couple of days ago, 3 months ago", [("23-08-01", "23-08-02"), ("23-05-01", "23-06-01")]),
        ("ten years ago", [("13-01-01", "14-01-01")]),
        ("昨天、前天和上個月", [("23-08-02", "23-08-03"), ("23-08-01", "23-08-02"), ("23-07-01", "23-08-01")]),
        ("上周末去爬山，上星期三沒去", [("23-07-29", "23-07-31"), ("23-07-24", "23-07-31")]),
        ("兩個禮拜前搬的家，去年買的", [("23-07-17", "23-07-24"), ("22-01-01", "23-01-01")]),
        ("三年前、10天前", [("20-01-01", "21-01-01"), ("23-07-24", "23-07-25")]),
        ("The last year of school; it lasted weeks. Long ago.", [("22-01-01", "23-01-01")]),
        ("next week, tomorrow, in two days", []),
    ],
)
def test_words_of_the_past_are_read_from_the_moment_at_which_they_were_said(text, expected):
    assert days(text) == expected


MAY_20 = datetime(2026, 5, 20, 12, tzinfo=UTC)  # a Wednesday


@pytest.mark.parametrize(
    "text",
    [
        *("目前天氣很好", "以前天天運動", "車站前天橋", "之前年紀小", "以前年輕", "以前晚上都在家", "睡前晚點再說"),
        *("晚上月亮很圓", "上月台", "以上月份", "晚上上月台", "早上週會", "網上周年慶", "地上星期天", "樓上禮拜堂"),
        *("馬上週末了", "上上上週", "失去年輕", "過去年代", "想去年輕人的店", "去年級會議"),
        *(
            "幾十年前",
            "十幾年前",
            "一百二十年前",
            "100 天前",
            "1000天前",
            "1.5年前",
            "3-5天前",
            "兩三天前",
            "三、四天前",
        ),
        *(
            "2025年前",
            "二〇二五年前",
            "10月前",
            "十月前",
            "三、四天前",
            "第三天前",
            "週三天前",
            "半年前",
            "一個半月前",
            "有一天前往",
        ),
        *("half a year ago", "two and a half years ago", "one hundred years ago", "a hundred and two years ago"),
        *("100 days ago", "1.5 years ago", "2-3 weeks ago", "two or three weeks ago", "quite a few years ago"),
        *("the day before last Friday", "two days before yesterday"),
    ],
)
def test_no_time_is_read_out_of_other_words_or_out_of_uncertain_counts(text):
    assert days(text, MAY_20) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("大前天去的", ("26-05-17", "26-05-18")),
        ("the day before yesterday", ("26-05-18", "26-05-19")),
        ("the night before last", ("26-05-18", "26-05-19")),
        ("前天下午", ("26-05-18", "26-05-19")),
        ("醫生前天說", ("26-05-18", "26-05-19")),
        ("十五天前", ("26-05-05", "26-05-06")),
        ("九十九天前", ("26-02-10", "26-02-11")),
        ("差不多三天前", ("26-05-17", "26-05-18")),
        ("幾天之前", ("26-05-17", "26-05-18")),
        ("二十年前", ("06-01-01", "07-01-01")),
        ("二十二年以前", ("04-01-01", "05-01-01")),
        ("三年前年輕", ("23-01-01", "24-01-01")),
        ("10 個月前", ("25-07-01", "25-08-01")),
        ("三個月前", ("26-02-01", "26-03-01")),
        ("我上週去", ("26-05-11", "26-05-18")),
        ("爸爸上月底去", ("26-04-01", "26-05-01")),
        ("上上週", ("26-05-04", "26-05-11")),
        ("上上週末", ("26-05-09", "26-05-11")),
        ("上上個月", ("26-03-01", "26-04-01")),
        ("我去年", ("25-01-01", "26-01-01")),
        ("前年買的", ("24-01-01", "25-01-01")),
        ("大前年", ("23-01-01", "24-01-01")),
        ("the week before last", ("26-05-04", "26-05-11")),
        ("fifteen days ago", ("26-05-05", "26-05-06")),
        ("twenty-two years ago", ("04-01-01", "05-01-01")),
        ("ninety nine days ago", ("26-02-10", "26-02-11")),
    ],
)
def test_longer_words_go_before_shorter_ones_and_counts_up_to_ninety_nine_are_read(text, expected):
    assert days(text, MAY_20) == [expected]


def test_months_are_counted_over_the_turn_of_the_year():
    assert days("last month", datetime(2023, 1, 5, tzinfo=UTC)) == [("22-12-01", "23-01-01")]
    assert days("14 months ago", datetime(2023, 1, 5, tzinfo=UTC)) == [("21-11-01", "21-12-01")]


JULY = TimeRange(datetime(2025, 7, 1, tzinfo=UTC).timestamp(), datetime(2025, 8, 1, tzinfo=UTC).timestamp())
AUGUST_4 = datetime(2025, 8, 4, 9, tzinfo=UTC)
IN_JULY = datetime(2025, 7, 9, 9, tzinfo=UTC)


def said(block_id: str, text: str, when: datetime) -> Block:
    return note(block_id, text, event_time=when, speaker="Ann")


async def ask(house: House, text: str, asked: TimeRange = JULY, **more: Any) -> set[str]:
    found = await house.ask(text, time_range=asked, time_explicit=True, **more)
    return {hit.stored.block.id for hit in found.hits}


@pytest.fixture
async def told(house: House) -> House:
    await house.write(
        said("in-july", "a canoe on the lake", IN_JULY),
        said("of-july", "last month we took the canoe to the lake", AUGUST_4),
        said("of-august", "yesterday we took the canoe to the lake", AUGUST_4),
        said("of-no-time", "we took the canoe to the lake", AUGUST_4),
        said("before", "last month the canoe was on the lake", datetime(2025, 6, 30, tzinfo=UTC)),
    )
    return house


@pytest.mark.r("R-08")
async def test_what_was_told_later_of_a_time_asked_about_is_found_beside_what_was_told_in_it(told: House) -> None:
    assert await ask(told, "the canoe on the lake") == {"in-july", "of-july"}
    assert await ask(told, "the canoe on the lake", off=frozenset({"told_afterwards"})) == {"in-july"}
    assert await ask(told, "the canoe on the lake", profile="reference") == {"in-july"}


@pytest.mark.r("R-08")
async def test_a_time_without_a_beginning_finds_what_was_told_of_it_later(told: House) -> None:
    until = TimeRange(-np.inf, JULY.end)
    assert await ask(told, "the canoe on the lake", until) == {"in-july", "of-july", "before"}


@pytest.mark.r("R-08")
async def test_who_asks_for_the_talk_itself_gets_what_was_said_in_that_time(told: House) -> None:
    assert await ask(told, "what did we talk about, the canoe on the lake?") == {"in-july"}
    assert await ask(told, "我們聊了 canoe lake 什麼？") == {"in-july"}


@pytest.mark.r("R-08")
async def test_what_one_did_is_no_talk(told: House) -> None:
    both = {"in-july", "of-july"}
    assert await ask(told, "What did I bring to the canoe on the lake?") == both
    assert await ask(told, "What did I give Ben, the canoe on the lake?") == both
    assert await ask(told, "我們之前把 canoe 停在 lake 哪裡？") == both
    assert await ask(told, "我們上次七月去日本做了什麼 canoe lake") == both
    assert await ask(told, "我們之前討論過 canoe lake 什麼？") == {"in-july"}
    assert await ask(told, "Did you see Ann's shared canoe on the lake?") == both


@pytest.mark.r("R-08")
async def test_where_nobody_said_when_the_time_of_recording_stands_in(told: House) -> None:
    text = "last month a canoe sank in the lake"
    undated = note("undated", text, speaker="Ann", recorded_at=AUGUST_4)
    early = note("early", text, speaker="Ann", recorded_at=datetime(2025, 7, 30, tzinfo=UTC))
    await told.write(undated, early)
    assert await ask(told, "the canoe on the lake") == {"in-july", "of-july", "undated", "early"}
    june = TimeRange(datetime(2025, 6, 1, tzinfo=UTC).timestamp(), JULY.start)
    assert await ask(told, "the canoe on the lake", june) == {"before", "early"}
    vault = await told.app.vaults.of("ann")
    stored = vault.get("undated")
    assert stored is not None
    vault.change(replace(stored, block=replace(stored.block, recorded_at=IN_JULY)))  # as an older export does
    assert await ask(told, "the canoe on the lake", june) == {"before", "early", "undated"}


@pytest.mark.r("R-08")
async def test_where_nothing_was_told_in_the_time_all_is_looked_through_as_before(told: House) -> None:
    spring = TimeRange(datetime(2025, 5, 1, tzinfo=UTC).timestamp(), datetime(2025, 6, 1, tzinfo=UTC).timestamp())
    assert len(await ask(told, "the canoe on the lake", spring)) == 5


@pytest.mark.r("R-08")
async def test_a_filter_of_the_request_holds_for_what_was_told_later_too(told: House) -> None:
    august = datetime(2025, 8, 1, tzinfo=UTC)
    found = await ask(told, "the canoe on the lake", selection=Selection(event_end=august))
    assert found == {"in-july"}
    assert await ask(told, "the canoe on the lake", as_of=august) == {"in-july"}
    named = Selection(block_ids=("in-july", "of-august"))
    assert await ask(told, "the canoe on the lake", selection=named) == {"in-july"}


@pytest.mark.r("R-08")
async def test_what_is_changed_or_forgotten_is_no_longer_told(told: House) -> None:
    await told.write(said("of-july", "we took the canoe to the lake", AUGUST_4))
    assert await ask(told, "the canoe on the lake") == {"in-july"}


@pytest.mark.parametrize("text", ["yesterday", "99 years ago", "last weekend", "12 months ago", "去年", "兩週前"])
def test_a_time_before_the_calendar_begins_is_none(text: str) -> None:
    assert spans_of(f"we met {text}", datetime(1, 1, 1, tzinfo=UTC)) == []
