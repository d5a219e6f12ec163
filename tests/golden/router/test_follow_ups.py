"""Golden follow-ups: what is completed, what is searched with the completed question beside it, what stands alone."""

import tomllib
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memvault.runtime.settings import load
from memvault_router.adapters.data_files import load_language
from memvault_router.domain.operators.follow_up import FollowUp
from memvault_router.domain.state import Question, Said
from memvault_router.settings import RouterSettings

CASES = tomllib.loads((Path(__file__).parent / "follow_ups.toml").read_text(encoding="utf-8"))["cases"]
STEP = FollowUp(load_language().shapes, load("router", RouterSettings, profile="tuned", environ={}).follow_up)

pytestmark = pytest.mark.r("R-08", "R-72")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["q"])
def test_a_golden_follow_up_is_understood(case):
    asked, whole = case["q"], f"{case['said']} {case['q']}"
    state = STEP(Question(asked, datetime(2026, 11, 29, tzinfo=UTC), UTC, said=(Said("user", case["said"]),)))
    wanted = {"whole": (whole, asked), "beside": (asked, whole), "alone": (asked, "")}
    assert (state.completed, state.beside) == wanted[case["is"]]
