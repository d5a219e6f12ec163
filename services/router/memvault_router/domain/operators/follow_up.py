"""R-08: a question that cannot be understood alone is completed from what was said before it.

Three outcomes. A question that surely continues is completed, and searched as asked as well. One that perhaps does is
searched as asked, and completed beside it at a lower weight, so that being wrong costs little. All others stay alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum, unique
from functools import cached_property
from typing import Any

from memvault.ops import changed
from memvault.text import fold, search_tokens, segment
from memvault.text.tokens import stop_words
from memvault_router.domain.state import Question, Said, Skipped

_PUNCTUATION = re.compile(r"[\s,，。.!！?？~～…、:：;；\"'「」『』()（）]+")
_HAN = re.compile("[\u3400-\u9fff]")
_WORD = re.compile(r"[^\W_]+")
_TOKEN = re.compile(r"[\w']+")
_NEVER = re.compile("(?!)")


@unique
class Need(StrEnum):
    """Whether a question needs what was said before it, and by what it is known: for tests and for reading."""

    NONE = ""
    BARE = "bare"
    CONTINUES = "continues"
    POINTS = "points"
    OTHERS = "others"
    COMPARES = "compares"
    REPLIES = "replies"
    FRAGMENT = "fragment"
    SHORT = "short"


SURE = frozenset({Need.BARE, Need.CONTINUES, Need.REPLIES})


@dataclass(frozen=True)
class Text:
    """A folded text with what several signs ask of it, each read when it is first asked for."""

    folded: str

    @cached_property
    def tokens(self) -> frozenset[str]:
        """Runs of letters, digits and apostrophes."""
        return frozenset(_TOKEN.findall(self.folded))

    @cached_property
    def pieces(self) -> tuple[str, ...]:
        """Words, Chinese by the dictionary, without punctuation."""
        return tuple(piece for part in segment(self.folded) for piece in _WORD.findall(part))


@dataclass(frozen=True)
class Words:
    """Folded words: `tokens` and `phrases` are Latin and whole, `han` stand anywhere, `letters` as a word of their own.

    `pattern` holds all but the letters, `begins` all, at the beginning.
    """

    tokens: frozenset[str]
    phrases: re.Pattern[str]
    han: re.Pattern[str]
    letters: frozenset[str]
    pattern: re.Pattern[str]
    begins: re.Pattern[str]

    def inside(self, text: Text) -> bool:
        """Say whether a text holds one of the words; the dictionary is asked last, because it takes longest."""
        if not self.tokens.isdisjoint(text.tokens) or self.phrases.search(text.folded):
            return True
        if text.folded.isascii():
            return False
        if self.han.search(text.folded):
            return True
        return not self.letters.isdisjoint(text.folded) and not self.letters.isdisjoint(text.pieces)

    def first(self, folded: str) -> int:
        """Return where the first Latin or longer Han one begins; the length of the text when there is none."""
        found = self.pattern.search(folded)
        return found.start() if found else len(folded)

    def removed(self, folded: str) -> str:
        """Return the text without them."""
        rest = self.pattern.sub(" ", folded)
        return rest if self.letters.isdisjoint(rest) else "".join(" " if one in self.letters else one for one in rest)


@dataclass(frozen=True)
class FollowUpShapes:
    """Folded words of all languages that mark a question as a continuation; see `data/follow_up/en.toml`."""

    bare: frozenset[str]
    ending: tuple[str, ...]
    leading: Words
    pointing: Words
    naming: Words
    nothing: Words
    others: Words
    comparing: Words
    standards: Words
    replying: Words
    asking: Words


@dataclass(frozen=True)
class FollowUpNumbers:
    """A continuation holds at most `content_words`; `reach` utterances are looked at, `max_chars` of one are used.

    A fragment holds at most `fragment_words`, Chinese counted by the dictionary's words. Without words of asking a
    short question holds at most `short_words`, and one with any other sign `few_words`. `perhaps` switches on every
    sign after the first two, and looks for a name before a pronoun.
    """

    content_words: int
    reach: int
    max_chars: int
    fragment_words: int
    few_words: int
    short_words: int
    perhaps: bool


def parse_shapes(documents: Iterable[Mapping[str, Any]]) -> FollowUpShapes:
    """Read follow-up documents; each has every list of `FollowUpShapes`, some empty."""
    known = list(documents)

    def listed(key: str) -> list[str]:
        return [fold(word) for document in known for word in document[key]]

    return FollowUpShapes(
        bare=frozenset(_PUNCTUATION.sub("", word) for word in listed("bare")),
        ending=tuple(listed("ending")),
        leading=_words(listed("leading")),
        pointing=_words(listed("pointing")),
        naming=_words(listed("naming")),
        nothing=_words(listed("nothing")),
        others=_words(listed("others")),
        comparing=_words(listed("comparing")),
        standards=_words(listed("standards")),
        replying=_words(listed("replying")),
        asking=_words(listed("asking"), letters_alone=False),
    )


def _words(words: Sequence[str], *, letters_alone: bool = True) -> Words:
    """Join words; with `letters_alone` a single Han letter counts only where the dictionary takes it for a word."""
    longest_first = sorted(set(words), key=lambda word: (-len(word), word))
    letters = [word for word in longest_first if letters_alone and len(word) == 1 and _HAN.match(word)]
    han = [word for word in longest_first if _HAN.match(word) and word not in letters]
    latin = [word for word in longest_first if not _HAN.match(word)]
    anywhere = [*([_whole(latin)] if latin else []), *map(re.escape, han)]
    beginnings = [*([_whole(latin)] if latin else []), *map(re.escape, (*han, *letters))]
    phrases = [word for word in latin if not _TOKEN.fullmatch(word)]
    return Words(
        frozenset(latin) - frozenset(phrases),
        re.compile(_whole(phrases)) if phrases else _NEVER,
        re.compile("|".join(map(re.escape, han))) if han else _NEVER,
        frozenset(letters),
        re.compile("|".join(anywhere)) if anywhere else _NEVER,
        re.compile("|".join(beginnings)) if beginnings else _NEVER,
    )


def _whole(latin: Sequence[str]) -> str:
    return rf"(?<![\w'])(?:{'|'.join(map(re.escape, latin))})(?![\w'])"


def depends_on_before(query: str, shapes: FollowUpShapes, numbers: FollowUpNumbers) -> Need:
    """Say whether a question needs what was said before, and by which sign.

    Surely: it is one of the bare forms; it begins like a continuation, ends in one, or points back with a pronoun, and
    brings little content of its own; or it replies in few words. Perhaps: it points back and brings more; asks for
    others, or for the better of what it does not name; has no word of asking and no verb; or is very short. A long
    text is never one.
    """
    if len(query) > numbers.max_chars:
        return Need.NONE
    folded = fold(query).strip()
    core = _PUNCTUATION.sub("", folded)
    if core in shapes.bare:
        return Need.BARE
    text = Text(folded)
    marked = shapes.leading.begins.match(folded) is not None or core.endswith(shapes.ending)
    pointing = shapes.pointing.inside(text)
    little = (marked or pointing) and len(_content(folded, shapes)) <= numbers.content_words
    if little and (marked or not (numbers.perhaps and _a_name_before(query, shapes))):
        return Need.CONTINUES
    if not (numbers.perhaps and core):
        return Need.NONE
    return _perhaps(text, shapes, numbers)


def _perhaps(text: Text, shapes: FollowUpShapes, numbers: FollowUpNumbers) -> Need:
    """Read what a question without any sure sign tells."""
    named = len(_named(text, shapes))
    if named > numbers.few_words:
        return Need.NONE
    plain = Text(shapes.nothing.removed(text.folded).strip())
    if shapes.replying.begins.match(plain.folded):
        return Need.REPLIES
    for words in (shapes.pointing, shapes.naming):
        if words.inside(plain) and not _names_before(plain.folded, words, shapes):
            return Need.POINTS
    if named <= numbers.content_words and shapes.others.inside(plain):
        return Need.OTHERS
    if named <= numbers.content_words and shapes.comparing.inside(plain) and not shapes.standards.inside(plain):
        return Need.COMPARES
    if not shapes.asking.inside(text):
        return Need.FRAGMENT if len(text.pieces) <= numbers.fragment_words else Need.NONE
    return Need.SHORT if named <= numbers.short_words else Need.NONE


def _a_name_before(query: str, shapes: FollowUpShapes) -> bool:
    """Say whether a name in capitals stands before the first pronoun: "when did Gina get her tattoo?" is whole."""
    place = shapes.pointing.first(query.lower())
    return any(word[0].isupper() and word != "I" for word in query[:place].split()[1:])


def _names_before(folded: str, words: Words, shapes: FollowUpShapes) -> bool:
    """Say whether anything stands before the first of some words that they could mean."""
    return bool(_named(Text(folded[: words.first(folded)]), shapes))


def _named(text: Text, shapes: FollowUpShapes) -> set[str]:
    """Return the words of a text that are neither words of asking nor stop words."""
    others = {piece for piece in text.pieces if not _asks(piece, shapes.asking)}
    return others - stop_words("en") - stop_words("zh")


def _asks(piece: str, asking: Words) -> bool:
    """Say whether a word only asks; the dictionary may join two: 「是什麼」."""
    return piece in asking.tokens or (not piece.isascii() and not asking.han.sub("", piece))


def _content(folded: str, shapes: FollowUpShapes) -> set[str]:
    return set(search_tokens(shapes.pointing.removed(shapes.leading.removed(folded))))


def complete(query: str, said: Sequence[Said], shapes: FollowUpShapes, numbers: FollowUpNumbers) -> str:
    """Return the question with the latest utterance in front that can be understood alone.

    The user's own utterances are preferred: they are questions of the same kind. Without any, the latest of all is
    taken; without utterances the query stays as it is. Prepending keeps every word of both, which a rewriting by
    rules cannot promise.
    """
    recent = [item for item in said[-numbers.reach :] if item.text.strip() and item.text.strip() != query.strip()]
    own = [item for item in recent if item.speaker == "user"]
    for group in (own, recent):
        for item in reversed(group):
            if depends_on_before(item.text, shapes, numbers) not in SURE:
                return f"{item.text.strip()[-numbers.max_chars :]} {query.strip()}"
    return query


@dataclass(frozen=True)
class FollowUp:
    """Complete the question if it needs it."""

    shapes: FollowUpShapes
    numbers: FollowUpNumbers
    name: str = "follow_up"

    def __call__(self, state: Question) -> Question:
        """Fill `completed` and `beside`.

        `completed` equals the query, and `beside` is empty, when it stands alone, nothing was said before, or
        completion is switched off. What is only perhaps a follow-up says by which sign among `skipped`.
        """
        alone = changed(state, completed=state.query, beside="")
        if "completion" in state.off or not state.said:
            return alone
        need = depends_on_before(state.query, self.shapes, self.numbers)
        whole = complete(state.query, state.said, self.shapes, self.numbers) if need else state.query
        if whole == state.query:
            return alone
        if need in SURE:
            return changed(state, completed=whole, beside=state.query)
        why = Skipped("completion", f"perhaps_{need}")
        return changed(alone, beside=whole, skipped=(*state.skipped, why))
