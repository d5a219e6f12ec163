"""Facts that a text states, read without a model (R-34): few and sure rather than many.

A sentence that asks, doubts, denies or plans states nothing. What is found are
explicit forms such as `X 負責 Y`, "A uses B", "the IP of X is Y".
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from memvault.screening import PLACEHOLDER
from memvault.text import fold, sentences
from memvault_cascade.domain.graph.mentions import Mention, find_mentions, tag
from memvault_cascade.domain.graph.names import SELF_NAME, entity_key, is_cut, is_self, squeezed
from memvault_cascade.domain.graph.roles import Roles
from memvault_cascade.domain.graph.rules import ExtractionRules, Language, ObjectKind, Pattern, aligned

_CLAUSE_END = re.compile(r"[，。；、！？,;!?\n]+")
_ENGLISH_DETERMINER = re.compile(r"^(?:the|a|an|my|our|his|her|their|this|that)\s+", re.IGNORECASE)
_EDGE = " \t.,;:!?'\"’”“‘()[]{}，。；：、！？「」『』（）"
_LATIN_OR_DIGIT = re.compile(r"[A-Za-z0-9]")
_NOUNISH = ("n", "eng", "x", "m", "q", "j", "l", "i", "b", "s", "f", "t", "vn", "an", "nz")
_NOUN = ("n", "eng", "x", "j", "l", "i", "vn", "s", "f")
_LONGEST = {ObjectKind.THING: 24, ObjectKind.NAME: 16, ObjectKind.NOUN: 12, ObjectKind.VALUE: 28, ObjectKind.PHRASE: 28}
_LONGEST_ENGLISH = 60
_SHORT = 4
_VALUE_START = re.compile(r"[A-Z0-9]")


@dataclass(frozen=True, slots=True)
class Fact:
    """A stated fact by its names, as written."""

    subject: str
    predicate: str
    object: str


@dataclass(frozen=True, slots=True)
class Extraction:
    """What one text gives to the graph."""

    facts: tuple[Fact, ...]
    mentions: tuple[Mention, ...]


def extract(text: str, speaker: str, rules: ExtractionRules) -> Extraction:
    """Facts and names of a text.

    "I" and 「我」 are the speaker: the user when `speaker` is empty or a word for them, nobody when a bot speaks. Where
    screening took something out, nothing is read across the gap, nor of the word that marks it.
    """
    found: dict[tuple[str, str, str], Fact] = {}
    for sentence in sentences(text):
        for language in rules.languages:
            # Every Chinese pattern holds a Chinese character.
            if language.code == "zh" and sentence.isascii():
                continue
            if language.doubtful.search(aligned(sentence)):
                continue
            for fact in _around_gaps(sentence, language, rules):
                spoken = _with_speaker(fact, speaker, rules.roles)
                if spoken is not None and entity_key(spoken.subject) != entity_key(spoken.object):
                    key = (
                        entity_key(spoken.subject),
                        rules.predicates.key(spoken.predicate),
                        entity_key(spoken.object),
                    )
                    found.setdefault(key, spoken)
    return Extraction(tuple(found.values()), find_mentions(text, rules))


def _with_speaker(fact: Fact, speaker: str, roles: Roles) -> Fact | None:
    if not is_self(fact.subject) and fold(fact.subject) not in {"we", "我们"}:
        return fact
    name = speaker.strip()
    if is_cut(name) or roles.speaks_as_nobody(name):
        return None
    own = not name or is_self(name) or "user" in fold(name) or roles.speaks_as_user(name)
    return Fact(SELF_NAME if own else name, fact.predicate, fact.object)


def _around_gaps(sentence: str, language: Language, rules: ExtractionRules) -> Iterable[Fact]:
    for part in sentence.split(PLACEHOLDER):
        yield from _facts(part, language, rules)


def _facts(sentence: str, language: Language, rules: ExtractionRules) -> Iterable[Fact]:
    chinese = language.code == "zh"
    parts = [part.strip() for part in _CLAUSE_END.split(sentence)] if chinese else [sentence]
    for part in parts:
        clause = _without(language.lead_in, squeezed(part)) if chinese else part
        for pattern in language.patterns:
            if chinese:
                match = pattern.regex.search(aligned(clause))
                fact = _chinese_fact(clause, match, pattern, language) if match else None
                if fact is not None:
                    yield fact
                    # One clause states one thing; the first pattern that fits is the most specific.
                    break
            elif pattern.may_match(clause):
                yield from _english_facts(clause, pattern, language, rules)


def _english_facts(sentence: str, pattern: Pattern, language: Language, rules: ExtractionRules) -> Iterable[Fact]:
    for match in pattern.regex.finditer(sentence):
        groups = match.groupdict()
        subject = SELF_NAME if pattern.self_subject else _trimmed(groups["s"])
        target = _trimmed(groups["o"])
        predicate = _trimmed(groups["p"]) if pattern.attribute else pattern.predicate
        if not pattern.self_subject and not _is_english_subject(subject, language):
            continue
        if not _is_english_object(target, pattern, language):
            continue
        if pattern.attribute and not rules.predicates.is_wording(predicate) and not _VALUE_START.match(target):
            # "the art of painting is important" judges; it gives no value.
            continue
        yield Fact(subject, predicate, target)


def _is_english_object(target: str, pattern: Pattern, language: Language) -> bool:
    folded = fold(target)
    if not folded or len(target) > _LONGEST_ENGLISH or folded.split()[0] in language.pronouns:
        return False
    return pattern.holds is ObjectKind.VALUE or folded not in language.common


def _is_english_subject(subject: str, language: Language) -> bool:
    folded = fold(subject)
    if is_self(subject) or folded == "we":
        return True
    return bool(folded) and folded not in language.common and folded.split()[0] not in language.pronouns


def _chinese_fact(clause: str, match: re.Match[str], pattern: Pattern, language: Language) -> Fact | None:
    written = {name: clause[match.start(name) : match.end(name)] for name in match.groupdict() if match[name]}
    raw = written.get("s") or pattern.default_subject
    subject = SELF_NAME if pattern.attribute and is_self(raw) else _trimmed(_without(language.determiner, raw))
    target = _trimmed(_without(language.determiner, _without(language.tail, written["o"].strip())))
    predicate = _trimmed(written["p"]) if pattern.attribute else pattern.predicate
    if pattern.attribute and len(subject) > _SHORT and tag(subject)[0].tag.startswith("v"):
        # 「回覆某公司的邀請」 is something to do, not a thing with a quality.
        return None
    if not (_is_chinese_subject(subject) and _is_chinese_object(target, pattern.holds)):
        return None
    return Fact(subject, predicate, target)


def _without(pattern: re.Pattern[str], text: str) -> str:
    """The text, as written, without what the pattern finds in it."""
    found = pattern.search(aligned(text))
    return text[: found.start()] + text[found.end() :] if found else text


def _is_chinese_subject(subject: str) -> bool:
    if is_self(subject) or aligned(subject) == "我们":
        return True
    return _is_noun_phrase(subject)


def _is_noun_phrase(text: str) -> bool:
    """Nouns, names, numbers and, in front of the last noun, verbs: 「報銷流程」."""
    tags = [t for t in tag(text) if t.word.strip()]
    return bool(tags) and tags[-1].tag.startswith(_NOUN) and all(t.tag.startswith((*_NOUNISH, "v")) for t in tags)


def _is_chinese_object(target: str, holds: ObjectKind) -> bool:
    if not target or len(target) > (_LONGEST_ENGLISH if _LATIN_OR_DIGIT.match(target) else _LONGEST[holds]):
        return False
    if holds in {ObjectKind.VALUE, ObjectKind.PHRASE}:
        return True
    tags = tag(target)
    if tags[0].tag.startswith(("r", "u", "d", "c")):
        return False
    if holds is ObjectKind.THING:
        return any(t.tag.startswith((*_NOUN, "v")) for t in tags)
    return _is_noun_phrase(target)


def _trimmed(name: str) -> str:
    without = _ENGLISH_DETERMINER.sub("", name.strip(_EDGE))
    return " ".join(without.split()).strip(_EDGE)
