"""Tests of folding, segmentation and index tokens."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memvault.text import fold, is_chinese, search_tokens, segment


def test_width_case_and_script_do_not_matter_after_folding() -> None:
    assert fold("ＭＬＸ 報表") == fold("mlx 报表") == "mlx 报表"


def test_invisible_characters_disappear_from_folded_text() -> None:
    assert fold("O\u200bC\u00adR\ufeff") == "ocr"


def test_a_lone_surrogate_is_folded_and_not_an_error() -> None:
    assert fold("a\ud800後") == "a\ufffd后"


@given(st.text(max_size=80))
def test_folding_an_ascii_text_twice_changes_nothing_more(text: str) -> None:
    once = fold(text)
    assert fold(fold(once)) == fold(once)


@pytest.mark.r("R-11")
@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        ("Q3-報表還沒交", "Q3-報表"),
        ("ticket INC-4821 was closed", "inc-4821"),
        ("ticket INC-4821 was closed", "4821"),
        ("ticket INC-4821 was closed", "INC4821"),
        ("印表機在 10.0.0.5", "10.0.0.5"),
        ("上週的OCR進度", "OCR"),
        ("用 MLX 跑模型", "mlx"),
        ("升級到 v1.20.0", "1.20.0"),
        ("due 2026-11-29", "2026-11-29"),
        ("see ~/src/memvault/app.py", "src/memvault/app.py"),
        ("see ~/src/memvault/app.py", "memvault"),
        ("mail anna.lee@example.com", "anna.lee@example.com"),
        ("host db-03.internal.example.net is down", "db-03.internal.example.net"),
        ("wrote it in C++", "c++"),
        ("class HybridIndex", "hybrid index"),
        ("慶祝 🎉", "🎉"),
        ("喬布斯喜歡書法", "乔布斯"),
        ("cost 1,000 dollars", "1000"),
    ],
)
def test_a_name_an_abbreviation_or_a_code_is_found_by_its_letters(stored: str, asked: str) -> None:
    assert set(search_tokens(asked)) <= set(search_tokens(stored))


@pytest.mark.r("R-11")
def test_two_addresses_that_differ_in_one_digit_have_different_whole_tokens() -> None:
    assert "10.0.0.5" not in search_tokens("the printer is at 10.0.0.8")


def test_english_words_are_stemmed_and_stop_words_left_out() -> None:
    assert search_tokens("The printer's jobs were running") == ["printer", "job", "run"]


def test_a_text_of_stop_words_alone_keeps_them() -> None:
    assert search_tokens("to be or not to be") == ["to", "be", "or", "not", "to", "be"]


def test_a_chinese_word_of_two_characters_is_counted_once() -> None:
    assert search_tokens("報表").count("报表") == 1


def test_a_name_that_the_dictionary_does_not_know_is_found_by_character_pairs() -> None:
    assert {"任务"} <= set(search_tokens("那個任務"))
    assert set(search_tokens("阿夯")) & set(search_tokens("昨天和阿夯吃飯"))


@given(st.text(max_size=200))
def test_any_text_has_tokens_without_white_space(text: str) -> None:
    assert all(token and not token.isspace() for token in search_tokens(text))


def test_segments_are_words_in_order() -> None:
    assert segment("我上週寫了報表") == ["我", "上周", "写", "了", "报表"]


@pytest.mark.parametrize(
    ("text", "chinese"),
    [
        ("上週那個 OCR 做到哪了", True),
        ("what does 任務 mean here", False),
        ("", False),
        ("hello", False),
        ("12 34", False),
    ],
)
def test_a_text_is_chinese_when_half_of_it_is_han(text: str, chinese: bool) -> None:
    assert is_chinese(text) is chinese
