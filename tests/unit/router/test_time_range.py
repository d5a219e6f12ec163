"""R-07: time expressions in Chinese and English."""

import tomllib
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from memvault.runtime.settings import load
from memvault_router.adapters.data_files import load_language
from memvault_router.domain.operators.time_range import read_time
from memvault_router.settings import RouterSettings

TABLE = tomllib.loads((Path(__file__).parent / "times.toml").read_text(encoding="utf-8"))
ZONE = ZoneInfo(TABLE["zone"])
LOOKALIKES = load_language().lookalikes
VAGUE = load("router", RouterSettings, profile="reference", home=Path("/nonexistent"), environ={}).vague


def read(text, now=TABLE["now"], zone=ZONE):
    return read_time(text, now, zone, LOOKALIKES, VAGUE)


def local(instant, zone=ZONE):
    if instant is None:
        return ""
    shown = instant.astimezone(zone).strftime("%Y-%m-%d %H:%M")
    return shown.removesuffix(" 00:00")


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


def test_the_table_holds_at_least_sixty_expressions_in_each_half():
    chinese = [case for case in TABLE["cases"] if any("\u4e00" <= letter <= "\u9fff" for letter in case[0])]
    assert len(chinese) >= 60
    assert len(TABLE["cases"]) - len(chinese) >= 45


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
