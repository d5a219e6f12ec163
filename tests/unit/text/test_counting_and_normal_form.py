"""Tests of token counts, clipping, the normal form and the prefetch key."""

import hashlib
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memvault.prefetch_key import prefetch_key
from memvault.text import clip_tokens, count_tokens, normal_form, query_hash
from memvault.text.counting import _encoding

# Counts of the publisher's own tokenizer (dashscope 2.0.2) for the same texts.
PUBLISHED = [
    ("hello world", 2),
    ("今天天氣很好 hello", 5),
    ("上週那個 OCR 做到哪了？", 11),
    ("INC-4821 is at 10.0.0.5", 17),
    ("<|endoftext|>", 7),
    ("", 0),
]

SEAMS = list("a中1 .,!?;:。！？；：，\n\r'…\u3000")


@pytest.mark.parametrize(("text", "count"), PUBLISHED)
def test_counts_equal_those_of_the_published_tokenizer(text: str, count: int) -> None:
    assert count_tokens(text) == count


@given(st.text(st.characters(categories=["L", "M", "N", "P", "S", "Z", "Cc"]) | st.sampled_from(SEAMS), max_size=60))
def test_counting_sentence_by_sentence_changes_no_count(text: str) -> None:
    whole = _encoding().encode_ordinary(unicodedata.normalize("NFC", text))
    assert count_tokens(text) == len(whole)


@given(
    st.lists(
        st.sampled_from(['","', ',"', '":"', '"', ",", "},{", "a", "B", "1", "中", " ", "'s", "é", "\u0301", "_"]),
        max_size=30,
    )
)
def test_counting_field_by_field_changes_no_count_of_json(pieces: list[str]) -> None:
    text = unicodedata.normalize("NFC", "".join(pieces))
    assert count_tokens(text) == len(_encoding().encode_ordinary(text))


@given(st.text(max_size=200), st.integers(0, 50))
def test_a_clipped_text_is_a_beginning_that_fits(text: str, n: int) -> None:
    clipped = clip_tokens(text, n)
    assert count_tokens(clipped) <= n
    assert text.startswith(clipped)


def test_clipping_uses_the_room_it_has() -> None:
    assert count_tokens(clip_tokens("今天天氣很好，我們去河邊跑步。" * 50, 100)) >= 98


def test_a_negative_number_of_tokens_is_refused() -> None:
    with pytest.raises(ValueError, match="negative"):
        clip_tokens("x", -1)


def test_a_megabyte_without_a_blank_is_counted() -> None:
    assert count_tokens("a" * 1_000_000) > 100_000


@pytest.mark.r("R-54")
def test_spelling_variants_of_one_question_share_the_hash() -> None:
    assert normal_form("  ＯＣＲ　做到\n哪了？ ") == "ocr 做到 哪了?"
    assert query_hash("OCR 進度") == query_hash(" ocr   进度")
    assert query_hash("OCR 進度") == hashlib.sha256("ocr 进度".encode()).hexdigest()[:32]


@pytest.mark.r("R-53")
def test_the_prefetch_key_names_the_user_and_the_hash() -> None:
    assert prefetch_key("ann", "OCR") == f"memvault:prefetch:ann:{query_hash('ocr')}"


@pytest.mark.r("R-54")
def test_two_users_never_share_a_prefetch_key() -> None:
    assert prefetch_key("ann", "OCR") != prefetch_key("bob", "OCR")
