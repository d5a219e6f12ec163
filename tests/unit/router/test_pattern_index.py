"""What a pattern begins with may be told too widely, never too narrowly: a match must not be missed."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memvault_router.adapters.data_files import load_language
from memvault_router.domain.operators.pattern_index import PatternIndex, openings, seen_in

LANGUAGE = load_language()
PACKAGED = sorted(
    {
        pattern
        for lexicon in LANGUAGE.lexicons
        for rule in (*lexicon.rules, *lexicon.open_rules)
        for pattern in rule.patterns
    }
)
# Matches made of any letter that a class allows are mostly of scripts that no text is folded to.
LETTERS = "abcdehiklmnorstuwy019 -_'.?,你我他的了吗什么哪说聊谁和跟比较好\n"

pytestmark = pytest.mark.r("R-01")


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        (r"\bwhere\b(?!.{0,12}\bgo\b)", {"where"}),
        (r"\bhow far (along|is)\b", {"how"}),
        (r"\bwhat(?:'s| is)? up\b", {"what"}),
        (r"\b(recommend|recommendations?)\b", {"recommend", "recommendation", "recommendations"}),
        (r"\bshow\b|\btell me\b", {"show", "tell"}),
        (r"^(so |and )?why\b", {"so", "and", "why"}),
        (r"\bvs\.", {"vs"}),
        (r"\bhow\ many\b", {"how"}),
        (r"\bupdat", {"u"}),
        (r"\bsay.{0,12}joke", {"s"}),
        (r"\bwell-? done", {"w"}),
        ("(还)?记(不记)?得", {"还", "记"}),
        ("谁(?!的)", {"谁"}),
        ("哈+", {"哈"}),
        (r"\.toml", {"."}),
        ("的*好", None),
        (r"[a-z]{2}-\d", None),
        (".{2,9}吗", None),
        ("(好|对)*吗", None),
        ("(?=好)好", None),
        ("ok|[0-9]+", None),
        (r"\d+", None),
        ("", None),
    ],
)
def test_openings_of_plain_patterns_are_told(pattern: str, expected: set[str] | None) -> None:
    assert openings(pattern) == (None if expected is None else frozenset(expected))


def test_nearly_all_packaged_patterns_have_them() -> None:
    assert sum(openings(pattern) is None for pattern in PACKAGED) < len(PACKAGED) / 20


def test_every_archetype_finds_what_trying_every_pattern_finds() -> None:
    texts = [archetype.text for archetype in LANGUAGE.archetypes]
    index = PatternIndex([pattern] for pattern in PACKAGED)
    tried = [re.compile(pattern) for pattern in PACKAGED]
    for text in texts:
        expected = [owner for owner, pattern in enumerate(tried) if pattern.search(text)]
        assert list(index.find(text, seen_in(text))) == expected, text


@settings(max_examples=120, deadline=None, derandomize=True, database=None)
@given(st.data())
def test_whatever_matches_a_packaged_pattern_is_found(data: st.DataObject) -> None:
    pattern = data.draw(st.sampled_from(PACKAGED))
    text = data.draw(st.from_regex(pattern, alphabet=st.sampled_from(LETTERS + "".join(sorted(set(pattern))))))
    match = re.search(pattern, text)
    found = PatternIndex([[pattern]]).find(text, seen_in(text))
    assert (0 in found) == (match is not None)


def test_an_owner_is_told_once_with_its_first_pattern_that_matches() -> None:
    found = PatternIndex([["nothing", r"\bred\b", "."], ["x"]]).find("a red x", seen_in("a red x"))
    assert {owner: match.group() for owner, match in found.items()} == {0: "red", 1: "x"}
