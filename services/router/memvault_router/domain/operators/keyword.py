"""R-01: the keyword funnel. Lexicons are data; this reads and applies them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memvault.text import fold
from memvault_router.domain.labels import FACETS, INTENTS
from memvault_router.domain.operators.excerpt import both_ends
from memvault_router.domain.state import Question, Votes, changed

_BORDER = r"\b"
_ESCAPED = re.compile(r"\\.|\[[^\]]*\]")
_UPPER_ESCAPE = re.compile(r"\\[A-Z]")
_SCRIPTS = {"han": re.compile("[\u3400-\u9fff]"), "latin": re.compile("[a-z0-9]")}


@dataclass(frozen=True)
class Patterns:
    """Patterns by where they may match, so that those of a beginning are tried once and not at every letter."""

    begins: re.Pattern[str] | None
    holds: tuple[re.Pattern[str], ...]

    def find(self, folded: str) -> re.Match[str] | None:
        """Return a match of any of them."""
        if self.begins is not None and (found := self.begins.match(folded)):
            return found
        for pattern in self.holds:
            if found := pattern.search(folded):
                return found
        return None


@dataclass(frozen=True)
class Rule:
    """One entry of a lexicon: patterns that vote for a label with a weight above 0."""

    patterns: Patterns
    label: str
    weight: float
    for_facet: bool


@dataclass(frozen=True)
class OpenRule:
    """A question whose words leave it open which of the labels is meant; only the user's habits can tell."""

    patterns: Patterns
    intents: tuple[str, ...]
    facets: tuple[str, ...]


@dataclass(frozen=True)
class Lexicon:
    """The rules of one language. `script` finds a letter that every match holds; a text without one is not searched."""

    language: str
    script: re.Pattern[str]
    rules: tuple[Rule, ...]
    open_rules: tuple[OpenRule, ...] = ()


def parse_lexicon(document: Mapping[str, Any]) -> Lexicon:
    """Read a lexicon document.

    It has `language`, `script` (`han` or `latin`), a list `rule` of {intent | facet, weight, words?, patterns?} and a
    list `open` of {intents, facets, patterns}.

    Raises:
        ValueError: When a script or label is unknown, a weight is not positive, or a pattern cannot be folded or
            compiled.
    """
    language, script = str(document["language"]), str(document["script"])
    if script not in _SCRIPTS:
        raise ValueError(f"lexicon {language}: script {script!r} is unknown: use one of {', '.join(_SCRIPTS)}")
    return Lexicon(
        language,
        _SCRIPTS[script],
        tuple(_parse_rule(entry, language) for entry in document["rule"]),
        tuple(_parse_open(entry, language) for entry in document.get("open", ())),
    )


def _parse_open(entry: Mapping[str, Any], language: str) -> OpenRule:
    intents, facets = tuple(entry["intents"]), tuple(entry["facets"])
    if not {*intents} <= {*INTENTS} or not {*facets} <= {*FACETS}:
        raise ValueError(f"lexicon {language}: an open question names an unknown label among {intents + facets}")
    patterns = [_folded_pattern(pattern, language) for pattern in entry["patterns"]]
    return OpenRule(_patterns(patterns), intents, facets)


def _parse_rule(entry: Mapping[str, Any], language: str) -> Rule:
    for_facet = "facet" in entry
    label = str(entry["facet"] if for_facet else entry["intent"])
    if label not in (FACETS if for_facet else INTENTS):
        raise ValueError(f"lexicon {language}: {label!r} is no {'facet' if for_facet else 'intent'}: use a known one")
    weight = float(entry["weight"])
    if weight <= 0:
        raise ValueError(f"lexicon {language}: weight {weight} of {label!r} must be above 0")
    words = [_word_pattern(word, language) for word in entry.get("words", ())]
    patterns = [_folded_pattern(pattern, language) for pattern in entry.get("patterns", ())]
    return Rule(_patterns([*words, *patterns]), label, weight, for_facet)


def _patterns(parts: Sequence[str]) -> Patterns:
    """Join patterns: those of a beginning, those of the beginning of a word, and all others."""
    begins = [part for part in parts if part.startswith("^") and not _has_branches(part)]
    words = [part for part in parts if part.startswith(_BORDER) and not _has_branches(part)]
    others = [part for part in parts if part not in begins and part not in words]
    holds = []
    if words:
        holds.append(re.compile(f"{_BORDER}(?:{_joined(part.removeprefix(_BORDER) for part in words)})"))
    if others:
        holds.append(re.compile(_joined(others)))
    return Patterns(re.compile(_joined(begins)) if begins else None, tuple(holds))


def _joined(parts: Iterable[str]) -> str:
    return "|".join(f"(?:{part})" for part in parts)


def _has_branches(pattern: str) -> bool:
    """Say whether a pattern is several, of which only the first begins as it does: "^ok$|thanks"."""
    depth = 0
    for letter in _ESCAPED.sub("", pattern):
        depth += (letter == "(") - (letter == ")")
        if letter == "|" and depth == 0:
            return True
    return False


def _word_pattern(word: str, language: str) -> str:
    quoted = re.escape(fold(word))
    return rf"\b{quoted}\b" if language == "en" else quoted


def _folded_pattern(pattern: str, language: str) -> str:
    if _UPPER_ESCAPE.search(pattern):
        raise ValueError(f"lexicon {language}: {pattern!r} holds an upper-case escape, which folding would lower")
    return fold(pattern)


def votes(lexicons: Sequence[Lexicon], text: str) -> Votes:
    """Return the summed weights of the rules that match the folded text; a rule counts once however often it does."""
    folded = fold(text).strip()
    intents: dict[str, float] = {}
    facets: dict[str, float] = {}
    matches: list[str] = []
    read = [lexicon for lexicon in lexicons if lexicon.script.search(folded)]
    for lexicon in read:
        for rule in lexicon.rules:
            found = rule.patterns.find(folded)
            if found is None:
                continue
            target = facets if rule.for_facet else intents
            target[rule.label] = target.get(rule.label, 0.0) + rule.weight
            matches.append(f"{rule.label}: {found.group(0).strip()}")
    for open_rule in (each for lexicon in read for each in lexicon.open_rules):
        if open_rule.patterns.find(folded):
            return Votes({}, {}, (f"open: {folded}",), open_rule.intents, open_rule.facets)
    return Votes(intents, facets, tuple(matches))


@dataclass(frozen=True)
class KeywordFunnel:
    """Scan the question as understood with the lexicons of all languages: questions mix them."""

    lexicons: Sequence[Lexicon]
    read_chars: int
    name: str = "keyword"

    def __call__(self, state: Question) -> Question:
        """Fill `votes`."""
        return changed(state, votes=votes(self.lexicons, both_ends(state.completed or state.query, self.read_chars)))
