"""Reads the words that ship with the service."""

from __future__ import annotations

import re
import tomllib
from importlib import resources
from typing import Any

from memvault_slow_thinker.domain.lexicon import Lexicon, Words


def load_lexicon() -> Lexicon:
    """Return the lexicon of `data/lexicon.toml`. Raises KeyError or re.error when the file is damaged."""
    text = resources.files("memvault_slow_thinker").joinpath("data/lexicon.toml").read_text("utf-8")
    return Lexicon({language: _words(language, table) for language, table in tomllib.loads(text).items()})


def _words(language: str, table: dict[str, Any]) -> Words:
    edge = r"\b" if language == "en" else ""
    end = r"(?![a-z'])" if language == "en" else ""
    return Words(
        empty=re.compile(_any(table["empty"])),
        pointing=re.compile(edge + _any(table["pointing"]) + edge),
        opening=re.compile(_any(table["opening"]) + end),
        announcing=re.compile(_any(table["announcing"]) + end),
        task=re.compile(edge + _any(table["task"]) + edge),
        entity_template=table["entity_template"],
        relation_template=table["relation_template"],
        task_template=table["task_template"],
    )


def _any(expressions: list[str]) -> str:
    return "(?:" + "|".join(expressions) + ")"
