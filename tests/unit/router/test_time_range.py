"""R-07: time expressions in Chinese and English."""

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo, available_timezones

import pytest

from memvault_router.domain.time import en, zh
from memvault_router.domain.time.rules import Family
from tests.unit.router.times import TABLE, VAGUE, WORDS, ZONE, local, read


@pytest.mark.r("R-07")
@pytest.mark.parametrize("case", [case for case in TABLE["cases"] if len(case) > 1], ids=lambda case: case[0])
def test_an_expression_means_its_range_in_the_users_zone(case):
    text, start, end, explicit = case
    found = read(text)
    assert found is not None
    assert (local(found.start), local(found.end), found.explicit) == (start, end, explicit)


@pytest.mark.r("R-07")
@pytest.mark.parametrize("text", [case[0] for case in TABLE["cases"] if len(case) == 1])
def test_what_only_looks_like_a_time_is_none(text):
    assert read(text) is None


def test_the_table_holds_many_expressions_and_look_alikes_of_each_language():
    chinese = [case for case in TABLE["cases"] if any("\u4e00" <= letter <= "\u9fff" for letter in case[0])]
    english = [case for case in TABLE["cases"] if case not in chinese]
    assert len({case[0] for case in TABLE["cases"]}) == len(TABLE["cases"])
    assert len([case for case in chinese if len(case) > 1]) >= 150
    assert len([case for case in english if len(case) > 1]) >= 130
    assert len([case for case in chinese if len(case) == 1]) >= 45
    assert len([case for case in english if len(case) == 1]) >= 45


@pytest.mark.parametrize("language", [en, zh])
def test_the_words_of_a_family_of_rules_leave_out_nothing_that_its_rules_read(language, monkeypatch):
    order = [WORDS.day_order.of(ZONE)] if language is zh else []
    known = language.families(VAGUE, WORDS.holidays, *order)
    asked = [case[0] for case in TABLE["cases"]]
    read_with_words = [read(text) for text in asked]
    always = tuple(Family(("",), family.rules) for family in known)
    monkeypatch.setattr(language, "families", lambda *_: always)
    assert [read(text) for text in asked] == read_with_words


def test_the_expression_is_shown_as_written_and_not_as_folded():
    assert read("上個月花多少").text == "上個月"


@pytest.mark.parametrize(
    ("now", "text", "start", "end"),
    [
        ("2026-01-05T04:00", "上個月", "2025-12-01", "2026-01-01"),
        ("2026-01-05T04:00", "last week", "2025-12-29", "2026-01-05"),
        ("2026-01-01T00:30", "昨天", "2025-12-31", "2026-01-01"),
        ("2026-01-01T00:30", "三月", "2025-03-01", "2025-04-01"),
        ("2026-03-31T12:00", "過去一個月", "2026-02-28", "2026-03-31 20:00"),
        ("2024-03-01T12:00", "昨天", "2024-02-29", "2024-03-01"),
        ("2026-12-31T17:00", "今天", "2027-01-01", "2027-01-02"),
        ("2026-02-10T12:00", "last quarter", "2025-10-01", "2026-01-01"),
        ("2026-03-15T12:00", "in March", "2026-03-01", "2026-04-01"),
        ("2026-03-15T12:00", "last March", "2025-03-01", "2025-04-01"),
    ],
)
def test_edges_of_month_and_year_fall_where_the_calendar_has_them(now, text, start, end):
    found = read(text, datetime.fromisoformat(now).replace(tzinfo=UTC))
    assert (local(found.start), local(found.end)) == (start, end)


def test_a_day_of_a_clock_change_is_as_long_as_it_really_was():
    new_york = ZoneInfo("America/New_York")
    spring = read("yesterday", datetime(2026, 3, 9, 16, tzinfo=UTC), new_york)
    autumn = read("yesterday", datetime(2026, 11, 2, 16, tzinfo=UTC), new_york)
    assert (spring.end - spring.start).total_seconds() == 23 * 3600
    assert (autumn.end - autumn.start).total_seconds() == 25 * 3600


def test_a_midnight_that_a_clock_change_skipped_is_the_instant_of_the_change():
    sao_paulo = ZoneInfo("America/Sao_Paulo")  # 2018-11-04 began at 01:00
    found = read("today", datetime(2018, 11, 4, 12, tzinfo=UTC), sao_paulo)
    assert found.start == datetime(2018, 11, 4, 3, tzinfo=UTC)


def test_today_is_the_users_day_and_not_the_servers():
    instant = datetime(2026, 11, 29, 20, tzinfo=UTC)
    assert local(read("今天", instant).start) == "2026-11-30"
    assert local(read("今天", instant, ZoneInfo("UTC")).start, ZoneInfo("UTC")) == "2026-11-29"


def test_an_impossible_date_is_none_and_its_month_is_all_that_is_left():
    assert read("2023-02-29") is None
    assert local(read("2月30日").start) == "2026-02-01"


def test_two_expressions_become_the_range_around_both():
    found = read("比較上週和這週的進度")
    assert (local(found.start), local(found.end)) == ("2026-11-16", "2026-11-30")


@pytest.mark.r("R-07")
@pytest.mark.parametrize(
    ("text", "filters"),
    [
        ("我昨天畫了一輛賽車。什麼顏色最好看？", False),
        ("I painted a car yesterday. Which colours go together?", False),
        ("昨天我看了電視劇，裡面的英雄好酷！我最喜歡超人。", False),
        ("我畫了一輛賽車。昨天聊了什麼？", True),
        ("Thanks. What did we decide yesterday?", True),
        ("Remind me what we decided yesterday. Thanks.", True),
        ("昨天的會議", True),
        ("我昨天畫了一輛很酷的賽車，你想看看嗎？", False),
        ("I painted a car yesterday, do you like it?", False),
        ("昨天開會時，我們決定了什麼？", True),
        ("Yesterday, what did we decide?", True),
        ("昨天我跟誰吃了飯？", True),
    ],
)
def test_a_time_that_is_only_told_does_not_filter_what_is_asked_beside_it(text, filters):
    found = read(text)
    assert found is not None
    assert (found.explicit, found.definite) == (filters, filters)


@pytest.mark.parametrize(
    ("now", "text", "start", "end"),
    [
        ("2027-01-20T04:00", "last winter", "2025-12-01", "2026-03-01"),
        ("2027-01-20T04:00", "this winter", "2026-12-01", "2027-03-01"),
        ("2026-11-30T04:00", "this past weekend", "2026-11-28", "2026-11-30"),
        ("2026-11-27T04:00", "this past weekend", "2026-11-21", "2026-11-23"),
        ("2026-12-25T04:00", "last Christmas", "2025-12-24", "2025-12-27"),
        ("2027-01-01T04:00", "跨年", "2026-12-31", "2027-01-02"),
        ("2026-01-15T04:00", "過年的時候", "2025-01-28", "2025-02-03"),
        ("2026-01-15T04:00", "過年前要做什麼", "", "2026-02-16"),
        ("2026-11-25T04:00", "last Thanksgiving", "2025-11-27", "2025-11-28"),
        ("2026-11-28T22:00", "稍早", "2026-11-29", "2026-11-29 06:00"),
        ("2026-11-28T18:00", "稍早", "2026-11-28", "2026-11-29 02:00"),
        ("2024-02-29T04:00", "a year ago today", "2023-02-28", "2023-03-01"),
        ("2026-03-31T04:00", "上個月的今天", "2026-02-28", "2026-03-01"),
        ("2026-11-24T04:00", "from Monday to Wednesday", "2026-11-23", "2026-11-26"),
        ("2026-01-02T04:00", "before Christmas", "", "2025-12-24"),
        ("2026-11-24T04:00", "before Friday", "", "2026-11-27"),
    ],
)
def test_what_is_counted_back_starts_from_what_is_over(now, text, start, end):
    found = read(text, datetime.fromisoformat(now).replace(tzinfo=UTC))
    assert (local(found.start), local(found.end)) == (start, end)


@pytest.mark.parametrize(("name", "day_of_moon"), [("春节", 1), ("元宵节", 15), ("端午", 5), ("中秋", 15)])
def test_a_festival_of_the_lunar_calendar_falls_on_its_day_of_the_moon(name, day_of_moon):
    new_moon, month = datetime(2000, 1, 6, 18, 14, tzinfo=UTC), timedelta(days=29.530588)
    for year in range(2015, 2036):
        noon = WORDS.holidays.named(name).in_year(year).start.replace(tzinfo=UTC) + timedelta(hours=4)
        age = ((noon - new_moon) / month - (day_of_moon - 1) / 29.530588 + 0.5) % 1 - 0.5
        assert abs(age * month) < timedelta(days=1.4), year


def test_a_festival_of_the_lunar_calendar_is_not_read_where_its_date_is_unknown():
    assert WORDS.holidays.named("春节").in_year(2050) is None
    assert read("春節", datetime(2050, 3, 1, tzinfo=UTC)) is None


def test_hours_are_counted_on_a_clock_that_runs_through_a_clock_change():
    new_york = ZoneInfo("America/New_York")
    for now in (datetime(2026, 3, 8, 7, 30, tzinfo=UTC), datetime(2026, 11, 1, 6, 30, tzinfo=UTC)):
        found = read("in the last 3 hours", now, new_york)
        assert (found.start, found.end) == (now - timedelta(hours=3), now)


def test_what_is_still_to_come_gives_way_to_what_was_also_when_it_is_a_term():
    found = read("昨天說下週三前要做的事")
    assert (local(found.start), local(found.end), found.explicit) == ("2026-11-28", "2026-11-29", True)


NEW_YORK, LONDON, UNKNOWN = "America/New_York", "Europe/London", "UTC"


@pytest.mark.r("R-07")
@pytest.mark.parametrize(
    ("zone", "text", "start", "end", "filters"),
    [
        (NEW_YORK, "03/04/2025", "2025-03-04", "2025-03-05", True),
        (LONDON, "03/04/2025", "2025-04-03", "2025-04-04", True),
        ("Australia/Sydney", "lunch on 3/4", "2026-04-03", "2026-04-04", True),
        (LONDON, "2025/03/04", "2025-03-04", "2025-03-05", True),
        (LONDON, "03/04/2025 的會議", "2025-03-04", "2025-03-05", True),  # Chinese puts the month first
        (UNKNOWN, "03/04/2025", "2025-03-04", "2025-04-04", False),
        (UNKNOWN, "04/03/2025", "2025-03-04", "2025-04-04", False),
        ("America/Toronto", "notes from 11/12", "2025-12-11", "2026-11-13", False),  # the latest of each
        ("Europe/Budapest", "03/04/2025", "2025-03-04", "2025-04-04", False),  # the year comes first there
        (UNKNOWN, "since 03/04/2025", "2025-03-04", "", False),
        (UNKNOWN, "after 03/04/2025", "2025-03-04", "", False),
        (UNKNOWN, "before 03/04/2025", "", "2025-04-04", False),
        (UNKNOWN, "from 03/04/2025 to 10/04/2025", "2025-03-04", "2025-10-05", False),
        (UNKNOWN, "03/03/2025", "2025-03-03", "2025-03-04", True),  # either way the same
        (UNKNOWN, "25/04/2025", "2025-04-25", "2025-04-26", True),
        (UNKNOWN, "04/25/2025", "2025-04-25", "2025-04-26", True),
        (NEW_YORK, "25/04/2025", "2025-04-25", "2025-04-26", True),
        (UNKNOWN, "3/31", "2026-03-31", "2026-04-01", True),
        (UNKNOWN, "03/04/2025的會議", "2025-03-04", "2025-03-05", True),
    ],
)
def test_a_date_that_may_be_read_two_ways_filters_only_where_language_or_zone_tell_which(
    zone, text, start, end, filters
):
    found = read(text, now=datetime(2026, 11, 29, 12, tzinfo=UTC), zone=ZoneInfo(zone))
    assert (local(found.start, ZoneInfo(zone)), local(found.end, ZoneInfo(zone)), found.explicit) == (
        start,
        end,
        filters,
    )


def test_every_zone_in_the_list_of_day_orders_is_one_and_stands_in_one_list():
    order = WORDS.day_order
    for name in (*order.month_first, *order.day_first):
        assert [zone for zone in available_timezones() if zone.startswith(name)], name
    for zone in available_timezones():
        assert not (zone.startswith(order.month_first) and zone.startswith(order.day_first)), zone


def test_a_zone_without_a_name_leaves_the_order_open():
    assert WORDS.day_order.of(timezone(timedelta(hours=8))) == ""
