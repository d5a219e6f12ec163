"""Reads the words about persons that ship with the service."""

from __future__ import annotations

import re
import tomllib
from importlib import resources

from memvault.text import fold
from memvault_search.domain.speakers import PersonWords


def load_persons() -> PersonWords:
    """Return the content of `data/persons.toml`, folded.

    Raises:
        tomllib.TOMLDecodeError: When the file is damaged.
        re.error: When a pattern in it is.
    """
    text = resources.files("memvault_search").joinpath("data/persons.toml").read_text("utf-8")
    words = {name: tuple(dict.fromkeys(fold(one) for one in listed)) for name, listed in tomllib.loads(text).items()}
    return PersonWords(
        first_person=frozenset(words["first_person"]),
        first_person_chinese=words["first_person_chinese"],
        not_first_person=words["not_first_person"],
        requests=frozenset(words["requests"]),
        requests_chinese=words["requests_chinese"],
        i=frozenset(words["i"]),
        i_say=frozenset(words["i_say"]),
        i_said=frozenset(words["i_said"]),
        you=frozenset(words["you"]),
        did=frozenset(words["did"]),
        say=frozenset(words["say"]),
        said=frozenset(words["said"]),
        i_said_chinese=words["i_said_chinese"],
        you_said_chinese=tuple(map(re.compile, words["you_said_chinese"])),
        minding=frozenset(words["minding"]),
        possessing=frozenset(words["possessing"]),
        asked_whether=frozenset(words["asked_whether"]),
        another=frozenset(words["another"]),
        we=frozenset(words["we"]),
        talks=frozenset(words["talks"]),
        talks_chinese=tuple(map(re.compile, words["talks_chinese"])),
        joining=frozenset(words["joining"]),
        user=frozenset(words["user"]),
        assistant=frozenset(words["assistant"]),
        never=frozenset(words["never"]),
    )
