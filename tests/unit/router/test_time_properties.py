"""R-07: what holds of time expressions at any instant and in any zone."""

import tomllib
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memvault.text.folding import simplified
from tests.unit.router.times import TABLE, read

ASKED = tomllib.loads((Path(__file__).parent / "time_properties.toml").read_text(encoding="utf-8"))
ZONES = ("Asia/Taipei", "America/New_York", "Europe/London", "Pacific/Apia", "America/Sao_Paulo", "UTC")
instants = st.integers(0, 21 * 365 * 24 * 60).map(
    lambda minutes: datetime(2015, 1, 1, tzinfo=UTC) + timedelta(minutes=minutes)
)
zones = st.sampled_from([ZoneInfo(name) for name in ZONES])
steadily = settings(max_examples=40, deadline=None, derandomize=True, database=None)


def span(text, now, zone):
    found = read(text, now, zone)
    assert found is not None, text
    return found


def meaning(found):
    return None if found is None else (found.start, found.end, found.explicit, found.definite)


@pytest.mark.r("R-07")
@given(pieces=st.lists(st.sampled_from(ASKED["pieces"]), min_size=1, max_size=9), now=instants, zone=zones)
@settings(steadily, max_examples=300)
def test_no_row_of_words_of_time_fails_and_what_it_means_begins_before_it_ends(pieces, now, zone):
    found = read("".join(pieces), now, zone)
    if found is not None and found.start is not None and found.end is not None:
        assert found.start < found.end


@given(case=st.sampled_from([case[0] for case in TABLE["cases"] if len(case) > 1]), now=instants, zone=zones)
@settings(steadily, max_examples=300)
def test_every_expression_of_the_table_means_something_at_any_instant(case, now, zone):
    found = span(case, now, zone)
    assert found.start is None or found.end is None or found.start < found.end


@pytest.mark.r("R-07")
@given(now=instants, zone=zones)
@steadily
def test_past_expressions_are_over_or_reach_up_to_now_or_are_going_on(now, zone):
    for text in ASKED["over"]:
        assert span(text, now, zone).end <= now, text
    for text in ASKED["up_to_now"]:
        found = span(text, now, zone)
        assert found.start < now == found.end, text
    for text in ASKED["going_on"]:
        found = span(text, now, zone)
        assert found.start <= now < found.end, text
    for text in ASKED["about_then"]:
        found = span(text, now, zone)
        assert found.start < found.end <= now, text


@pytest.mark.r("R-07")
@given(now=instants, zone=zones)
@steadily
def test_one_span_ends_where_the_next_begins(now, zone):
    for row in ASKED["rows"]:
        spans = [span(text, now, zone) for text in row]
        assert [found.end for found in spans[:-1]] == [found.start for found in spans[1:]], row


@pytest.mark.r("R-07")
@given(count=st.integers(0, 999), now=instants, zone=zones)
@steadily
def test_days_ago_are_counted_in_local_days(count, now, zone):
    today = now.astimezone(zone).date()
    for text in (f"{count} days ago", f"{count} 天前"):
        found = span(text, now, zone)
        assert found.start.astimezone(zone).date() == today - timedelta(days=count)
        assert found.end.astimezone(zone).date() == today - timedelta(days=count - 1)


@pytest.mark.r("R-07")
@given(before=st.text(" \t\u3000\n", max_size=3), after=st.text(" \t\u3000\n", max_size=3), now=instants, zone=zones)
@settings(steadily, max_examples=12)
def test_white_space_width_and_script_change_nothing(before, after, now, zone):
    wide = str.maketrans("0123456789", "０１２３４５６７８９")
    for text in (case[0] for case in TABLE["cases"]):
        known = meaning(read(text, now, zone))
        for written in (f"{before}{text}{after}", text.translate(wide), simplified(text)):
            assert meaning(read(written, now, zone)) == known, written


@pytest.mark.r("R-07")
@given(now=instants, zone=zones)
@settings(steadily, max_examples=40)
def test_both_languages_mean_the_same(now, zone):
    for chinese, english in ASKED["pairs"]:
        assert meaning(span(chinese, now, zone)) == meaning(span(english, now, zone)), (chinese, english)
