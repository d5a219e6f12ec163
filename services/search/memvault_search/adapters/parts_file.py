"""Reads the words by which questions are divided that ship with the service."""

from __future__ import annotations

import tomllib
from importlib import resources

from memvault.text import fold
from memvault_search.domain.parts import PartWords


def load_parts() -> PartWords:
    """Return the content of `data/parts.toml`, folded. Raises tomllib.TOMLDecodeError when the file is damaged."""
    text = resources.files("memvault_search").joinpath("data/parts.toml").read_text("utf-8")
    words = {name: tuple(dict.fromkeys(fold(one) for one in listed)) for name, listed in tomllib.loads(text).items()}
    return PartWords(**words)
