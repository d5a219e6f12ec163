"""R-08: questions that need what was said before."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from memvault.runtime.settings import load
from memvault_router.adapters.data_files import load_language
from memvault_router.domain.operators.follow_up import SURE, FollowUp, Need, complete, depends_on_before
from memvault_router.domain.state import Question, Said
from memvault_router.settings import RouterSettings

SHAPES = load_language().shapes
NUMBERS, TUNED = (
    load("router", RouterSettings, profile=profile, home=Path("/nonexistent"), environ={}).follow_up
    for profile in ("reference", "tuned")
)

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
    assert depends_on_before(text, SHAPES, TUNED) in SURE


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
    assert depends_on_before(text, SHAPES, TUNED) not in SURE


@pytest.mark.parametrize(
    ("text", "sign"),
    [
        ("No, I meant the small one.", Need.REPLIES),
        ("Sorry, the one in Tainan", Need.REPLIES),
        ("不是，我要大的尺寸", Need.REPLIES),
        ("Are these workshops open for younger visitors without tickets?", Need.POINTS),
        ("Can they be moved before the wedding party in June next year?", Need.POINTS),
        ("這首歌的作曲者後來還寫過哪些作品", Need.POINTS),
        ("What other permits are needed?", Need.OTHERS),
        ("其他申請文件有哪些", Need.OTHERS),
        ("which plan is cheaper?", Need.COMPARES),
        ("哪個方案比較便宜", Need.COMPARES),
        ("Membership fees", Need.FRAGMENT),
        ("退租手續", Need.FRAGMENT),
        ("Is the data safe?", Need.SHORT),
        ("門票多少錢", Need.SHORT),
    ],
)
def test_what_is_not_sure_says_by_which_sign_it_is_known(text, sign):
    assert depends_on_before(text, SHAPES, TUNED) is sign


@pytest.mark.parametrize(
    "text",
    [
        "When did Gina get her tattoo?",
        "What does Caroline's drawing symbolize for her?",
        "What did Dr. Wang say about his trip?",
    ],
)
def test_a_pronoun_after_a_name_means_the_name(text):
    assert depends_on_before(text, SHAPES, TUNED) not in SURE


@pytest.mark.parametrize(
    "text",
    [
        "Is it safer to keep the money in a savings account at the bank?",
        "Are there any good bookshops near the old harbour this weekend?",
        "How many people moved to another country because of work last year?",
        "那個郵箱地址是 chen@example.com 的人在哪個城市的哪家公司上班",
        "《晨光》這張專輯是由哪一家唱片公司發行的",
        "上週開會時我們決定把哪一個供應商從名單上拿掉",
        "為什麼我最好的朋友要搬到別的國家去讀書",
    ],
)
def test_a_pointing_word_that_points_to_nothing_or_into_the_question_is_none(text):
    assert depends_on_before(text, SHAPES, TUNED) is Need.NONE


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


@pytest.mark.parametrize(
    ("query", "completed", "beside"),
    [
        ("and then?", "How is the MLX port doing? and then?", "and then?"),
        ("Membership fees", "Membership fees", "How is the MLX port doing? Membership fees"),
        ("why did we pick Postgres for the billing service", "why did we pick Postgres for the billing service", ""),
    ],
)
def test_what_is_not_sure_is_searched_as_asked_with_the_completed_one_beside_it(query, completed, beside):
    said = (Said("user", "How is the MLX port doing?"),)
    state = FollowUp(SHAPES, TUNED)(Question(query, datetime(2026, 11, 29, tzinfo=UTC), UTC, said=said))
    assert (state.completed, state.beside) == (completed, beside)


def test_a_fragment_may_be_what_a_later_one_is_completed_with():
    said = (Said("user", "How do I rent a flat in Madrid?"), Said("assistant", "So."), Said("user", "Rental deposit"))
    assert complete("how much is it?", said, SHAPES, TUNED) == "Rental deposit how much is it?"
