"""R-08: a question that cannot be understood alone is completed from what was said before it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from memvault.text import fold, search_tokens, segment
from memvault_router.domain.state import Question, Said

_PUNCTUATION = re.compile(r"[\s,，。.!！?？~～…、:：;；\"'「」『』()（）]+")
_HAN_START = re.compile("^[\u3400-\u9fff]")


@dataclass(frozen=True)
class FollowUpShapes:
    """Folded words of all languages that mark a question as a continuation."""

    bare: frozenset[str]
    leading: tuple[str, ...]
    pointing: tuple[str, ...]
    ending: tuple[str, ...]


@dataclass(frozen=True)
class FollowUpNumbers:
    """A continuation holds at most `content_words`; `reach` utterances are looked at, `max_chars` of one are used."""

    content_words: int
    reach: int
    max_chars: int


def parse_shapes(documents: Iterable[Mapping[str, Any]]) -> FollowUpShapes:
    """Read follow-up documents with the lists `bare`, `leading`, `pointing` and `ending`."""
    lists: dict[str, list[str]] = {"bare": [], "leading": [], "pointing": [], "ending": []}
    for document in documents:
        for key, words in lists.items():
            words.extend(fold(word) for word in document[key])
    return FollowUpShapes(
        frozenset(_PUNCTUATION.sub("", word) for word in lists["bare"]),
        tuple(sorted(lists["leading"], key=len, reverse=True)),
        tuple(sorted(lists["pointing"], key=len, reverse=True)),
        tuple(lists["ending"]),
    )


def depends_on_before(query: str, shapes: FollowUpShapes, numbers: FollowUpNumbers) -> bool:
    """Say whether a question needs what was said before.

    It does when it is one of the bare forms; or when it begins like a continuation, ends in one, or points back with
    a pronoun, and brings little content of its own. A long text is never one.
    """
    if len(query) > numbers.max_chars:
        return False
    folded = fold(query).strip()
    core = _PUNCTUATION.sub("", folded)
    if core in shapes.bare:
        return True
    marked = _begins(folded, shapes.leading) or any(core.endswith(word) for word in shapes.ending)
    words = set(segment(folded))
    pointing = any(_holds(folded, words, word) for word in shapes.pointing)
    if not (marked or pointing):
        return False
    return len(_content(folded, shapes)) <= numbers.content_words


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
            if not depends_on_before(item.text, shapes, numbers):
                return f"{item.text.strip()[-numbers.max_chars :]} {query.strip()}"
    return query


def _begins(folded: str, words: Sequence[str]) -> bool:
    return any(folded.startswith(word if _HAN_START.match(word) else word + " ") for word in words)


def _holds(folded: str, words: set[str], word: str) -> bool:
    if _HAN_START.match(word):
        return word in words if len(word) == 1 else word in folded
    return word in folded and re.search(rf"(?<![\w']){re.escape(word)}(?![\w'])", folded) is not None


def _content(folded: str, shapes: FollowUpShapes) -> set[str]:
    rest = folded
    for word in (*shapes.leading, *shapes.pointing):
        rest = (
            rest.replace(word, " ")
            if _HAN_START.match(word)
            else re.sub(rf"(?<![\w']){re.escape(word)}(?![\w'])", " ", rest)
        )
    return set(search_tokens(rest))


@dataclass(frozen=True)
class FollowUp:
    """Complete the question if it needs it."""

    shapes: FollowUpShapes
    numbers: FollowUpNumbers
    name: str = "follow_up"

    def __call__(self, state: Question) -> Question:
        """Fill `completed`; equal to the query when it stands alone, nothing was said before, or it is switched off."""
        if "completion" in state.off or not depends_on_before(state.query, self.shapes, self.numbers):
            return replace(state, completed=state.query)
        return replace(state, completed=complete(state.query, state.said, self.shapes, self.numbers))
