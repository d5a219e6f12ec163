"""Whose words a question is after (R-10)."""

from __future__ import annotations

import pytest

from memvault_search.adapters.persons_file import load_persons
from memvault_search.domain.speakers import Speakers, asked_speaker, asks_of_a_talk

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
        ("What did you tell me about my budget?", "assistant"),
        ("What do you recommend for my garden?", "user"),
        ("How did I plan the trip, and which hotel did you recommend?", "assistant"),
        ("You've also mentioned a book I should read, which one?", "assistant"),
        ("What did I say that you recommended?", "user"),
        ("Did I mention my sister when you gave me the list?", "user"),
        ("My wife said it was cold; what do I own against that?", "user"),
        ("Can you remind me what the flight cost?", None),
        ("Can you remind me what I paid for the flight?", "user"),
        ("I was thinking of our last conversation about glazes: what came first?", None),
        ("In which order did I bring up glazes in our conversations?", "user"),
        ("We discussed glazes, and I wonder which were safe.", None),
        ("你上次推薦的釉是哪一種？我忘了", "assistant"),
        ("我上次跟你說過的釉是哪一種？", "user"),
        ("我想知道我們上次聊的釉", None),
        ("What did I give Ben in March?", "user"),
        ("Do you remember who recommended the restaurant to me?", "user"),
        ("Do you know who gave me the watch?", "user"),
        ("I forgot you told me of a glaze. Which?", "assistant"),
        ("Do you still have the written address?", None),
        ("Do you remember what you recommended to me?", "assistant"),
        ("Which is the book you have recommended to me?", "assistant"),
        ("你說的那家是哪一家？", "assistant"),
        ("上次你說的那家在哪裡？我忘了", "assistant"),
        ("你昨天推薦的是哪一本？", "assistant"),
        ("你推薦了哪本？我忘了", "assistant"),
        ("你教我的是哪一招？", "assistant"),
        ("你上禮拜建議我買哪一支？", "assistant"),
        ("你之前是怎麼跟我說的？", "assistant"),
        ("你跟我說過的那家", "user"),
        ("你會推薦我哪一本？", "user"),
        ("你記得誰推薦的嗎？", None),
        ("你聽說過這家嗎？", None),
        ("你看過我寫的日記嗎？", "user"),
        ("你之前住哪？", None),
        ("你們說的是哪一家？", None),
        ("提醒我上次買了什麼", "user"),
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


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What did Caroline tell me?", "Caroline"),
        ("Tell me what Caroline said", "Caroline"),
        ("What did I tell Caroline?", "user"),
        ("What does Melanie think about Caroline's plan?", "Melanie"),
        ("According to Caroline, what makes Melanie patient?", "Caroline"),
        ("What did you say about Caroline?", "assistant"),
        ("Do you remember Caroline said she would move?", "Caroline"),
        ("Did you see Caroline's shared photos?", "Caroline"),
        ("Do you have Caroline's written address?", "Caroline"),
        ("What do you think Caroline told Melanie?", "Caroline"),
        ("What have you, Caroline, suggested?", "Caroline"),
        ("What did you share of Caroline's anniversary?", "assistant"),
        ("芷寧跟你說的是哪一天？", "芷寧"),
        ("你有芷寧寫的地址嗎？", "芷寧"),
        ("What did Caroline and I decide?", None),
        ("What did Melanie, Caroline and I decide?", None),
        ("芷寧跟我說了什麼？", "芷寧"),
        ("告訴我芷寧說了什麼", "芷寧"),
        ("我和芷寧約了幾點？", None),
    ],
)
def test_of_several_who_are_named_the_first_tells_unless_two_are_named_as_a_pair(question, expected):
    speakers = ["user", "assistant", "Caroline", "Melanie", "芷寧"]
    assert asked_speaker(question, speakers, PERSONS) == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What did I say in March?", True),
        ("In which order did I bring up glazes?", True),
        ("What did we talk about in March?", True),
        ("What did you give me in March?", True),
        ("我們之前討論過什麼？", True),
        ("What did I bring to the party in March?", False),
        ("What did I give Ben in March?", False),
        ("What have I written, created, sent or shared in March?", False),
        ("Do you remember Ben said he would move in March?", False),
        ("我們之前住在哪裡？", False),
        ("我們上次三月去日本做了什麼？", False),
        ("我們上次提早走", False),
    ],
)
def test_a_question_is_after_a_talk_where_it_says_that_one_talked(question, expected):
    assert asks_of_a_talk(question, ["user", "assistant", "Ben"], PERSONS) is expected


def test_two_speakers_of_one_first_name_are_not_told_apart():
    assert asked_speaker("When did John move?", ["John Smith", "John Miller"], PERSONS) is None


def test_what_you_said_is_nobodys_where_no_answers_are_kept():
    assert asked_speaker("Which book did you recommend to me?", ["user", "Caroline"], PERSONS) is None


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
