"""The rule set: data/rules.toml, read once, compiled and checked."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib import resources
from typing import TYPE_CHECKING, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict

if TYPE_CHECKING:
    from numpy.typing import NDArray

View = Literal["raw", "words", "compact", "letters"]
Extent = Literal["match", "sentence"]

_SEPARATOR = r"[\W_]{1,4}"
_GAP = r"(?:[^\w.!?\n]{1,3}\w+){0,4}?"


class _RuleData(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    language: str
    kind: str
    view: View
    extent: Extent
    quotable: bool
    triggers: tuple[str, ...]
    patterns: tuple[str, ...]


class _RuleFile(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    version: str
    macros: dict[str, str]
    rule: tuple[_RuleData, ...]


@dataclass(frozen=True)
class Rule:
    """One thing that a stored text must not say.

    Attributes:
        name: `<kind>.<language>`, unique; what audit entries and refusals tell.
        kind: `override`, `persona`, `exfiltration`, `tool`, `output` or `delimiter`.
        view: The form of the text that the patterns read.
        extent: Whether the match alone is dangerous or the rest of its sentence too.
        quotable: Whether a quoted mention may pass.
        triggers: Plain strings; without one of them no pattern can match.
        pattern: All patterns in one expression.
    """

    name: str
    kind: str
    view: View
    extent: Extent
    quotable: bool
    triggers: tuple[str, ...]
    pattern: re.Pattern[str]


@dataclass(frozen=True)
class RuleSet:
    """All rules and the version of their file."""

    version: str
    rules: tuple[Rule, ...]

    @cached_property
    def by_view(self) -> Mapping[View, tuple[Rule, ...]]:
        """Rules by the reading of a text that they look at."""
        views = dict.fromkeys(rule.view for rule in self.rules)
        return {view: tuple(rule for rule in self.rules if rule.view == view) for view in views}

    @cached_property
    def triggers(self) -> Mapping[View, Triggers]:
        """The triggers of all rules that look at a reading of a text."""
        return {
            view: Triggers({trigger for rule in rules for trigger in rule.triggers})
            for view, rules in self.by_view.items()
        }


class Triggers:
    """Many short strings, looked for at once: `in` for each of them would read the text some hundred times."""

    _LONGEST_OPENING = 3
    _BUCKETS = 1 << 16

    def __init__(self, strings: Iterable[str]) -> None:
        """`strings`: not empty; they are grouped by their first one to three characters."""
        self._openings: dict[int, tuple[NDArray[np.bool_], dict[str, tuple[str, ...]]]] = {}
        by_opening: dict[str, tuple[str, ...]] = {}
        for one in sorted(set(strings)):
            opening = one[: self._LONGEST_OPENING]
            by_opening[opening] = (*by_opening.get(opening, ()), one)
        for size in sorted(set(map(len, by_opening))):
            own = {opening: known for opening, known in by_opening.items() if len(opening) == size}
            held = np.zeros(self._BUCKETS, np.bool_)
            for opening in own:
                held[self._buckets(_codes(opening), size)] = True
            self._openings[size] = held, own

    def at(self, text: str) -> Iterator[int]:
        """Yield each offset at which one of the strings begins."""
        codes = _codes(text)
        for size, (held, own) in self._openings.items():
            if size <= len(codes):
                for at in np.flatnonzero(held[self._buckets(codes, size)]).tolist():
                    if text.startswith(own.get(text[at : at + size], ()), at):
                        yield at

    def _buckets(self, codes: NDArray[np.uint32], size: int) -> NDArray[np.uint32]:
        """Return a number for every `size` characters in a row, equal for equal ones."""
        last = len(codes) - size + 1
        mixed = codes[:last]
        for step in range(1, size):
            mixed = (mixed << np.uint32(5)) ^ codes[step : step + last]
        return mixed % np.uint32(self._BUCKETS)


def _codes(text: str) -> NDArray[np.uint32]:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)


def parse(toml: str) -> RuleSet:
    """Return the rules of a rule file.

    Raises:
        ValueError: An unknown key, a broken expression, an unknown macro or a name used twice.
    """
    return _checked(_RuleFile.model_validate(tomllib.loads(toml)))


def _checked(data: _RuleFile) -> RuleSet:
    names = [rule.name for rule in data.rule]
    if twice := {name for name in names if names.count(name) > 1}:
        raise ValueError(f"rule names must be unique: {', '.join(sorted(twice))}")
    return RuleSet(data.version, tuple(_compiled(rule, data.macros) for rule in data.rule))


def _compiled(rule: _RuleData, macros: dict[str, str]) -> Rule:
    expanded = [_expanded(pattern, macros) for pattern in rule.patterns]
    word = rule.view == "words"
    pattern = "|".join(f"(?:{_spaced(p, _SEPARATOR)})" for p in expanded) if word else "|".join(expanded)
    edge = r"(?<![^\W_])(?:{})(?![^\W_])" if word else "(?:{})"
    try:
        return Rule(
            name=rule.name,
            kind=rule.kind,
            view=rule.view,
            extent=rule.extent,
            quotable=rule.quotable,
            triggers=tuple(
                trigger.replace(" ", "") if rule.view == "compact" else trigger for trigger in rule.triggers
            ),
            pattern=re.compile(edge.replace("{}", pattern)),
        )
    except re.error as error:
        raise ValueError(f"rule {rule.name}: {error}") from error


def _expanded(pattern: str, macros: dict[str, str]) -> str:
    def macro(match: re.Match[str]) -> str:
        if match[1] not in macros:
            raise ValueError(f"unknown macro {match[1]}")
        return macros[match[1]]

    while re.search(r"\{[A-Z_]+\}", pattern):
        pattern = re.sub(r"\{([A-Z_]+)\}", macro, pattern)
    return pattern


def _spaced(pattern: str, separator: str) -> str:
    return pattern.replace("~", _GAP).replace(" ", separator)


@lru_cache(maxsize=1)
def _shipped() -> _RuleFile:
    text = resources.files("memvault.screening").joinpath("data/rules.toml").read_text("utf-8")
    return _RuleFile.model_validate(tomllib.loads(text))


def ruleset_version() -> str:
    """Return the version of the rules that this version ships, without compiling them."""
    return _shipped().version


@lru_cache(maxsize=1)
def rule_set() -> RuleSet:
    """Return the rules that this version ships."""
    return _checked(_shipped())
