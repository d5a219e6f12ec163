"""The extractor's rules as typed values, compiled once from the data files in `memvault_cascade/data`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any

from memvault.text import fold
from memvault.text.folding import simplified
from memvault_cascade.domain.graph.roles import Roles

_SLOT = re.compile(r"\{([A-Z]+)\}")
_DEEPEST_SLOT = 6
CHARACTERS_KEPT = 20_000  # more than a person's texts hold


class ObjectKind(StrEnum):
    """What a pattern's object slot may hold."""

    THING = "thing"
    NAME = "name"
    NOUN = "noun"
    VALUE = "value"
    PHRASE = "phrase"


@dataclass(frozen=True, slots=True)
class Pattern:
    """One way in which a sentence states a fact.

    `predicate` is the wording shown; with `attribute` the wording is the slot `p` itself. `self_subject` makes the
    user the subject, `default_subject` stands in for an empty slot `s`. Of `signs` a text must hold one as written, or
    the pattern cannot match it; none: it has to be tried.
    """

    regex: re.Pattern[str]
    predicate: str
    holds: ObjectKind
    attribute: bool
    self_subject: bool
    default_subject: str
    signs: tuple[str, ...] = ()

    def may_match(self, text: str) -> bool:
        """Whether it is worth trying: far cheaper than the pattern itself."""
        return not self.signs or any(sign in text for sign in self.signs)


@dataclass(frozen=True, slots=True)
class Language:
    """Patterns and word lists of one language; regular expressions that a language does not need never match."""

    code: str
    doubtful: re.Pattern[str]
    patterns: tuple[Pattern, ...]
    common: frozenset[str]
    pronouns: frozenset[str]
    lead_in: re.Pattern[str]
    tail: re.Pattern[str]
    determiner: re.Pattern[str]
    surnames: frozenset[str]
    titled: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class Predicates:
    """Which wordings are one relation, and which relations hold one value at a time."""

    key_by_form: Mapping[str, str]
    single_valued: frozenset[str]

    def key(self, wording: str) -> str:
        """The relation that a wording means; its own folded form when no relation lists it."""
        folded = " ".join(fold(wording).split())
        return self.key_by_form.get(folded, folded)

    def is_wording(self, name: str) -> bool:
        """Whether a name is only the wording of a relation, such as "IP" or 「負責人」."""
        return " ".join(fold(name).split()) in self.key_by_form


@dataclass(frozen=True, slots=True)
class ExtractionRules:
    """Everything the extractor knows; a new pattern or word is a change of data."""

    languages: tuple[Language, ...]
    predicates: Predicates
    roles: Roles


def aligned(text: str) -> str:
    """Simplify each character by itself, so that places in the result are places in the text.

    Patterns go through this too: a pattern written in Traditional matches both scripts.
    """
    return text if text.isascii() else "".join(map(_aligned, text))


@lru_cache(maxsize=CHARACTERS_KEPT)
def _aligned(character: str) -> str:
    single = simplified(character)
    return single if len(single) == 1 else character


def compile_language(data: Mapping[str, Any]) -> Language:
    """Compile one `extraction_*.toml`.

    Raises:
        ValueError: A pattern names an unknown slot or is no regular expression; the message names it.
    """
    slots: Mapping[str, str] = data.get("slots", {})
    mentions: Mapping[str, str] = data.get("mentions", {})
    surnames = mentions.get("surnames", "")
    titles = mentions.get("titles", "")
    return Language(
        code=str(data["language"]),
        doubtful=_compiled(str(data["doubtful"]), slots),
        patterns=tuple(_pattern(entry, slots) for entry in data["pattern"]),
        common=frozenset(fold(word) for word in mentions.get("common", "").split()),
        pronouns=frozenset(mentions.get("pronouns", "").split()),
        lead_in=_optional(mentions.get("lead_in")),
        tail=_optional(mentions.get("tail")),
        determiner=_optional(mentions.get("determiner")),
        surnames=frozenset(aligned(surnames)),
        titled=_optional(f"[{surnames}][\\u4e00-\\u9fff]?(?:{titles})" if titles else None),
    )


def compile_predicates(data: Mapping[str, Any], one_at_a_time: Iterable[str] = ()) -> Predicates:
    """Compile `predicates.toml`, and wordings that have one object at a time without being a listed relation.

    Raises:
        ValueError: Two relations list the same wording.
    """
    forms: dict[str, str] = {}
    for key, entry in data.items():
        for form in (key.replace("_", " "), *entry["forms"]):
            folded = " ".join(fold(form).split())
            if forms.setdefault(folded, key) != key:
                raise ValueError(f"the wording {form!r} is listed under both {forms[folded]!r} and {key!r}; keep one")
    single = {key for key, entry in data.items() if entry.get("single_valued", False)}
    others = {" ".join(fold(wording).split()) for wording in one_at_a_time}
    return Predicates(forms, frozenset(single | (others - forms.keys())))


def _pattern(entry: Mapping[str, Any], slots: Mapping[str, str]) -> Pattern:
    return Pattern(
        regex=_compiled(str(entry["regex"]), slots),
        predicate=str(entry.get("predicate", "")),
        holds=ObjectKind(entry.get("object", "thing")),
        attribute=bool(entry.get("attribute", False)),
        self_subject=bool(entry.get("self_subject", False)),
        default_subject=str(entry.get("default_subject", "")),
        signs=tuple(entry.get("signs", ())),
    )


def _compiled(source: str, slots: Mapping[str, str]) -> re.Pattern[str]:
    expanded = source
    for _ in range(_DEEPEST_SLOT):
        if not _SLOT.search(expanded):
            break
        unknown = [name for name in _SLOT.findall(expanded) if name not in slots]
        if unknown:
            raise ValueError(f"pattern {source!r} names the unknown slot {unknown[0]!r}")
        expanded = _SLOT.sub(lambda match: slots[match.group(1)], expanded)
    try:
        return re.compile(aligned(expanded))
    except re.error as error:
        raise ValueError(f"pattern {source!r} is no regular expression: {error}") from error


def _optional(source: str | None) -> re.Pattern[str]:
    # `(?!)` matches nothing at all.
    return re.compile(aligned(source) if source else "(?!)")
