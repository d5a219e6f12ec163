"""The rule set: data/rules.toml, read once, compiled and checked."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib import resources
from typing import Literal

from pydantic import BaseModel, ConfigDict

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
