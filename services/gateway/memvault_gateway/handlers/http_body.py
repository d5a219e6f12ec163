"""Reads what HTTP brings, bytes and query strings, as messages of the contract; strict, and never surprised."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn, TypeVar
from urllib.parse import parse_qsl, unquote

from google.protobuf.json_format import ParseDict, ParseError
from google.protobuf.message import Message

from memvault.faults import Fault, Reason

_M = TypeVar("_M", bound=Message)
_UNKNOWN = re.compile(r'has no field named "(?P<field>[^"]{0,80})"(?: at "(?P<place>[^"]{0,200})")?')
_FILTERS = re.compile(r'Filters" has no field named|\.filters"')
_CHAIN = re.compile(r"(?:Failed to parse \w{1,80} field: )+")
_LINK = re.compile(r"Failed to parse (\w+) field: ")
_AT = re.compile(r" at \w{1,80}\.(?P<place>[\w.\[\]]{1,200}?)\.*\Z")
_INDEX = re.compile(r"\[\d+\]\Z")
_SURROGATE = re.compile("[\ud800-\udfff]")
_AnyDescriptor = Any  # the C implementation's descriptors and the documented ones share no type
_MOST_PARAMETERS = 32
_BOOLEANS = {"true": True, "false": False}
_CONTRACT = "/openapi.json"
_TIMESTAMP = "google.protobuf.Timestamp"


def read_body(body: bytes, kind: type[_M]) -> _M:
    """Return the JSON body as a message; an empty body is an empty message.

    Raises:
        Fault: TEXT_INVALID for bytes or strings that are no Unicode, FIELD_UNKNOWN, FILTER_UNKNOWN or FIELD_INVALID.
    """
    if not body.strip():
        return kind()
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = f"the body is not UTF-8 at byte {error.start}: encode it as UTF-8"
        raise Fault(Reason.TEXT_INVALID, message, field="body") from error
    try:
        parsed = json.loads(text, parse_constant=_no_number, object_pairs_hook=_unique)
    except RecursionError as error:
        raise Fault(Reason.FIELD_INVALID, "the body is nested too deeply: send it flat", field="body") from error
    except json.JSONDecodeError as error:
        message = f"the body is not JSON at line {error.lineno}, column {error.colno}: {error.msg}"
        raise Fault(Reason.FIELD_INVALID, message, field="body") from error
    except ValueError as error:  # a whole number with thousands of digits
        raise Fault(Reason.FIELD_INVALID, "the body holds a number that is too long", field="body") from error
    if not isinstance(parsed, dict):
        raise Fault(Reason.FIELD_INVALID, "the body must be a JSON object: send {...}", field="body")
    _refuse_surrogates(parsed, "body")
    _refuse_shapes(parsed, kind.DESCRIPTOR)
    return _message(parsed, kind)


def read_query(query_string: bytes, kind: type[_M], path: Mapping[str, str] | None = None) -> _M:
    """Return the parameters of a query string, and of the path, as a message.

    Raises:
        Fault: As `read_body`; FIELD_INVALID also for a parameter given twice.
    """
    try:
        pairs = parse_qsl(
            query_string.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=_MOST_PARAMETERS
        )
    except UnicodeDecodeError as error:
        raise Fault(
            Reason.TEXT_INVALID, "the query string is not UTF-8: percent-encode UTF-8", field="query"
        ) from error
    except ValueError as error:
        raise Fault(Reason.FIELD_INVALID, "the query string has too many parameters", field="query") from error
    given = _unique([*(path or {}).items(), *pairs])
    switches = {name for name, field in kind.DESCRIPTOR.fields_by_name.items() if field.type == field.TYPE_BOOL}
    typed = {name: _BOOLEANS.get(value, value) if name in switches else value for name, value in given.items()}
    return _message(typed, kind)


def read_segment(raw: bytes, field: str) -> str:
    """Return one percent-encoded segment of a path. Fault: TEXT_INVALID."""
    try:
        return unquote(raw.decode("ascii"), errors="strict")
    except UnicodeDecodeError as error:
        raise Fault(Reason.TEXT_INVALID, f"{field} is not UTF-8: percent-encode UTF-8", field=field) from error


def _message(parsed: dict[str, Any], kind: type[_M]) -> _M:
    try:
        return ParseDict(parsed, kind(), max_recursion_depth=32)
    except (ParseError, TypeError, AttributeError, ValueError, RecursionError) as error:
        # protobuf's parser answers some wrong types with its own slips instead of a ParseError
        _refuse(str(error), kind)


def _refuse(complaint: str, kind: type[Message]) -> NoReturn:
    name = kind.DESCRIPTOR.name
    unknown = _UNKNOWN.search(complaint)
    if unknown:
        field = unknown["field"]
        reason = Reason.FILTER_UNKNOWN if _FILTERS.search(complaint) else Reason.FIELD_UNKNOWN
        what = "filter" if reason is Reason.FILTER_UNKNOWN else "field"
        owner = (unknown["place"] or name).rpartition(".")[2]
        raise Fault(reason, f"{owner} has no {what} {field!r}: remove it or correct its name", field=field)
    field, is_time = _place(complaint, kind.DESCRIPTOR)
    advice = "send a time with its zone, such as 2026-03-01T08:00:00Z" if is_time else f"see {_CONTRACT} for {name}"
    raise Fault(Reason.FIELD_INVALID, f"{field} has a value of the wrong type or out of range: {advice}", field=field)


def _place(complaint: str, descriptor: _AnyDescriptor) -> tuple[str, bool]:
    """Return which field protobuf complains of, such as `block.event_time`, and whether it is a time.

    Only names of the contract are told: a complaint also holds what was sent.
    """
    at, chain = _AT.search(complaint), _CHAIN.match(complaint)
    named = [at["place"].split(".")] if at else []
    named += [_LINK.findall(chain[0])] if chain else []
    for names in named:
        inner, field = descriptor, None
        for name in names:
            field = inner.fields_by_name.get(_INDEX.sub("", name)) if inner is not None else None
            if field is None:
                break
            inner = field.message_type
        if field is not None:
            return ".".join(names), inner is not None and inner.full_name == _TIMESTAMP
    return "body", False


def _unique(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    known: dict[str, Any] = {}
    for name, value in pairs:
        if name in known:
            raise Fault(Reason.FIELD_INVALID, f"{name[:80]!r} is given twice: send it once", field=name[:80])
        known[name] = value
    return known


def _no_number(name: str) -> NoReturn:
    raise Fault(Reason.FIELD_INVALID, f"{name} is no number in JSON: send a finite number", field="body")


def _refuse_shapes(parsed: Mapping[str, Any], descriptor: _AnyDescriptor) -> None:
    """Refuse a word where an object or a list is due: protobuf's parser would take its letters for fields."""
    for name, value in parsed.items():
        field = descriptor.fields_by_name.get(name)
        if field is None or value is None:
            continue
        inner = field.message_type
        is_map = inner is not None and inner.GetOptions().map_entry
        if field.is_repeated and not is_map and not isinstance(value, list):
            raise Fault(Reason.FIELD_INVALID, f"{name} must be a list: send [...]", field=name)
        if inner is None or inner.full_name == _TIMESTAMP:
            continue
        for one in value if isinstance(value, list) and field.is_repeated else [value]:
            if not isinstance(one, dict):
                raise Fault(Reason.FIELD_INVALID, f"{name} must hold an object: send {{...}}", field=name)
            if not is_map:
                _refuse_shapes(one, inner)


def _refuse_surrogates(value: object, field: str) -> None:
    if isinstance(value, str):
        if _SURROGATE.search(value):
            message = f"{field} holds half of a surrogate pair: send whole characters"
            raise Fault(Reason.TEXT_INVALID, message, field=field)
    elif isinstance(value, dict):
        for name, inner in value.items():
            _refuse_surrogates(name, field)
            _refuse_surrogates(inner, name)
    elif isinstance(value, list):
        for inner in value:
            _refuse_surrogates(inner, field)
