"""Whose words a question is after: the speaker whom it names, or the user who says "I" (R-10).

"When did Caroline go to the support group?" is answered by what Caroline said, "what did I buy?" by what the user
said. Read off the question's words alone, without a language model.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from memvault.text import fold, is_chinese

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_OWN_S = re.compile(r"['’]s?$")
_SHORTEST_LATIN = 3
_SHORTEST_CHINESE = 2


@dataclass(frozen=True, eq=False)
class PersonWords:
    """Folded words, the content of `data/persons.toml`.

    `first_person`: by which askers name themselves, whole words; `first_person_chinese`: the same, anywhere, but not
    inside one of `not_first_person`. `user`: names under which applications write down what the user said. `never`: no
    one's name when it stands in a question.
    """

    first_person: frozenset[str]
    first_person_chinese: tuple[str, ...]
    not_first_person: tuple[str, ...]
    user: frozenset[str]
    never: frozenset[str]


class Speakers:
    """Everybody who said something that one user keeps."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def __iter__(self) -> Iterator[str]:
        return iter(self._counts)

    def add(self, name: str) -> None:
        """Count something that `name` said; an empty name is nobody."""
        if name:
            self._counts[name] += 1

    def remove(self, name: str) -> None:
        """Something that `name` said, as it was added, is gone."""
        if name:
            self._counts[name] -= 1
            self._counts += Counter()  # keeps only what is above 0


def asked_speaker(text: str, speakers: Iterable[str], words: PersonWords) -> str | None:
    """Return the one speaker among `speakers` whose words a question is after.

    None when it names nobody, or more than one: then either may have said it.
    """
    folded = fold(text)
    spoken = {_OWN_S.sub("", word) for word in _WORD.findall(folded)}
    named = {one for one in speakers if _is_named(one, folded, spoken, words)}
    return named.pop() if len(named) == 1 else None


def _is_named(speaker: str, folded: str, spoken: set[str], words: PersonWords) -> bool:
    name = _folded(speaker)
    if name in words.user:
        return bool(spoken & words.first_person) or _says_i(folded, words)
    if name in words.never:
        return False
    if is_chinese(name):
        return len(name) >= _SHORTEST_CHINESE and name in folded
    parts = _WORD.findall(name)
    return bool(parts) and len(parts[0]) >= _SHORTEST_LATIN and parts[0] in spoken


def _says_i(folded: str, words: PersonWords) -> bool:
    for other in words.not_first_person:
        folded = folded.replace(other, " ")
    return any(one in folded for one in words.first_person_chinese)


@lru_cache(maxsize=4096)
def _folded(name: str) -> str:
    return fold(name).strip()
