"""Reads the packaged lexicons, archetypes, follow-up shapes and words of time, once, when the service is built."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any

from memvault_router.domain.operators.bare import AskingWords, parse_asking_words
from memvault_router.domain.operators.embedding import Archetype, parse_archetypes
from memvault_router.domain.operators.follow_up import FollowUpShapes, parse_shapes
from memvault_router.domain.operators.keyword import Lexicon, parse_lexicon
from memvault_router.domain.operators.time_range import TimeWords, parse_time_words

KINDS = ("intent", "facet")


@dataclass(frozen=True)
class Language:
    """Everything about language and labels that is data and not code."""

    lexicons: tuple[Lexicon, ...]
    archetypes: tuple[Archetype, ...]
    shapes: FollowUpShapes
    time_words: TimeWords
    asking_words: AskingWords
    passages: Mapping[str, tuple[str, ...]]


def load_language() -> Language:
    """Read all data files of the package.

    Raises:
        ValueError: When a file breaks its format; the message names the file's language and what is wrong.
    """
    archetypes = [
        archetype
        for kind in KINDS
        for document in _documents("archetypes", f"{kind}_")
        for archetype in parse_archetypes(kind, document)
    ]
    day_order, holidays, lookalikes = _documents("time")
    (passages,) = _documents("passages")
    return Language(
        lexicons=tuple(parse_lexicon(document) for document in _documents("lexicon")),
        archetypes=tuple(archetypes),
        shapes=parse_shapes(_documents("follow_up")),
        time_words=parse_time_words(day_order, holidays, lookalikes),
        asking_words=parse_asking_words(_documents("bare")),
        passages={facet: tuple(texts.values()) for facet, texts in passages.items()},
    )


def _documents(folder: str, prefix: str = "") -> Iterator[dict[str, Any]]:
    files = resources.files("memvault_router.data").joinpath(folder)
    for file in sorted(files.iterdir(), key=lambda entry: entry.name):
        if file.name.startswith(prefix) and file.name.endswith(".toml"):
            yield tomllib.loads(file.read_text(encoding="utf-8"))
