"""Is the question about anything? "What did we talk about lately?" names no subject: only time, facet and user tell."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from memvault.ops import changed
from memvault.text import fold
from memvault.text.segmentation import cut
from memvault_router.domain.operators.excerpt import both_ends
from memvault_router.domain.state import Question

_HAN = "\u3400-\u9fff"
_WORD = re.compile(f"[{_HAN}]+|[^\\W_]+")
_OTHER_WORD = re.compile(f"[^\\W_{_HAN}]+")
_IS_HAN = re.compile(f"[{_HAN}]")


@dataclass(frozen=True)
class AskingWords:
    """Folded words that say how something is asked, and phrases that name only what sort of thing: "that task"."""

    words: frozenset[str]
    phrases: re.Pattern[str]


def parse_asking_words(documents: Iterable[Mapping[str, Any]]) -> AskingWords:
    """Read documents with the lists `words` and `phrases`; a longer phrase wins over a shorter one."""
    known = list(documents)
    phrases = {fold(phrase) for document in known for phrase in document["phrases"]}
    return AskingWords(
        frozenset(fold(word) for document in known for word in document["words"]),
        re.compile("|".join(map(re.escape, sorted(phrases, key=lambda phrase: (-len(phrase), phrase))))),
    )


def is_bare(text: str, time_text: str, asking: AskingWords) -> bool:
    """Say whether nothing is left of a question once its time expressions and the words of asking are taken away.

    Args:
        text: The question as understood.
        time_text: Its time expressions as written, joined by an ellipsis; empty: none.
        asking: Words and phrases that name no subject.
    """
    folded = fold(text)
    for expression in filter(None, time_text.split("…")):
        folded = folded.replace(fold(expression).strip(), " 的 ")
    folded = asking.phrases.sub(" 的 ", folded)
    if any(word not in asking.words for word in _OTHER_WORD.findall(folded)):
        return False  # before the text is cut, which costs more
    pieces = [piece for part in cut(folded) for piece in _WORD.findall(part)]
    return bool(pieces) and all(_says_nothing(piece, asking.words) for piece in pieces)


def _says_nothing(piece: str, asking_words: frozenset[str]) -> bool:
    # a segmenter may join two such words: "那后", "我下"
    return piece in asking_words or (
        _IS_HAN.match(piece) is not None and all(letter in asking_words for letter in piece)
    )


@dataclass(frozen=True)
class Bareness:
    """Notice bare questions; needs the time, and completed follow-ups."""

    asking_words: AskingWords
    read_chars: int
    name: str = "bare"

    def __call__(self, state: Question) -> Question:
        """Fill `bare`."""
        text = both_ends(state.completed or state.query, self.read_chars)
        return changed(state, bare=is_bare(text, state.time.text if state.time else "", self.asking_words))
