"""Questions that name no subject."""

import pytest

from memvault_router.adapters.data_files import load_language
from memvault_router.domain.operators.bare import is_bare

WORDS = load_language().asking_words


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("最近聊什麼？", "最近"),
        ("昨天我們聊了些什麼", "昨天"),
        ("最近怎麼樣", "最近"),
        ("你覺得我下一步該怎麼走", ""),
        ("接下來要先做哪一個比較好", ""),
        ("有什麼建議嗎", ""),
        ("現在的進展", ""),
        ("我那個任務做到哪了", ""),
        ("how far is that task of mine", ""),
        ("週末有什麼推薦", "週末"),
        ("what should I do next?", ""),
        ("what have we been talking about lately?", "lately"),
        ("how are things?", ""),
        ("what am I working on?", ""),
        ("what should we work on next", ""),
        ("what did we discuss last week", "last week"),
        ("2026-11-10 那天發生什麼事", "2026-11-10"),
        ("三月發生了什麼大事", "三月"),
        ("當天怎麼了", ""),
        ("what happened in March?", "in March"),
        ("what was happening that day", ""),
        ("summarize last week", "last week"),
    ],
)
def test_nothing_is_left_but_words_of_asking(text, time):
    assert is_bare(text, time, WORDS)


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("上週那個 OCR 做到哪了？", "上週"),
        ("我在想要不要換成 Rust 寫，你覺得？", ""),
        ("我上個月看了什麼電影", "上個月"),
        ("我該換工作嗎", ""),
        ("OCR 任務做到哪了", ""),
        ("MLX", ""),
        ("謝謝", ""),
        ("what did we discuss about the budget", ""),
        ("should I move to Postgres", ""),
        ("where do I work?", ""),
        ("when am I working next week?", "next week"),
        ("who do I work for?", ""),
        ("who am I?", ""),
        ("我是誰", ""),
        ("車禍是怎麼發生的", ""),
        ("發生地震那天我在哪", ""),
        ("what happened to my bike?", ""),
        ("summarize the contract", ""),
        ("???", ""),
        ("", ""),
    ],
)
def test_a_subject_is_left(text, time):
    assert not is_bare(text, time, WORDS)
