"""Reads the words about persons that ship with the service."""

from __future__ import annotations

import tomllib
from importlib import resources

from memvault.text import fold
from memvault_search.domain.speakers import PersonWords


def load_persons() -> PersonWords:
    """Return the content of `data/persons.toml`, folded. Raises tomllib.TOMLDecodeError when the file is damaged."""
    text = resources.files("memvault_search").joinpath("data/persons.toml").read_text("utf-8")
    words = {name: tuple(dict.fromkeys(fold(one) for one in listed)) for name, listed in tomllib.loads(text).items()}
    return PersonWords(
        first_person=frozenset(words["first_person"]),
        first_person_chinese=words["first_person_chinese"],
        not_first_person=words["not_first_person"],
        user=frozenset(words["user"]),
        never=frozenset(words["never"]),
    )
