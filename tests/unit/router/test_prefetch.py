"""R-54, the reading half: which prepared answer is near and safe."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from memvault.runtime.settings import load
from memvault_router.adapters.data_files import load_language
from memvault_router.domain.operators.time_range import read_time
from memvault_router.domain.prefetch import (
    Circumstances,
    IndexedQuestion,
    NearNumbers,
    Prepared,
    names_in,
    nearest,
    negated,
    numbers_in,
    uncovered,
    usable,
    why_not,
)
from memvault_router.settings import RouterSettings

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
WORDS = load_language().time_words
VAGUE = load("router", RouterSettings, profile="reference", home=Path("/nonexistent"), environ={}).vague
NUMBERS = NearNumbers(similarity=0.6, margin=0.02, content_share=0.6)

pytestmark = pytest.mark.r("R-54")


def entry(query, *texts, **known):
    made = Prepared(
        query=query,
        query_hash="h",
        conditions="c",
        ruleset_version="r",
        encoder_id="e",
        intent="factual",
        confidence=0.9,
        facet="none",
        thinking_mode="fast",
        retrieval_mode="LOCAL",
        texts=texts,
        expires_at=NOW + timedelta(seconds=300),
        made_for=NOW,
        payload=b"",
    )
    return replace(made, **known)


def times(text):
    return read_time(text, NOW, ZoneInfo("Asia/Taipei"), WORDS, VAGUE)


def missing(question, prepared):
    return uncovered(question, prepared, times, NUMBERS.content_share)


@pytest.mark.parametrize(
    ("question", "predicted", "lacks"),
    [
        ("印表機的 IP 是多少", "印表機的 IP 是什麼", ""),
        ("印表機 3 樓的 IP", "印表機 5 樓的 IP", "number"),
        ("三樓印表機的 IP", "3樓印表機的 IP", ""),
        ("上週的會議說了什麼", "昨天的會議說了什麼", "date"),
        ("會議說了什麼", "昨天的會議說了什麼", "date"),
        ("我不能吃什麼", "我能吃什麼", "negation"),
        ("what can I not eat", "what can I eat", "negation"),
        ("要不要換工作", "我要不要換工作呢", ""),
        ("Priya 的預算", "Marcus 的預算", "name"),
        ("what did Priya say about the budget", "what did Marcus say about the budget", "name"),
        ("INC-4821 的狀態", "INC-4822 的狀態", "number"),
        ("「小綠人」的期限", "「小藍人」的期限", "name"),
        ("台北下週末的天氣預報準不準", "高雄下週末的天氣預報準不準", "name"),
        ("what did priya say about the budget", "what did marcus say about the budget", "name"),
        ("How is the OCR migration going", "ocr migration: how is it going", ""),
    ],
)
def test_every_name_number_date_and_negation_must_be_covered(question, predicted, lacks):
    assert missing(question, entry(predicted)) == lacks


def test_numbers_and_names_may_also_stand_in_the_cards():
    cards = "INC-4821 由 Priya 處理，預計 12 月完成"
    assert missing("INC-4821 目前處理的狀態", entry("那張工單目前處理的狀態", cards)) == ""


def test_words_that_only_the_cards_know_are_too_little():
    prepared = entry("那個專案", "OCR 的辨識率和版面調整都做完了")
    assert missing("OCR 辨識率 版面調整", prepared) == "content"


def test_dates_and_negations_in_the_cards_do_not_help():
    assert missing("昨天的會議", entry("會議", "昨天的會議很長")) == "date"


@pytest.mark.parametrize("text", ["要不要去", "是不是他", "做好了沒", "差不多了嗎", "有沒有新的", "不錯的餐廳"])
def test_asking_forms_deny_nothing(text):
    assert not negated(text)


@pytest.mark.parametrize("text", ["我沒去哪裡", "哪些不能吃", "who didn't come", "never again", "除了他之外誰都沒來"])
def test_denials_are_seen(text):
    assert negated(text)


def test_numbers_are_read_in_digits_and_in_chinese():
    assert numbers_in("三樓、12號、v2.15") == {"3", "12", "2.15"}
    assert numbers_in("等一下") == set()


def test_names_are_codes_capitals_quotes_and_latin_words_in_chinese():
    assert names_in("What did Priya say about MLX") == {"priya", "mlx"}
    assert names_in("那個 ocr 專案") == {"ocr"}
    assert names_in("《一一》的導演") == {"一一"}
    assert names_in("what is the plan") == set()


def test_an_entry_made_under_other_conditions_rules_or_too_long_ago_is_not_used():
    good = Circumstances("ann", "c", now=NOW, asked_for=NOW, apart=timedelta(hours=1))
    assert usable(entry("q"), good, "r")
    assert not usable(entry("q"), replace(good, conditions="other"), "r")
    assert not usable(entry("q"), good, "new")
    assert not usable(entry("q"), replace(good, now=NOW + timedelta(seconds=300)), "r")


@pytest.mark.parametrize("apart", [timedelta(hours=2), timedelta(hours=-2)])
def test_what_was_prepared_for_another_time_does_not_serve(apart):
    asked = Circumstances("ann", "c", now=NOW, asked_for=NOW, apart=timedelta(hours=1))
    assert usable(entry("q", made_for=NOW + apart / 4), asked, "r")
    assert not usable(entry("q", made_for=NOW + apart), asked, "r")


def test_the_nearest_question_must_be_near_and_clear_of_the_next():
    def row(key, x, y):
        return IndexedQuestion(key, np.array([x, y], np.float32))

    asked = np.array([1.0, 0.0], np.float32)
    assert nearest(asked, [], NUMBERS) is None
    assert nearest(asked, [row("a", 0.5, 0.5)], NUMBERS) is None
    found = nearest(asked, [row("a", 0.5, 0.5), row("b", 0.9, 0.1)], NUMBERS)
    assert found is not None
    assert found[0].query_hash == "b"
    assert nearest(asked, [row("a", 0.9, 0.1), row("b", 0.91, 0.1)], NUMBERS) is None


def test_vectors_of_another_dimension_are_no_neighbours():
    assert nearest(np.ones(2, np.float32), [IndexedQuestion("a", np.ones(3, np.float32))], NUMBERS) is None


def test_an_answer_of_another_facet_was_searched_differently():
    assert why_not("OCR 做到哪了", "progress", entry("OCR 做到哪了"), times, NUMBERS) == "facet"
    assert why_not("OCR 做到哪了", "none", entry("OCR 做到哪了"), times, NUMBERS) == ""
