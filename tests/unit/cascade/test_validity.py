"""R-34 and R-17a: contradicting newer facts close older ones."""

import itertools
from datetime import UTC, datetime

import pytest

from memvault_cascade.domain.graph.model import Support, Triple
from memvault_cascade.domain.graph.validity import reinstated_blocks, settle, superseded_blocks

pytestmark = pytest.mark.r("R-34", "R-17a")

SINGLE = frozenset({"lives_in"})


def day(n):
    return datetime(2026, 3, n, tzinfo=UTC)


def lives_in(place, *stated, **more):
    support = tuple(Support(f"b{place}{at.day}", at) for at in stated)
    return Triple(place, "me", "lives in", "lives_in", place, support, **more)


def by_id(triples):
    return {t.id: t for t in triples}


def test_the_newer_fact_closes_the_older_one_whatever_the_order_of_arrival():
    facts = [lives_in("tainan", day(1)), lives_in("taipei", day(10)), lives_in("berlin", day(20))]
    for order in itertools.permutations(facts):
        settled = by_id(settle(order, SINGLE))
        assert settled["tainan"].valid_to == day(10)
        assert settled["tainan"].closed_by == "taipei"
        assert settled["taipei"].valid_to == day(20)
        assert settled["berlin"].valid_to is None


def test_a_value_that_comes_back_has_two_intervals():
    settled = by_id(settle([lives_in("tainan", day(1), day(20)), lives_in("taipei", day(10))], SINGLE))
    assert settled["tainan"].holds_at(day(5))
    assert not settled["tainan"].holds_at(day(15))
    assert settled["tainan"].holds_at(day(25))
    assert settled["taipei"].valid_to == day(20)


def test_the_same_fact_said_twice_is_one_interval():
    settled = by_id(settle([lives_in("tainan", day(1), day(5))], SINGLE))
    assert len(settled["tainan"].intervals) == 1
    assert settled["tainan"].valid_from == day(1)


def test_two_values_stated_at_the_same_instant_do_not_close_each_other():
    settled = by_id(settle([lives_in("tainan", day(1)), lives_in("taipei", day(1))], SINGLE))
    assert all(t.valid_to is None for t in settled.values())


def test_a_relation_with_many_values_closes_nothing():
    first, second = (Triple(o, "me", "likes", "likes", o, (Support("b", day(d)),)) for o, d in (("x", 1), ("y", 2)))
    assert all(t.valid_to is None for t in settle([first, second], SINGLE))


def test_bounds_that_the_writer_stated_count():
    settled = by_id(
        settle([lives_in("tainan", day(9), given_from=day(2), given_to=day(4)), lives_in("taipei", day(20))], SINGLE)
    )
    assert settled["tainan"].holds_at(day(3))
    assert not settled["tainan"].holds_at(day(10))
    assert settled["tainan"].closed_by == ""


def test_the_block_of_a_closed_fact_is_superseded_by_the_newest_block_of_the_newer_one():
    before = by_id(settle([lives_in("tainan", day(1))], SINGLE))
    after = settle([before["tainan"], lives_in("taipei", day(10), day(12))], SINGLE)
    assert superseded_blocks(before, after) == {"btainan1": "btaipei12"}
    assert superseded_blocks(by_id(after), after) == {}


def test_a_block_whose_contradiction_is_gone_is_current_again():
    before = by_id(settle([lives_in("tainan", day(1)), lives_in("taipei", day(10))], SINGLE))
    after = settle([before["tainan"]], SINGLE)
    assert reinstated_blocks(before, after) == ("btainan1",)
