"""A line of JSON, as somebody else wrote it."""

from __future__ import annotations

import codecs
import json
from collections import Counter
from typing import Any

BOM = codecs.BOM_UTF8
_NAME_CHARS = 80


class DoubledNameError(ValueError):
    """An object names a field twice: which one counts is not for a reader to guess."""


def read(line: bytes) -> Any:  # noqa: ANN401 - any JSON value
    """The value of a line in UTF-8, also behind a BOM. Raises ValueError, which says what is wrong."""
    try:
        return json.loads(line.removeprefix(BOM).decode("utf-8"))
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def read_once(line: bytes) -> Any:  # noqa: ANN401 - as above
    """As `read`, for lines whose fields are taken over. Raises DoubledNameError: the rest of a sentence."""
    try:
        return _ONCE.decode(line.removeprefix(BOM).decode("utf-8"))
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def _no_name_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = dict(pairs)
    if len(names) != len(pairs):
        counted = Counter(name for name, _ in pairs)
        doubled = next(name for name, count in counted.items() if count > 1)
        raise DoubledNameError(f'has the field "{doubled[:_NAME_CHARS]}" twice: keep one of them')
    return names


_ONCE = json.JSONDecoder(object_pairs_hook=_no_name_twice)


def half_character(line: bytes, value: object) -> bool:
    """Whether half of a surrogate pair is in the value of a line: in UTF-8 it can only stand there as an escape."""
    if b"\\u" not in line:
        return False
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    return False
