"""Entities that a text names, whether or not it states a fact about them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from memvault.screening import PLACEHOLDER
from memvault.text import fold, is_chinese, sentences
from memvault.text.segmentation import parts_of_speech
from memvault_cascade.domain.graph.model import EntityKind
from memvault_cascade.domain.graph.names import entity_key
from memvault_cascade.domain.graph.rules import ExtractionRules, Language, aligned

HAN = "\u3400-\u9fff\uf900-\ufaff"

_CODE = re.compile(
    rf"(?<![\w.])(?:[A-Z][A-Z0-9]{{0,9}}[-_]\d[\w-]*|[A-Z]{{1,4}}\d\w*(?:-\w+)*(?:-[{HAN}]{{1,6}})?"
    r"|v?\d+\.\d+(?:\.\d+)+(?::\d+)?|#\d{2,}|[a-z][\w-]*\.(?:local|com|org|net|io|dev|tw|lan|py|rs|md|toml|json|yaml)"
    r"|[a-z]+[-_][a-z0-9_-]*\d[\w-]*)(?![\w])",
    re.ASCII,
)
_CAPITALISED = re.compile(
    r"(?<![\w'’])[A-Z][\w+#&]*(?:[-/.][A-Za-z0-9]\w*)*"
    r"(?: (?:(?:of|the|for|de|von|van) )?(?:[A-Z][\w+#&]*|\d{1,4}\b)(?:[-/.][A-Za-z0-9]\w*)*){0,5}",
)
_LATIN = re.compile(r"(?<![A-Za-z0-9_.@-])[A-Za-z][A-Za-z0-9+#]*(?:[-_.][A-Za-z0-9]+)*(?: [A-Z][A-Za-z0-9+#]*)*")
_QUOTED = re.compile(rf"[「『《〈]([{HAN}A-Za-z0-9 ·・_-]{{2,16}})[」』》〉]")
# A link of a note to another: `[[X]]`, `[[folder/X#heading|shown]]`; `![[picture.png]]` shows a file and names nothing.
_LINKED = re.compile(r"(?<!!)\[\[([^\[\]|#^\n]{2,120})(?:[#^|][^\[\]\n]*)?\]\]")
_SENTENCE_START = re.compile(r"(?:^|[.!?:;\n\"“(]\s*|^\s*[-*#>]+\s*)$")
_PLACE_OR_ORGANISATION = ("ns", "nt", "nz")
_SHORTEST_TERM = 3
_SHORTEST_NAME = 2
_LONGEST_PERSON = 3
_FAMILIAR = "小阿老"


@dataclass(frozen=True, slots=True)
class Mention:
    """A name as written, and what it looks like."""

    name: str
    kind: EntityKind


@dataclass(frozen=True, slots=True)
class Tagged:
    """A word as written, with jieba's part of speech (`n`, `nr`, `v`, `eng`, ...) and its place in the text."""

    word: str
    tag: str
    start: int


def tag(text: str) -> tuple[Tagged, ...]:
    """Words and parts of speech.

    The dictionary is Simplified, so each character is folded by itself: places stay true.
    """
    folded = "".join(single if len(single := fold(character)) == 1 else character for character in text)
    place, words = 0, []
    for word, part in parts_of_speech(folded):
        words.append(Tagged(text[place : place + len(word)], part, place))
        place += len(word)
    return tuple(words)


def find_mentions(text: str, rules: ExtractionRules) -> tuple[Mention, ...]:
    """Links between notes, then names, codes and longer nouns of a text in order of appearance, each spelling once.

    What stands for a redacted span is no name, and no name reaches across it.
    """
    # A line break, because what follows an injected sentence begins one: its capital proves nothing.
    text = text.replace(PLACEHOLDER, "\n")
    by_code = {language.code: language for language in rules.languages}
    links = (match.group(1).rpartition("/")[2].strip() for match in _LINKED.finditer(text))
    found = [Mention(name, EntityKind.NAME) for name in links]
    for sentence in sentences(text):
        codes = [match.group() for match in _CODE.finditer(sentence)]
        found += [Mention(code, EntityKind.CODE) for code in codes]
        # A code is one name: its parts are not names as well.
        rest = _CODE.sub("；", sentence)
        if is_chinese(sentence):
            found += _chinese(rest, by_code["zh"], by_code["en"])
        else:
            found += _english(rest, text, by_code["en"])
        found += [Mention(match.group(1).strip(), EntityKind.NAME) for match in _QUOTED.finditer(rest)]
    return _distinct(mention for mention in found if not rules.predicates.is_wording(mention.name))


def _distinct(mentions: Iterable[Mention]) -> tuple[Mention, ...]:
    kept: dict[str, Mention] = {}
    for mention in mentions:
        key = entity_key(mention.name)
        if len(key) >= _SHORTEST_NAME:
            kept.setdefault(key, mention)
    return tuple(kept.values())


def _english(sentence: str, text: str, words: Language) -> Iterable[Mention]:
    for match in _CAPITALISED.finditer(sentence):
        parts = match.group().rstrip(".").split()
        starts_sentence = bool(_SENTENCE_START.search(sentence[: match.start()]))
        while parts and fold(parts[0]) in words.common:
            parts = parts[1:]
            starts_sentence = False
        while parts and (fold(parts[-1]) in words.common or (parts[-1].isdigit() and len(parts) == 1)):
            parts = parts[:-1]
        if not parts:
            continue
        name = " ".join(parts)
        if len(parts) == 1 and starts_sentence and not _surely_a_name(name, text):
            continue
        yield Mention(name, EntityKind.NAME)


def _surely_a_name(word: str, text: str) -> bool:
    """A capital at the start of a sentence proves nothing.

    The word must have another one inside, a digit, or stand elsewhere too.
    """
    if any(character.isupper() or character.isdigit() for character in word[1:]):
        return True
    return re.search(rf"(?<=[a-z,;] ){re.escape(word)}\b", text) is not None


def _chinese(sentence: str, words: Language, english: Language) -> Iterable[Mention]:
    for match in _LATIN.finditer(sentence):
        # Latin letters inside Chinese are nearly always the name of something.
        if len(match.group()) >= _SHORTEST_NAME and fold(match.group()) not in english.common:
            yield Mention(match.group(), EntityKind.NAME)
    for match in words.titled.finditer(aligned(sentence)):
        yield Mention(sentence[match.start() : match.end()], EntityKind.NAME)
    for tagged in tag(sentence):
        kind = _kind_of(tagged, words)
        if kind is not None:
            yield Mention(tagged.word, kind)


def _kind_of(tagged: Tagged, words: Language) -> EntityKind | None:
    word = tagged.word
    if not re.fullmatch(f"[{HAN}]+", word) or fold(word) in words.common:
        return None
    if tagged.tag == "nr":
        is_person = _SHORTEST_NAME <= len(word) <= _LONGEST_PERSON and (
            aligned(word[0]) in words.surnames or word[0] in _FAMILIAR
        )
        return EntityKind.NAME if is_person else None
    if tagged.tag in _PLACE_OR_ORGANISATION and len(word) >= _SHORTEST_NAME:
        return EntityKind.NAME
    return EntityKind.TERM if tagged.tag in {"n", "vn"} and len(word) >= _SHORTEST_TERM else None
