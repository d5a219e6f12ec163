"""Drafts from the talk as a whole, which the tuned profile makes (R-50a, R-51)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from memvault.runtime.settings import load
from memvault_slow_thinker.adapters.lexicon_file import load_lexicon
from memvault_slow_thinker.domain.conversation import Utterance
from memvault_slow_thinker.domain.follow_ups import follow_up, subjects, thread
from memvault_slow_thinker.domain.names import tells_little, titles_in
from memvault_slow_thinker.domain.operators.question_generator import QuestionGenerator
from memvault_slow_thinker.domain.prediction import Draft, Kind, Prediction
from memvault_slow_thinker.settings import Settings

SETTINGS = load("slow_thinker", Settings, profile="tuned", environ={})
NOW = 1_790_000_000.0

pytestmark = pytest.mark.r("R-50a")


def talk(*texts: str) -> tuple[Utterance, ...]:
    speakers = ("user", "assistant")
    return tuple(
        Utterance(f"e{place}", speakers[place % 2], text, NOW + 10 * place) for place, text in enumerate(texts)
    )


def drafted(*texts: str) -> dict[Kind, Draft]:
    window = talk(*texts)
    numbers = replace(SETTINGS.prediction, drafts=10)
    state = Prediction(NOW, window, numbers, SETTINGS.admission, sample=window)
    return {draft.kind: draft for draft in QuestionGenerator(load_lexicon())(state).drafts}


def test_after_an_answer_the_last_exchange_and_the_thread_are_drafted() -> None:
    made = drafted("Tell me about the Falcon release", "It ships soon.", "who tests it?", "Two people in the lab.")
    assert made[Kind.FOLLOW_UP].text == "Falcon who tests it? Two people in the lab."
    assert made[Kind.THREAD].text == "who tests it? Tell me about the Falcon release"
    assert Kind.OWN_TEXT not in made


def test_what_the_person_asked_last_is_drafted_in_their_words_when_it_names_its_subject() -> None:
    made = drafted("早安", "早", "《一一》的導演還拍過哪些片")
    assert made[Kind.OWN_TEXT].text == "《一一》的導演還拍過哪些片"


def test_a_whole_question_stays_in_the_persons_words_so_that_whoever_asks_with_them_is_served() -> None:
    asked = "總共花費了多少錢拍攝完成的呢？"
    assert drafted("看過《冰川時代》嗎？", "看過，是部動畫", asked)[Kind.OWN_TEXT].text == asked


def test_thanks_at_the_end_do_not_hide_what_was_talked_about() -> None:
    assert drafted("看過《冰川時代》嗎？", "看過，是部動畫", "謝謝")[Kind.FOLLOW_UP].text.endswith("看過，是部動畫")


def test_a_title_leads_and_countries_do_not() -> None:
    said = talk("看過《冰川時代》嗎？", "看過，美國片，李安也喜歡", "是在日本上映的嗎")
    assert subjects(said) == ("冰川時代", "李安")
    assert tells_little("美國")
    assert not tells_little("李安")


def test_the_last_utterance_keeps_half_of_the_room() -> None:
    said = talk("b" * 500, "the end")
    assert follow_up(said, 100) == "b" * 50 + " the end"


def test_a_thread_is_the_last_things_the_person_said_the_newest_first() -> None:
    said = talk("one", "x", "two", "x", "three", "x", "four", "x", "five")
    assert thread(said[::2], said, 300, answered=True) == "five four three two"
    assert thread(said[::2], said, 300, answered=False) == "five four"
    assert thread(said[::2], talk("我們聊聊《一一》"), 300, answered=False) == "一一 five four"


def test_before_an_answer_a_thread_needs_more_than_it_tells() -> None:
    said = talk("one", "x", "two")
    assert thread(said[::2], said, 300, answered=False) == ""


def test_titles_are_what_is_quoted_and_names_of_several_parts() -> None:
    assert titles_in("《魂斷藍橋》的羅伯特·泰勒") == ("魂斷藍橋", "的羅伯特·泰勒")
    assert titles_in('"Falcon" is a code') == ()
    assert titles_in("《[REDACTED]》與「魂斷藍橋」") == ("魂斷藍橋",)


def test_the_reference_profile_drafts_neither() -> None:
    reference = load("slow_thinker", Settings, profile="reference", environ={}).prediction.free
    assert (reference.follow_up, reference.thread) == (0.0, 0.0)
