"""Reads the words of deeds that ship with the service."""

from __future__ import annotations

import tomllib
from importlib import resources

from memvault_search.domain.deeds import DeedWords


def load_deeds() -> DeedWords:
    """Return the content of `data/deeds.toml`.

    Raises:
        tomllib.TOMLDecodeError: When the file is damaged.
        ValueError: When a word in it is none of the index.
    """
    text = resources.files("memvault_search").joinpath("data/deeds.toml").read_text("utf-8")
    return DeedWords(tomllib.loads(text)["deeds"])
