"""Tests of sentences and extractive summaries."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memvault.text import extractive_summary, sentences

DIARY = (
    "早上開了週會，大家報告進度。OCR 專案的辨識率到了九成二。中午和小美去吃牛肉麵，店裡人很多。"
    "下午把 Q3-報表寄給主管。晚上去河邊跑步，跑了五公里。回家以後看了一部電影，情節普通。"
)


def test_sentences_end_at_chinese_and_english_stops_but_not_inside_numbers() -> None:
    assert sentences("Dr. Smith paid 3.5 dollars. He left! 後來呢？他說「好。」然後走了\nVersion 1.2.3 is out.") == [
        "Dr. Smith paid 3.5 dollars.",
        "He left!",
        "後來呢？",
        "他說「好。」",
        "然後走了",
        "Version 1.2.3 is out.",
    ]


@given(st.text(max_size=300))
def test_sentences_lose_nothing_but_white_space(text: str) -> None:
    assert "".join("".join(sentences(text)).split()) == "".join(text.split())


def test_a_text_that_fits_is_its_own_summary() -> None:
    assert extractive_summary("  短短的。 ", 20) == "短短的。"


@pytest.mark.r("R-42")
def test_a_summary_keeps_what_the_question_asks_for() -> None:
    assert "Q3-報表" in extractive_summary(DIARY, 40, query="Q3 報表寄了嗎")
    assert "辨識率" in extractive_summary(DIARY, 40, query="OCR 做到哪了")


@pytest.mark.r("R-42")
def test_without_a_question_the_summary_leans_to_the_beginning() -> None:
    assert extractive_summary(DIARY, 40).startswith("早上開了週會")


@given(st.text(min_size=1, max_size=400), st.integers(1, 120), st.none() | st.text(max_size=20))
def test_a_summary_is_never_longer_than_asked(text: str, size: int, query: str | None) -> None:
    assert len(extractive_summary(text, size, query)) <= size


def test_a_single_endless_sentence_is_cut_with_an_ellipsis() -> None:
    assert extractive_summary("word " * 100, 30).endswith("…")


def test_a_summary_of_no_characters_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        extractive_summary("x", 0)
