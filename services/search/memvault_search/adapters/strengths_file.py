"""Reads the strengths per intent and facet that ship with the service."""

from __future__ import annotations

import tomllib
from importlib import resources

from memvault_search.domain.scoring.numbers import StrengthTables


def load_strengths() -> StrengthTables:
    """Return the tables of `data/strengths.toml`. Raises tomllib.TOMLDecodeError when the file is damaged."""
    text = resources.files("memvault_search").joinpath("data/strengths.toml").read_text("utf-8")
    tables = tomllib.loads(text)
    return StrengthTables(by_intent=tables["intent"], by_facet=tables["facet"])
