"""Words of both languages that prediction needs; the content of `data/lexicon.toml`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from memvault.text import is_chinese


@dataclass(frozen=True)
class Words:
    """The words of one language.

    `empty`: whole utterances that ask for nothing. `pointing`: words that point at something said before.
    `opening`: what may stand before the real question. `announcing`: what says that a question will come.
    `task`: marks of something still to do.
    Templates hold `{entity}`, `{relation}` or `{name}`.
    """

    empty: re.Pattern[str]
    pointing: re.Pattern[str]
    opening: re.Pattern[str]
    announcing: re.Pattern[str]
    task: re.Pattern[str]
    entity_template: str
    relation_template: str
    task_template: str


@dataclass(frozen=True)
class Lexicon:
    """Words by language, `zh` and `en`."""

    languages: Mapping[str, Words]

    def of(self, text: str) -> Words:
        """Return the words for the language of `text`."""
        return self.languages["zh" if is_chinese(text) else "en"]

    def is_empty(self, text: str) -> bool:
        """Return whether the text asks for nothing by itself, such as "and then?" or 「然後呢」."""
        bare = text.strip(" \t\n.,!?;:~…。，！？；：～、")
        return not bare or any(words.empty.fullmatch(bare.lower()) for words in self.languages.values())
