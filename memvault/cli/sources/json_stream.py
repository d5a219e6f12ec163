"""Reads the elements of a large JSON array, or the values of JSON by lines, one after the other."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from typing import IO, Any

_CHUNK = 1 << 20
_WHITE = re.compile(r"[ \t\r\n]*")


class BrokenJson(ValueError):  # noqa: N818 - says what the file is
    """The text is no JSON; the message says where."""


def elements(stream: IO[bytes]) -> Iterator[Any]:
    """Yield the elements of an array; a value that is no array is one element, and so are all of JSON by lines.

    Holds one element at a time, and at least `_CHUNK` bytes of text.

    Raises:
        BrokenJson: No JSON, cut off, or something else behind its end. What was yielded before is whole.
    """
    window = _Window(stream)
    while True:
        if window.peek() == "[":
            window.take()
            yield from _listed(window)
        else:
            yield window.value()
        if not window.peek():
            return


def _listed(window: _Window) -> Iterator[Any]:
    """The elements of an array whose bracket was taken."""
    if window.peek() == "]":
        window.take()
        return
    while True:
        yield window.value()
        mark = window.peek()
        if mark not in {",", "]"}:
            raise window.broken("a comma or the end of the list is missing")
        window.take()
        if mark == "]":
            return


class _Window:
    """The part of the text that is looked at, from `_at` on; what stands before goes when more is read, not sooner."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._decode = codecs.getincrementaldecoder("utf-8-sig")()
        self._decoder = json.JSONDecoder()
        self._text = ""
        self._at = 0
        self._passed = 0
        self._at_end = False

    def peek(self) -> str:
        """The next character that is no white space; empty at the end."""
        while True:
            white = _WHITE.match(self._text, self._at)
            self._at = white.end() if white else self._at
            if self._at < len(self._text) or not self._more():
                return self._text[self._at : self._at + 1]

    def take(self) -> None:
        self._at += 1

    def value(self) -> Any:  # noqa: ANN401 - any JSON value
        self.peek()
        while True:
            try:
                value, end = self._decoder.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                ahead = error.pos - self._at
                # perhaps only the rest is missing: as much again, so that a long element is not read over and over
                if self._more(len(self._text) - self._at):
                    continue
                self._at += ahead
                raise self.broken(error.msg) from error
            except ValueError as error:
                raise self.broken("a number is too long") from error
            except RecursionError as error:
                raise self.broken("it is nested too deeply") from error
            size = end - self._at
            if end < len(self._text) or not self._more():
                self._at += size
                return value

    def broken(self, what: str) -> BrokenJson:
        return BrokenJson(f"is no JSON at character {self._passed + self._at + 1}: {what}")

    def _more(self, least: int = 0) -> bool:
        if self._at_end:
            return False
        raw = self._stream.read(max(_CHUNK, least))
        self._at_end = not raw
        try:
            more = self._decode.decode(raw, final=self._at_end)
        except UnicodeDecodeError as error:
            raise BrokenJson(f"is not UTF-8 ({error.reason}): save it as UTF-8") from error
        self._passed += self._at
        self._text, self._at = self._text[self._at :] + more, 0
        return bool(raw)
