"""A text that asks several things, and the question behind an aside (R-10)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memvault_search.adapters.parts_file import load_parts
from memvault_search.domain.parts import parts_of

WORDS = load_parts()


def parts(text: str, most: int = 4, longest: int = 1000) -> tuple[str, ...]:
    return parts_of(text, WORDS, most=most, longest=longest)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "What is my sister's address? Also, when does the workshop begin?",
            ("What is my sister's address?", "when does the workshop begin?"),
        ),
        ("我上次看牙醫是什麼時候，另外停車場的費用是多少？", ("我上次看牙醫是什麼時候", "停車場的費用是多少？")),
        ("表哥哪天生日？另外，展覽的地點在哪？", ("表哥哪天生日？", "展覽的地點在哪？")),
        ("表哥哪天生日？还有，展览的地点在哪？", ("表哥哪天生日？", "展览的地点在哪？")),
        ('主題是"看展。另外，喝茶"的活動在哪？', ()),
        ("Where did Ann move? By the way, who sold the car? In addition, why?", None),
        ("What did she buy and who paid for it?", ()),
        ("What did we have for lunch? Also, thanks for yesterday.", ()),
        ("I also like tea. Where did I buy it?", ()),
        ("蘋果、香蕉，還有哪一種水果我沒吃過？", ()),
        ("", ()),
        ("另外", ()),
    ],
)
def test_each_question_that_stands_by_itself_is_a_part(text: str, expected: tuple[str, ...] | None) -> None:
    found = parts(text)
    if expected is None:  # "why?" alone finds nothing, and stays with the question before it
        expected = ("Where did Ann move?", "who sold the car? In addition, why?")
    assert found == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I have to water the plants. What I really want to know is: where are my keys?", ("where are my keys?",)),
        ("今天天氣真好，該去散步了。我真正想問的是：我參觀的醫院在哪裡？", ("我參觀的醫院在哪裡？",)),
        ("今天天氣真好。等等，誒，等等，我參觀的醫院在哪裡？", ("我參觀的醫院在哪裡？",)),
        ("今天下雨了。對了，我想問，那家醫院在哪裡？", ("那家醫院在哪裡？",)),
        ("我其實想知道那家醫院在哪裡？", ()),
        ("She was tired. Did he really want to know the answer?", ()),
        ("我買了米、油、鹽等等，總共花了多少錢？", ()),
    ],
)
def test_of_an_aside_and_a_question_only_the_question_is_asked(text: str, expected: tuple[str, ...]) -> None:
    assert parts(text) == expected


def test_every_question_loses_its_own_aside() -> None:
    text = "陽光真好。我本來想說的是，老師的電話是多少？另外，貓又胖了。不好意思，我真正想問的是：展覽幾點開始？"
    assert parts(text) == ("老師的電話是多少？", "展覽幾點開始？")


def test_a_part_that_leans_on_the_one_before_keeps_it() -> None:
    first = "Who is my dentist?"
    assert parts(f"{first} And when did I see her?") == (first, f"{first} when did I see her?")
    assert parts("誰教我鋼琴？另外，她住在哪裡？") == ("誰教我鋼琴？", "誰教我鋼琴？ 她住在哪裡？")
    # named in the part itself, before the word that leans
    assert parts("誰教我鋼琴？另外，那個愛登山的人，他住在哪裡？")[1] == "那個愛登山的人，他住在哪裡？"


def test_there_are_at_most_so_many_parts_and_long_texts_are_asked_as_they_are() -> None:
    text = "哪天開會？另外，誰負責簡報？另外，地點在哪？"
    assert len(parts(text)) == 3
    assert parts(text, most=2) == ("哪天開會？", "誰負責簡報？ 地點在哪？")
    assert parts(text, most=1) == ()
    assert parts(text, longest=len(text) - 1) == ()


@given(st.text(alphabet=st.sampled_from([*"另外，還有？?。 .wait, also 什麼真正想問她 é￥Ａ１ﬁİ\n"]), max_size=60))
def test_parts_are_taken_from_the_text_and_lose_no_question_word_silently(text: str) -> None:
    found = parts(text)
    assert len(found) <= 4
    for part in found:
        assert part.strip()
        # word for word out of the text, but for what a leaning part repeats
        assert all(piece in text for piece in part.split())
    assert found == parts(text)
