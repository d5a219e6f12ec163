"""Index tokens: what the sparse side of a search counts (R-11).

Chinese runs give their dictionary words and their character pairs, so that a name which the dictionary cuts wrongly is
still found. English gives snowball stems without stop words. Codes, versions, dates, paths, addresses and host names
are kept whole and in their parts, so that `Q3-報表`, `INC-4821`, `10.0.0.5`, `OCR` and `MLX` are found by their
letters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from importlib import resources
from threading import Lock
from typing import TYPE_CHECKING

from memvault.text.folding import HAN, compatible, fold
from memvault.text.segmentation import cut

if TYPE_CHECKING:
    import snowballstemmer

_CJK = HAN + "\u3040-\u30ff\u31f0-\u31ff\uac00-\ud7af"
_EMOJI = "\U0001f1e6-\U0001f1ff\U0001f300-\U0001faff\u2600-\u27bf\u2b00-\u2bff\u231a\u231b\u23e9-\u23fa\u3030\u303d"
_LETTER = rf"[^\W_{_CJK}]"
_TOKEN = re.compile(
    rf"""
      (?P<cjk>[{_CJK}]+)
    | (?P<sharp>\b[a-z](?:\+\+|\#)(?!\w))
    | (?P<compound>\.?{_LETTER}+(?:(?:[-_.:/\\@+#&~=]|://|:\\|'){_LETTER}+)+/?)
    | (?P<word>{_LETTER}+)
    | (?P<emoji>[{_EMOJI}])
    """,
    re.VERBOSE,
)
_CODE_TAIL = re.compile(rf"[-_][{_CJK}]+")
_PART = re.compile(rf"{_LETTER}+")
_HUMP = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_CAMEL = re.compile(r"\b(?:[A-Za-z]*[a-z][A-Z]|[A-Z]{2,}[a-z]{2})[A-Za-z0-9]*")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_STEMMABLE = re.compile(r"[a-z]{3,}\Z")
_JOINED_CODE = re.compile(r"[a-z0-9]+(?:[-_ ][a-z0-9]+)+\Z")
_VERSION = re.compile(r"v(\d+(?:\.\d+)+.*)\Z")
_SCHEMES = frozenset({"http", "https", "www", "ftp", "file"})
_stemmer_lock = Lock()


@lru_cache(maxsize=2)
def stop_words(language: str) -> frozenset[str]:
    """Return the folded stop words of `en` or `zh`."""
    words = resources.files("memvault.text").joinpath(f"data/stop_words_{language}.txt").read_text("utf-8")
    return frozenset(words.split())


@lru_cache(maxsize=1)
def _stemmer() -> snowballstemmer.stemmer:
    import snowballstemmer  # noqa: PLC0415 - brings the stemmers of all languages, which few processes use

    return snowballstemmer.stemmer("english")


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """Return the snowball stem of a folded English word; what is not plain Latin letters stays as it is."""
    if not _STEMMABLE.match(word):
        return word
    with _stemmer_lock:  # the stemmer keeps its word in the object
        return str(_stemmer().stemWord(word))


def search_tokens(text: str) -> list[str]:
    """Return the tokens by which `text` is indexed and looked up, repeated as often as they occur.

    If only stop words are left, they are the tokens: "The Who" must be found as well.
    """
    plain = compatible(text)
    folded = _THOUSANDS.sub("", fold(text))
    tokens = [token for token in _tokens(folded) if token]
    tokens.extend(stem(part.lower()) for name in _CAMEL.findall(plain) for part in _humps(name))
    return tokens or [match.group() for match in _TOKEN.finditer(folded)]


def _humps(name: str) -> list[str]:
    parts = _HUMP.findall(name)
    return [part for part in parts if len(part) > 1] if len(parts) > 1 else []


def _tokens(folded: str) -> Iterator[str]:
    for match in _TOKEN.finditer(folded):
        kind, found = match.lastgroup, match.group()
        if kind == "cjk":
            yield from _cjk(found)
        elif kind == "compound":
            yield from _compound(found)
        elif kind == "word":
            yield from _word(found)
        else:
            yield found
        if kind in ("compound", "word"):
            yield from _code_with_tail(folded, match)


def _word(found: str) -> Iterator[str]:
    if found not in stop_words("en"):
        yield stem(found)


def _compound(found: str) -> Iterator[str]:
    if found in stop_words("en"):
        return
    if found.endswith("'s") and found.count("'") == 1 and found[:-2].isalpha():
        yield from _word(found[:-2])
        return
    whole = found.rstrip("/")
    yield whole
    if version := _VERSION.match(whole):
        yield version[1]
    if _JOINED_CODE.match(whole) and any(c.isdigit() for c in whole):
        yield re.sub("[-_]", "", whole)
    for part in dict.fromkeys(_PART.findall(version[1] if version else whole)):
        if part not in _SCHEMES:
            yield from _word(part)


def _code_with_tail(folded: str, match: re.Match[str]) -> Iterator[str]:
    """Yield a code whose last part is a Chinese word, whole: `q3-报表`."""
    tail = _CODE_TAIL.match(folded, match.end())
    if tail:
        yield match.group() + tail.group()[0] + cut(tail.group()[1:])[0]


def _cjk(run: str) -> Iterator[str]:
    """Yield the words of the run and those character pairs that are no word of it."""
    stops = stop_words("zh")
    words, silent = set(), []
    for word in cut(run):
        stopped = word in stops
        silent.extend([stopped] * len(word))
        if not stopped:
            words.add(word)
            yield word
    for at in range(len(run) - 1):
        pair = run[at : at + 2]
        if pair not in words and not (silent[at] and silent[at + 1]):
            yield pair
