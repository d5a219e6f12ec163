"""A line of JSON, as somebody else wrote it."""

from __future__ import annotations

import codecs
import json
from typing import Any

BOM = codecs.BOM_UTF8


def read(line: bytes) -> Any:  # noqa: ANN401 - any JSON value
    """The value of a line in UTF-8, also behind a BOM. Raises ValueError, which says what is wrong."""
    try:
        return json.loads(line.removeprefix(BOM).decode("utf-8"))
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def half_character(line: bytes, value: object) -> bool:
    """Whether half of a surrogate pair is in the value of a line: in UTF-8 it can only stand there as an escape."""
    if b"\\u" not in line:
        return False
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    return False
