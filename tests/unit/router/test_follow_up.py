"""R-08: questions that need what was said before."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from memvault.runtime.settings import load
from memvault_router.adapters.data_files import load_language
from memvault_router.domain.operators.follow_up import FollowUp, complete, depends_on_before
from memvault_router.domain.state import Question, Said
from memvault_router.settings import RouterSettings

SHAPES = load_language().shapes
NUMBERS = load("router", RouterSettings, profile="reference", home=Path("/nonexistent"), environ={}).follow_up

pytestmark = pytest.mark.r("R-08")


@pytest.mark.parametrize(
    "text",
    [
        "那後來呢？",
        "然後呢",
        "and then?",
        "And then what",
        "why?",
        "what about it?",
        "那 MLX 呢？",
        "它的價格是多少",
        "他後來去了哪裡",
        "who is she?",
        "結果如何",
        "那你覺得呢？",
        "tell me more",
        "how about the second one",
        "我的貓呢",
    ],
)
def test_a_continuation_needs_what_was_said(text):
    assert depends_on_before(text, SHAPES, NUMBERS)


@pytest.mark.parametrize(
    "text",
    [
        "上週那個 OCR 做到哪了？",
        "最近聊什麼？",
        "你覺得我下一步該怎麼走",
        "is there a printer in the office?",
        "那我應該先學 Rust 還是 Go？",
        "其他的做法有哪些",
        "why did we pick Postgres",
        "這個月的支出是多少？",
        "so what is the plan for the OCR migration on the new server",
        "為什麼天空是藍色的",
    ],
)
def test_a_question_that_stands_alone_is_left_alone(text):
    assert not depends_on_before(text, SHAPES, NUMBERS)


def test_the_latest_own_utterance_that_stands_alone_is_put_in_front():
    said = (
        Said("user", "OCR 的辨識率做到哪了？"),
        Said("assistant", "到九成二了。"),
        Said("user", "然後呢"),
        Said("assistant", "接著要調版面。"),
    )
    assert complete("那後來呢？", said, SHAPES, NUMBERS) == "OCR 的辨識率做到哪了？ 那後來呢？"


def test_without_an_own_utterance_the_others_serve():
    said = (Said("assistant", "The visa application was sent on Monday."),)
    assert complete("and then?", said, SHAPES, NUMBERS) == "The visa application was sent on Monday. and then?"


def test_with_nothing_said_the_question_stays():
    assert complete("and then?", (), SHAPES, NUMBERS) == "and then?"
    assert complete("and then?", (Said("user", "and then?"), Said("user", "  ")), SHAPES, NUMBERS) == "and then?"


def test_only_the_end_of_a_long_utterance_is_used():
    said = (Said("user", "x" * 1000 + " the OCR project"),)
    completed = complete("why?", said, SHAPES, NUMBERS)
    assert completed.endswith("the OCR project why?")
    assert len(completed) <= NUMBERS.max_chars + len(" why?")


@pytest.mark.parametrize(
    ("off", "completed"),
    [(frozenset(), "How is the MLX port doing? and then?"), (frozenset({"completion"}), "and then?")],
)
def test_completion_can_be_switched_off(off, completed):
    said = (Said("user", "How is the MLX port doing?"),)
    state = Question("and then?", datetime(2026, 11, 29, tzinfo=UTC), UTC, said=said, off=off)
    assert FollowUp(SHAPES, NUMBERS)(state).completed == completed
