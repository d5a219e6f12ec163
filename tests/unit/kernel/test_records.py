"""Frozen records with other values."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from memvault.records import changed
from memvault_router.domain.state import Question

ASKED = Question("and then?", datetime(2026, 11, 29, tzinfo=UTC), UTC)


def test_a_change_makes_what_replace_makes_and_leaves_the_state_alone():
    found = changed(ASKED, completed="what about the visa? and then?", bare=True)
    assert found == replace(ASKED, completed="what about the visa? and then?", bare=True)
    assert (ASKED.completed, ASKED.bare) == ("", False)


def test_a_field_that_does_not_exist_is_refused():
    with pytest.raises(TypeError, match="a Question has no colour, size"):
        changed(ASKED, size=1, colour="red")
