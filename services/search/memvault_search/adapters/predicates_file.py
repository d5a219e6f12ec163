"""Reads the single-valued predicates that ship with the service."""

from __future__ import annotations

import tomllib
from importlib import resources

from memvault.text import fold


def load_single_valued() -> frozenset[str]:
    """The predicates of `data/single_valued.toml`, folded. Raises tomllib.TOMLDecodeError when it is damaged."""
    text = resources.files("memvault_search").joinpath("data/single_valued.toml").read_text("utf-8")
    return frozenset(
        " ".join(fold(predicate).split()) for predicates in tomllib.loads(text).values() for predicate in predicates
    )
