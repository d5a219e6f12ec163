"""Whose words a question is after: the speaker whom it names, the user who says "I", or whoever answered them (R-10).

"When did Caroline go to the support group?" is answered by what Caroline said, "what did I buy?" by what the user
said, "which book did you recommend?" by what the assistant said. Read off the question's words alone, without a
language model.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from memvault.text import fold, is_chinese

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_OWN_S = re.compile(r"['’]s?$")
_SHORTEST_LATIN = 3
_SHORTEST_CHINESE = 2
_BETWEEN = 2
"""Words that may stand between "I" or "you" and what was said: "you have also mentioned"."""


@dataclass(frozen=True, eq=False)
class PersonWords:
    """Folded words, the content of `data/persons.toml`.

    `first_person`: by which askers name themselves, whole words; `first_person_chinese`: the same, anywhere, but not
    inside one of `not_first_person`. `requests`: before "me", which then asks for an answer and names nobody;
    `requests_chinese`: the same, but with nobody else named it is the asker. `you`: behind it one of `said`, or one of
    `say` where one of `did` stands before it, tells who said something; `i`: the same with `i_said`, `i_say`, of which
    some are two words that stand together; `i_said_chinese` and the patterns `you_said_chinese`: the same in one.
    Nothing is told where one of `minding` or `another` stands between, or a speaker's name, or one of `possessing`
    where one of `asked_whether` stands before. `we`: behind it one of `talks` is what both said; the patterns
    `talks_chinese`: the same in one. `joining`: between two names, both are meant. `user`, `assistant`: names under
    which applications write down what the user said and what answered. `never`: no one's name when it stands in a
    question.
    """

    first_person: frozenset[str]
    first_person_chinese: tuple[str, ...]
    not_first_person: tuple[str, ...]
    requests: frozenset[str]
    requests_chinese: tuple[str, ...]
    i: frozenset[str]
    i_say: frozenset[str]
    i_said: frozenset[str]
    you: frozenset[str]
    did: frozenset[str]
    say: frozenset[str]
    said: frozenset[str]
    i_said_chinese: tuple[str, ...]
    you_said_chinese: tuple[re.Pattern[str], ...]
    minding: frozenset[str]
    possessing: frozenset[str]
    asked_whether: frozenset[str]
    another: frozenset[str]
    we: frozenset[str]
    talks: frozenset[str]
    talks_chinese: tuple[re.Pattern[str], ...]
    joining: frozenset[str]
    user: frozenset[str]
    assistant: frozenset[str]
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


class _Named(NamedTuple):
    """Where a question first names a speaker: the place of the name in it, and that of what follows."""

    start: int
    end: int


def asked_speaker(text: str, speakers: Iterable[str], words: PersonWords) -> str | None:
    """Return the one speaker among `speakers` whose words a question is after.

    Of several that it names the first one: who tells stands before what is told, and before whom ("what did Ann say
    about Ben?"). None when it names nobody, or two as a pair ("what do Ann and Ben both like?"): either may have said
    it. "You" is named by what it said ("which book did you recommend?"); then "I" is only who asks.
    """
    known = tuple(speakers)
    question = _Question(fold(text), known, words)
    found = {one: place for one in known if (place := question.names(one)) is not None}
    order = sorted(found, key=lambda one: (found[one].start, one))
    if len(order) > 1 and question.joins(found[order[0]], found[order[1]]):
        return None
    return order[0] if order else None


def asks_of_a_talk(text: str, speakers: Iterable[str], words: PersonWords) -> bool:
    """Whether a question is after what asker and answerer said to each other: "what did we talk about in March?"."""
    return _Question(fold(text), tuple(speakers), words).of_a_talk


class _Question:
    """A folded question, read once for all speakers."""

    def __init__(self, folded: str, speakers: Sequence[str], words: PersonWords) -> None:
        self._folded = folded
        self._words = words
        self._found = [(_OWN_S.sub("", one.group()), _Named(*one.span())) for one in _WORD.finditer(folded)]
        self._spoken = [word for word, _ in self._found]
        named = (place for one in speakers if (place := self._by_name(one)) is not None)
        self._others = {_OWN_S.sub("", folded[place.start : place.end]) for place in named}
        i_said = self._tells(words.i, words.i_say, words.i_said) is not None or _any(folded, words.i_said_chinese)
        self._you = None if i_said else self._who_answered()
        of_both = _of_both(self._spoken, words) or any(one.search(folded) for one in words.talks_chinese)
        both = not i_said and of_both
        self._i = None if both or self._you else self._first_person()
        self.of_a_talk = i_said or both or self._you is not None

    def names(self, speaker: str) -> _Named | None:
        """Where a speaker is named, if it is."""
        name = _folded(speaker)
        if name in self._words.user:
            return self._i
        if name in self._words.assistant:
            return self._you
        return self._by_name(speaker)

    def _by_name(self, speaker: str) -> _Named | None:
        words, name = self._words, _folded(speaker)
        if name in words.user or name in words.assistant or name in words.never:
            return None
        if is_chinese(name):
            return _first(self._folded, (name,)) if len(name) >= _SHORTEST_CHINESE else None
        parts = _WORD.findall(name)
        if not parts or len(parts[0]) < _SHORTEST_LATIN:
            return None
        return next((place for word, place in self._found if word == parts[0]), None)

    def joins(self, left: _Named, right: _Named) -> bool:
        """Whether two speakers are named as a pair, or by the same word."""
        between = self._folded[left.end : right.start].strip()
        return right.start < left.end or not between or between in self._words.joining

    def _who_answered(self) -> _Named | None:
        place = self._tells(self._words.you, self._words.say, self._words.said)
        if place is not None:
            return self._found[place][1]
        told = [one for pattern in self._words.you_said_chinese for one in pattern.finditer(self._folded)]
        own = (one for one in told if not _any(one.group(), tuple(self._others)))
        return min((_Named(*one.span()) for one in own), default=None)

    def _tells(self, who: frozenset[str], say: frozenset[str], said: frozenset[str]) -> int | None:
        """Where somebody is said to have said something: "you recommended", "did I say", "did you"."""
        words, spoken = self._words, self._spoken
        for place, word in enumerate(spoken):
            if word not in who:
                continue
            before = spoken[place - 1] if place else ""
            telling = said | say if before in words.did else said
            for number, after in enumerate(spoken[place + 1 : place + 2 + _BETWEEN], place + 1):
                if after in telling or " ".join(spoken[number : number + 2]) in telling:
                    return place
                has = after in words.possessing and before in words.asked_whether
                if has or after in words.minding or after in words.another or after in self._others:
                    break
        return None

    def _first_person(self) -> _Named | None:
        words = self._words
        before = ["", *(word for word, _ in self._found)]
        said = [
            place
            for (word, place), last in zip(self._found, before, strict=False)
            if word in words.first_person and not (word == "me" and last in words.requests)
        ]
        bare = self._folded
        for other in words.not_first_person:
            bare = bare.replace(other, " " * len(other))
        asked = bare
        for other in words.requests_chinese:
            asked = asked.replace(other, " " * len(other))
        chinese = _first(asked, words.first_person_chinese)
        if chinese is None and _any(bare, words.first_person_chinese):
            chinese = _Named(len(bare), len(bare) + 1)  # behind everybody who is named
        found = [*said[:1], *([chinese] if chinese else [])]
        return min(found, default=None)


def _of_both(spoken: Sequence[str], words: PersonWords) -> bool:
    places = (place for place, word in enumerate(spoken) if word in words.we)
    return any(words.talks.intersection(spoken[place + 1 : place + 2 + _BETWEEN]) for place in places)


def _any(folded: str, listed: Sequence[str]) -> bool:
    return any(one in folded for one in listed)


def _first(folded: str, listed: Sequence[str]) -> _Named | None:
    places = [_Named(place, place + len(one)) for one in listed if (place := folded.find(one)) >= 0]
    return min(places, default=None)


@lru_cache(maxsize=4096)
def _folded(name: str) -> str:
    return fold(name).strip()
