"""Many patterns over one short text: only those are tried of which the text holds what they begin with."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

_BORDER = r"\b"
_WORD = re.compile(r"\w+")
_LATIN_RUN = re.compile(r"[a-z0-9]+")
_GROUP = re.compile(r"\((?!\?)|\(\?:")
_SPECIAL = set("\\.[]()^$|?*+{}")
_PIECE = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|.", re.DOTALL)


def seen_in(text: str) -> frozenset[str]:
    """Return what a match may begin with in a folded text: its letters, and its words from border to border."""
    return frozenset(text) | frozenset(_WORD.findall(text))


def openings(pattern: str) -> frozenset[str] | None:
    r"""Return letters and words one of which every match of a pattern begins with; None where that is not plain.

    A whole word is told only of a pattern that begins and ends it with a border (`\bhow far\b`: "how"); of all
    others a letter. None is always safe: such a pattern is tried on every text.
    """
    branches = _branches(pattern)
    if len(branches) > 1:
        return _union(map(openings, branches))
    if pattern.startswith("^"):
        return _openings(pattern[1:], whole=True)
    if pattern.startswith(_BORDER):
        return _openings(pattern.removeprefix(_BORDER), whole=True)
    return _openings(pattern, whole=False)


def _openings(rest: str, *, whole: bool) -> frozenset[str] | None:
    """Of a pattern without branches; `whole`: a word begins here."""
    if group := _GROUP.match(rest):
        inner, after, optional = _group(rest, group.end())
        if after is None:
            return None
        starts = [inside + after for inside in _branches(inner)] + ([after] if optional else [])
        return _union(_openings(start, whole=whole) for start in starts)
    if whole and (run := _LATIN_RUN.match(rest)):
        return _words(run.group(), rest[run.end() :])
    return _letter(rest)


def _words(run: str, rest: str) -> frozenset[str] | None:
    """Of a pattern that goes on as `rest` after the letters `run`, with which a word begins."""
    if group := _GROUP.match(rest):
        inner, after, optional = _group(rest, group.end())
        if after is None:
            return None
        starts = [run + inside + after for inside in _branches(inner)] + ([run + after] if optional else [])
        return _union(_openings(start, whole=True) for start in starts)
    if rest.startswith("?"):
        return _union(_openings(start + rest[1:], whole=True) for start in (run[:-1], run))
    if rest.startswith(_BORDER) or _is_gap(rest):
        return frozenset({run})
    return _letter(run + rest)


def _is_gap(rest: str) -> bool:
    """Say whether a pattern goes on with one letter that no word holds: a blank, a hyphen, an escaped dot."""
    literal = _literal(rest)
    return literal is not None and _WORD.match(literal) is None and rest[_width(rest) :][:1] not in {"?", "*", "{"}


def _literal(rest: str) -> str | None:
    """Return the letter that a pattern begins with; None where it begins with anything else."""
    if rest[:1] == "\\":
        return rest[1] if len(rest) > 1 and not rest[1].isalnum() else None
    return rest[0] if rest and rest[0] not in _SPECIAL else None


def _width(rest: str) -> int:
    return 2 if rest.startswith("\\") else 1


def _letter(rest: str) -> frozenset[str] | None:
    literal, after = _literal(rest), rest[_width(rest) :]
    if literal is None or after[:1] in {"*", "{"}:
        return None
    own = frozenset({literal})
    return _union([own, _openings(after[1:], whole=False)]) if after.startswith("?") else own


def _group(rest: str, begin: int) -> tuple[str, str | None, bool]:
    """Content of the group that opens before `begin`, what follows it (None: repeated), whether it may be missing."""
    end = begin + len(_until_closed(rest[begin:]))
    after = rest[end + 1 :]
    if after[:1] in {"*", "+", "{"}:
        return rest[begin:end], None, False
    return rest[begin:end], after.removeprefix("?"), after.startswith("?")


def _until_closed(rest: str) -> str:
    depth, length = 1, 0
    for piece in _PIECE.findall(rest):
        depth += (piece == "(") - (piece == ")")
        if depth == 0:
            break
        length += len(piece)
    return rest[:length]


def _branches(pattern: str) -> list[str]:
    """Split at the bars that stand in no group: of "^ok$|thanks" only the first begins as the whole does."""
    found, depth = [""], 0
    for piece in _PIECE.findall(pattern):
        depth += (piece == "(") - (piece == ")")
        if piece == "|" and depth == 0:
            found.append("")
        else:
            found[-1] += piece
    return found


def _union(parts: Iterable[frozenset[str] | None]) -> frozenset[str] | None:
    found: frozenset[str] = frozenset()
    for part in parts:
        if part is None:
            return None
        found |= part
    return found


@dataclass(frozen=True)
class _Entry:
    owner: int
    find: Callable[[str], re.Match[str] | None]


class PatternIndex:
    """The patterns of several owners, numbered from 0."""

    def __init__(self, owners: Iterable[Sequence[str]]) -> None:
        """`owners`: the patterns of each.

        Raises:
            re.error: When one cannot be compiled.
        """
        self._entries: list[_Entry] = []
        self._always: set[int] = set()
        self._places: dict[str, list[int]] = {}
        for owner, patterns in enumerate(owners):
            for pattern in patterns:
                self._add(owner, pattern)

    def _add(self, owner: int, pattern: str) -> None:
        compiled, number = re.compile(pattern), len(self._entries)
        # what must stand at the beginning is tried there alone, and not at every letter
        begins = all(branch.startswith("^") for branch in _branches(pattern))
        self._entries.append(_Entry(owner, compiled.match if begins else compiled.search))
        known = openings(pattern)
        if known is None:
            self._always.add(number)
        for opening in known or ():
            self._places.setdefault(opening, []).append(number)

    def find(self, text: str, seen: frozenset[str]) -> dict[int, re.Match[str]]:
        """Return owner to match, of each owner with any, in their order: that of its first pattern that matches.

        Args:
            text: Folded as the patterns are.
            seen: `seen_in(text)`.
        """
        tried = self._always.union(*(places for one in seen if (places := self._places.get(one)) is not None))
        found: dict[int, re.Match[str]] = {}
        for number in sorted(tried):
            entry = self._entries[number]
            if entry.owner not in found and (match := entry.find(text)):
                found[entry.owner] = match
        return found
