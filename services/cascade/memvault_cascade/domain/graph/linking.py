"""Which entities a text names (R-33): case, width, script, aliases and small typos are forgiven, digits are not."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from memvault_cascade.domain.graph.mentions import HAN
from memvault_cascade.domain.graph.model import Entity, EntityKind
from memvault_cascade.domain.graph.names import SELF_NAME, entity_id, entity_key

_WORD = re.compile(rf"[{HAN}]+|[^\W{HAN}]+(?:[-_.'’#+/][^\W{HAN}]+)*(?:[+#]+|-(?=[{HAN}]))?")
_LATIN_EDGE = re.compile(r"[a-z0-9]")
SELF = "self"
"""How the user is linked who speaks of themselves."""

_SELF_WORD = re.compile(r"\b(?:i|i'm|my|me|mine|myself)\b|我(?!们)", re.IGNORECASE)
_HAS_DIGIT = re.compile(r"\d")
_HAS_HAN = re.compile(f"[{HAN}]")


@dataclass(frozen=True, slots=True)
class LinkLimits:
    """Numbers of linking: shortest words (in characters) in which one typo is forgiven.

    And the confidence of each way to link, in [0, 1].

    A single word that begins or ends more than `most_by_part` longer names stands for none of them.
    """

    typo_min_latin: int = 5
    typo_min_han: int = 4
    longest_name: int = 40
    exact: float = 1.0
    part: float = 0.6
    typo: float = 0.7
    self_reference: float = 0.3
    most_by_part: int = 3


@dataclass(frozen=True, slots=True)
class Link:
    """An entity found in a text; `how` is `exact`, `part`, `typo`, `self` or `synonym`."""

    entity_id: str
    confidence: float
    how: str


@dataclass(frozen=True, slots=True)
class NameIndex:
    """Folded spellings to entities, the spellings with one letter left out (for typos).

    And words to the names that start or end with them.
    """

    by_key: Mapping[str, tuple[str, ...]]
    by_deletion: Mapping[str, tuple[str, ...]]
    by_word: Mapping[str, tuple[str, ...]]
    limits: LinkLimits = field(default_factory=LinkLimits)


def build_name_index(entities: Iterable[Entity], limits: LinkLimits, *, onto: NameIndex | None = None) -> NameIndex:
    """Index all spellings of entities, in addition to those of another index, which stays as it is."""
    by_key = dict(onto.by_key) if onto else {}
    by_deletion = dict(onto.by_deletion) if onto else {}
    by_word = dict(onto.by_word) if onto else {}
    for entity in entities:
        if entity.kind is EntityKind.SELF:
            continue
        for spelling in {entity_key(name): None for name in (entity.name, *entity.aliases)}:
            if not spelling or len(spelling) > limits.longest_name:
                continue
            if spelling not in by_key and _may_have_typo(spelling, limits):
                for shorter in {spelling, *_deletions(spelling)}:
                    by_deletion[shorter] = (*by_deletion.get(shorter, ()), spelling)
            by_key[spelling] = (*by_key.get(spelling, ()), entity.id)
            words = spelling.split()
            # A person's first or last name, or the head of a longer name, is how people refer to it later.
            for word in {words[0], words[-1]} if len(words) > 1 else ():
                if len(by_word.get(word, ())) <= limits.most_by_part:
                    by_word[word] = (*by_word.get(word, ()), entity.id)
    return NameIndex(by_key, by_deletion, by_word, limits)


def link(text: str, index: NameIndex) -> tuple[Link, ...]:
    """Entities named in a text, the surest first; of overlapping names the longest counts."""
    found: dict[str, Link] = {}
    folded = entity_key(text)
    unmatched: list[str] = []
    for run in _runs(folded):
        unmatched += _exact(run, index, found)
    for word in unmatched:
        _approximate(word, index, found)
    if _SELF_WORD.search(folded):
        _keep(found, entity_id(SELF_NAME), index.limits.self_reference, SELF)
    return tuple(sorted(found.values(), key=lambda item: (-item.confidence, item.entity_id)))


def _runs(folded: str) -> Iterable[list[str]]:
    """Tokens between punctuation: Latin words whole, Han characters one by one."""
    run: list[str] = []
    end = 0
    for match in _WORD.finditer(folded):
        if folded[end : match.start()].strip():
            yield run
            run = []
        end = match.end()
        word = match.group()
        run += list(word) if _HAS_HAN.match(word) else [word.removesuffix("'s").removesuffix("’s")]
    yield run


def _exact(run: list[str], index: NameIndex, found: dict[str, Link]) -> Iterable[str]:
    """Link the longest names from left to right; return the words and stretches of Han that no name covered."""
    left_over: list[str] = []
    place = 0
    while place < len(run):
        length = _longest_match(run, place, index)
        if length:
            for entity in index.by_key[_joined(run[place : place + length])]:
                _keep(found, entity, index.limits.exact, "exact")
            place += length
            left_over.append("")
        else:
            left_over.append(run[place])
            place += 1
    return _stretches(left_over)


def _longest_match(run: list[str], place: int, index: NameIndex) -> int:
    for length in range(min(len(run) - place, index.limits.longest_name), 0, -1):
        if _joined(run[place : place + length]) in index.by_key:
            return length
    return 0


def _stretches(words: list[str]) -> Iterable[str]:
    """Latin words one by one, neighbouring Latin words in pairs, and unbroken stretches of Han characters."""
    han = ""
    previous = ""
    for word in (*words, ""):
        if word and _HAS_HAN.match(word):
            han += word
            previous = ""
            continue
        if han:
            yield han
            han = ""
        if word:
            yield word
            if previous:
                yield f"{previous} {word}"
        previous = word


def _approximate(word: str, index: NameIndex, found: dict[str, Link]) -> None:
    holders = index.by_word.get(word, ())
    if 0 < len(holders) <= index.limits.most_by_part:
        for entity in holders:
            _keep(found, entity, index.limits.part, "part")
        return
    for window in _windows(word, index.limits):
        for candidate in {c for shorter in (window, *_deletions(window)) for c in index.by_deletion.get(shorter, ())}:
            if _one_edit_apart(window, candidate):
                for entity in index.by_key[candidate]:
                    _keep(found, entity, index.limits.typo, "typo")


def _windows(word: str, limits: LinkLimits) -> Iterable[str]:
    """Pieces of a word in which a typo is looked for.

    A Latin word whole, each stretch of four to six Han characters.
    """
    if not _HAS_HAN.search(word):
        if _may_have_typo(word, limits):
            yield word
        return
    for length in range(limits.typo_min_han, limits.typo_min_han + 3):
        for start in range(len(word) - length + 1):
            yield word[start : start + length]


def _may_have_typo(spelling: str, limits: LinkLimits) -> bool:
    if _HAS_DIGIT.search(spelling):
        return False
    shortest = limits.typo_min_han if _HAS_HAN.search(spelling) else limits.typo_min_latin
    return len(spelling) >= shortest


def _deletions(spelling: str) -> Iterable[str]:
    return (spelling[:place] + spelling[place + 1 :] for place in range(len(spelling)))


def _one_edit_apart(one: str, other: str) -> bool:
    """Whether one insertion, deletion, substitution or swap of neighbours turns one word into the other.

    Equal words are not.
    """
    if abs(len(one) - len(other)) > 1 or one == other:
        return False
    start = 0
    while start < min(len(one), len(other)) and one[start] == other[start]:
        start += 1
    rest_one, rest_other = one[start:], other[start:]
    if len(one) == len(other):
        swapped = len(rest_one) > 1 and rest_one[:2] == rest_other[1::-1] and rest_one[2:] == rest_other[2:]
        return swapped or rest_one[1:] == rest_other[1:]
    return rest_one[1:] == rest_other if len(one) > len(other) else rest_one == rest_other[1:]


def _joined(tokens: list[str]) -> str:
    joined = ""
    for token in tokens:
        blank = joined and _LATIN_EDGE.match(joined[-1]) and _LATIN_EDGE.match(token[0])
        joined += f" {token}" if blank else token
    return joined


def _keep(found: dict[str, Link], entity: str, confidence: float, how: str) -> None:
    if entity not in found or found[entity].confidence < confidence:
        found[entity] = Link(entity, confidence, how)


def may_be_synonyms(one: str, other: str) -> bool:
    """Whether two names may be joined by closeness of their vectors.

    Names that differ in a digit are two things (R-60a).
    """
    digits = ("".join(_HAS_DIGIT.findall(entity_key(name))) for name in (one, other))
    return next(digits) == next(digits)
