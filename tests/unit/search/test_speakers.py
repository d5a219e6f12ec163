"""Whose words a question is after (R-10)."""

from __future__ import annotations

import pytest

from memvault_search.adapters.persons_file import load_persons
from memvault_search.domain.speakers import Speakers, asked_speaker

PERSONS = load_persons()
TWO = ["Caroline", "Melanie"]


@pytest.mark.parametrize(
    ("question", "speakers", "expected"),
    [
        ("When did Caroline go to the support group?", TWO, "Caroline"),
        ("what is caroline's favourite book?", TWO, "Caroline"),
        ("What are Melanie’s hobbies?", TWO, "Melanie"),
        ("What do Caroline and Melanie both like?", TWO, None),
        ("Who went to the beach?", TWO, None),
        ("Where does Mel live?", TWO, None),
        ("When did John move?", ["John Smith", "Mary"], "John Smith"),
        ("Did Joanna move?", ["Jo", "Joan"], None),
        ("芷寧說介面做得怎樣了？", ["芷寧", "予安"], "芷寧"),
        ("芷宁说界面做得怎样了？", ["芷寧", "予安"], "芷寧"),
        ("林說了什麼？", ["林", "予安"], None),
    ],
)
def test_a_question_is_after_the_one_speaker_whom_it_names(question, speakers, expected):
    assert asked_speaker(question, speakers, PERSONS) == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Have I used Bootstrap before?", "user"),
        ("What did you tell me about my budget?", "user"),
        ("I'm looking for the book that was mentioned", "user"),
        ("我上次買了什麼？", "user"),
        ("我們的預算是多少？", None),
        ("What is the budget?", None),
        ("What did the assistant recommend?", None),
        ("Is this in Miami?", None),
    ],
)
def test_who_says_i_is_after_what_the_user_said(question, expected):
    assert asked_speaker(question, ["user", "assistant"], PERSONS) == expected


def test_a_question_that_names_somebody_and_the_asker_is_after_neither():
    assert asked_speaker("What did Caroline tell me?", ["user", "Caroline"], PERSONS) is None


def test_a_speaker_is_known_until_the_last_of_their_words_is_gone():
    speakers = Speakers()
    for name in ("Ann", "Ann", "", "Bob"):
        speakers.add(name)
    assert sorted(speakers) == ["Ann", "Bob"]
    speakers.remove("Ann")
    speakers.remove("Bob")
    assert sorted(speakers) == ["Ann"]
    speakers.remove("Ann")
    assert not list(speakers)
