"""R-01: the keyword funnel. Lexicons are data; this reads and applies them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memvault.ops import changed
from memvault.text import fold
from memvault_router.domain.labels import FACETS, INTENTS
from memvault_router.domain.operators.excerpt import both_ends
from memvault_router.domain.operators.pattern_index import PatternIndex, seen_in
from memvault_router.domain.state import Question, Votes

_UPPER_ESCAPE = re.compile(r"\\[A-Z]")
_SCRIPTS = {"han": re.compile("[\u3400-\u9fff]"), "latin": re.compile("[a-z]"), "code": re.compile("[a-z0-9]")}


@dataclass(frozen=True)
class Rule:
    """One entry of a lexicon: patterns that vote for a label with a weight above 0."""

    patterns: tuple[str, ...]
    label: str
    weight: float
    for_facet: bool


@dataclass(frozen=True)
class OpenRule:
    """A question whose words leave it open which of the labels is meant; only the user's habits can tell."""

    patterns: tuple[str, ...]
    intents: tuple[str, ...]
    facets: tuple[str, ...]


@dataclass(frozen=True)
class Lexicon:
    """The rules of one language.

    `script` finds a letter that every match holds; a text without one is not searched. `index` holds the patterns of
    the rules, and after them those of the open ones.
    """

    language: str
    script: re.Pattern[str]
    rules: tuple[Rule, ...]
    open_rules: tuple[OpenRule, ...]
    index: PatternIndex


def parse_lexicon(document: Mapping[str, Any]) -> Lexicon:
    """Read a lexicon document.

    It has `language`, `script` (`han`, `latin` or `code`), a list `rule` of {intent | facet, weight, words?,
    patterns?} and a list `open` of {intents, facets, patterns}.

    Raises:
        ValueError: When a script or label is unknown, a weight is not positive, or a pattern cannot be folded or
            compiled.
    """
    language, script = str(document["language"]), str(document["script"])
    if script not in _SCRIPTS:
        raise ValueError(f"lexicon {language}: script {script!r} is unknown: use one of {', '.join(_SCRIPTS)}")
    rules = tuple(_parse_rule(entry, language) for entry in document["rule"])
    open_rules = tuple(_parse_open(entry, language) for entry in document.get("open", ()))
    try:
        index = PatternIndex([*(one.patterns for one in rules), *(one.patterns for one in open_rules)])
    except re.error as error:
        raise ValueError(f"lexicon {language}: {error.pattern!r} is no regular expression: {error}") from error
    return Lexicon(language, _SCRIPTS[script], rules, open_rules, index)


def _parse_open(entry: Mapping[str, Any], language: str) -> OpenRule:
    intents, facets = tuple(entry["intents"]), tuple(entry["facets"])
    if not {*intents} <= {*INTENTS} or not {*facets} <= {*FACETS}:
        raise ValueError(f"lexicon {language}: an open question names an unknown label among {intents + facets}")
    patterns = [_folded_pattern(pattern, language) for pattern in entry["patterns"]]
    return OpenRule(tuple(patterns), intents, facets)


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
    return Rule((*words, *patterns), label, weight, for_facet)


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
    seen = seen_in(folded)
    intents: dict[str, float] = {}
    facets: dict[str, float] = {}
    matches: list[str] = []
    for lexicon in lexicons:
        if not lexicon.script.search(folded):
            continue
        for owner, match in lexicon.index.find(folded, seen).items():
            if owner >= len(lexicon.rules):
                left_open = lexicon.open_rules[owner - len(lexicon.rules)]
                return Votes({}, {}, (f"open: {folded}",), left_open.intents, left_open.facets)
            rule = lexicon.rules[owner]
            target = facets if rule.for_facet else intents
            target[rule.label] = target.get(rule.label, 0.0) + rule.weight
            matches.append(f"{rule.label}: {match.group(0).strip()}")
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
