"""Whether a line is a block of the contract: one check of exports and of plain JSON lines, before anything is sent."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from typing import Any

_TEXT_BYTES = 64 * 1024
_ID_CHARS = 200
_NAME_CHARS = 80
_MOST_COUNTED = 2**31
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?Z", re.ASCII)
_SHARES = ("trust", "confidence")


def complaint(block: dict[str, Any]) -> str:
    """What is wrong with id, text and shares of a block, as the rest of a sentence; empty: nothing."""
    if not 1 <= len(str(block.get("id") or "")) <= _ID_CHARS:
        return f"has no id of 1 to {_ID_CHARS} characters"
    if not str(block["id"]).strip():
        return "has a blank id"
    text = block.get("text", "")
    if not isinstance(text, str) or not text.strip():
        return "has no text"
    size = len(text.encode("utf-8", "surrogatepass")) if len(text) > _TEXT_BYTES // 4 else 0
    if size > _TEXT_BYTES:
        return f"has a text of {size} bytes, a block takes {_TEXT_BYTES}"
    for name in _SHARES:
        share = block.get(name, 0)
        if not isinstance(share, int | float) or not 0 <= share <= 1:
            return f"has a {name} that is no number from 0 to 1"
    return ""


class Misfit:
    """Whether a block has fields and types of the contract.

    The contract's own parser decides. It takes a third of a millisecond a block, so that it is only asked where a block
    is not of the plain form that an export has.
    """

    def __init__(self) -> None:
        # imported here: the contract's code takes longer to load than most commands run
        from google.protobuf.json_format import ParseDict, ParseError  # noqa: PLC0415

        from memvault.recall.v1.types_pb2 import Block  # noqa: PLC0415

        self._parse: Callable[[dict[str, Any]], object] = lambda parsed: ParseDict(parsed, Block())
        # protobuf's parser answers some wrong types with its own slips instead of a ParseError
        self._errors = (ParseError, TypeError, AttributeError, ValueError, RecursionError)
        self._kind: Any = Block.DESCRIPTOR
        self._plain = {field.name: _plain_form(field) for field in Block.DESCRIPTOR.fields}

    def of(self, parsed: dict[str, Any]) -> str:
        """What is wrong, as the rest of a sentence; empty: nothing."""
        checks = self._plain
        if all(name in checks and checks[name](value) for name, value in parsed.items()) or self._fits(parsed):
            return ""
        fields = _fields(self._kind)
        for name, value in parsed.items():
            if name not in fields:
                return _unknown(name)
            if not self._fits({name: value}):
                return _unknown_within(fields[name], name, value) or (
                    f'has no right value in the field "{name}": {_expected(fields[name])} is expected'
                )
        return "does not fit the contract: compare it with `Block` there"

    def _fits(self, parsed: dict[str, Any]) -> bool:
        try:
            self._parse(parsed)
        except self._errors:
            return False
        return True


def _fields(kind: Any) -> dict[str, Any]:  # noqa: ANN401 - descriptors of the C implementation have no type
    """Fields of a message under both names that JSON may use."""
    return {name: field for field in kind.fields for name in (field.name, field.json_name)}


def _unknown(name: str) -> str:
    return f'has an unknown field "{name[:_NAME_CHARS]}": take it out'


def _unknown_within(field: Any, name: str, value: object) -> str:  # noqa: ANN401 - as above
    """The unknown field of an object in a field, such as `source.colour`; empty where there is none."""
    if field.message_type is None:
        return ""
    known = _fields(field.message_type)
    for one in value if isinstance(value, list) else [value]:
        inner = next((inner for inner in one if inner not in known), None) if isinstance(one, dict) else None
        if inner is not None:
            return _unknown(f"{name}.{inner}")
    return ""


def _expected(field: Any) -> str:  # noqa: ANN401 - as above
    if field.is_repeated:
        return 'a list of texts such as ["home"]' if field.type == field.TYPE_STRING else "a list of objects"
    if field.message_type is not None:
        if field.message_type.full_name == "google.protobuf.Timestamp":
            return 'a time with its zone such as "2026-03-01T09:30:00+08:00"'
        return f"an object with {', '.join(one.name for one in field.message_type.fields)}"
    forms = {
        field.TYPE_STRING: "a text in quotes",
        field.TYPE_BOOL: "true or false",
        field.TYPE_INT32: f"a whole number below {_MOST_COUNTED}",
    }
    return forms.get(field.type, "a number")


def _plain_form(field: Any) -> Callable[[Any], bool]:  # noqa: ANN401 - as above
    """A quick test that says yes only to values which the contract takes for sure."""
    single = _single_form(field)
    if field.is_repeated:
        return lambda value: type(value) is list and all(map(single, value))
    return single


def _single_form(field: Any) -> Callable[[Any], bool]:  # noqa: ANN401 - as above
    if field.message_type is not None:
        if field.message_type.full_name == "google.protobuf.Timestamp":
            return _is_time
        inner = {one.name: _plain_form(one) for one in field.message_type.fields}
        return lambda value: type(value) is dict and all(name in inner and inner[name](value[name]) for name in value)
    if field.type == field.TYPE_INT32:
        return lambda value: type(value) is int and 0 <= value < _MOST_COUNTED
    kind = {field.TYPE_STRING: str, field.TYPE_BOOL: bool, field.TYPE_DOUBLE: float}.get(field.type)
    return lambda value: kind is not None and type(value) is kind


def _is_time(value: object) -> bool:
    if not (isinstance(value, str) and _TIME.fullmatch(value)):
        return False
    try:
        return datetime.fromisoformat(value).year > 0
    except ValueError:
        return False
