"""Reads the elements of a large JSON array one after the other."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator
from typing import IO, Any

_CHUNK = 1 << 20
_WHITE = " \t\r\n"


class BrokenJson(ValueError):  # noqa: N818 - says what the file is
    """The text is no JSON; the message says where."""


def elements(stream: IO[bytes]) -> Iterator[Any]:
    """Yield the elements of an array; a value that is no array is the only element.

    Holds one element at a time, and at least `_CHUNK` bytes of text.

    Raises:
        BrokenJson: No JSON, or cut off. What was yielded before is whole.
    """
    window = _Window(stream)
    if window.peek() != "[":
        yield window.value()
        return
    window.take()
    if window.peek() == "]":
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
    """The part of the text that is looked at."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._decode = codecs.getincrementaldecoder("utf-8-sig")()
        self._decoder = json.JSONDecoder()
        self._text = ""
        self._passed = 0
        self._at_end = False

    def peek(self) -> str:
        """The next character that is no white space; empty at the end."""
        while True:
            self._drop(len(self._text) - len(self._text.lstrip(_WHITE)))
            if self._text or not self._more():
                return self._text[:1]

    def take(self) -> None:
        self._drop(1)

    def value(self) -> Any:  # noqa: ANN401 - any JSON value
        self.peek()
        while True:
            try:
                value, end = self._decoder.raw_decode(self._text)
            except (json.JSONDecodeError, RecursionError) as error:
                # perhaps only the rest is missing: as much again, so that a long element is not read over and over
                if isinstance(error, json.JSONDecodeError) and self._more(len(self._text)):
                    continue
                place = error.msg if isinstance(error, json.JSONDecodeError) else "it is nested too deeply"
                raise self.broken(place, getattr(error, "pos", 0)) from error
            if end < len(self._text) or not self._more():
                self._drop(end)
                return value

    def broken(self, what: str, place: int = 0) -> BrokenJson:
        return BrokenJson(f"is no JSON at character {self._passed + place + 1}: {what}")

    def _drop(self, count: int) -> None:
        self._passed += count
        self._text = self._text[count:]

    def _more(self, least: int = 0) -> bool:
        if self._at_end:
            return False
        raw = self._stream.read(max(_CHUNK, least))
        self._at_end = not raw
        try:
            self._text += self._decode.decode(raw, final=self._at_end)
        except UnicodeDecodeError as error:
            raise BrokenJson(f"is not UTF-8 ({error.reason}): save it as UTF-8") from error
        return bool(raw)
