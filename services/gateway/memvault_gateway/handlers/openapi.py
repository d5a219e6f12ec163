"""The OpenAPI description of the HTTP face, made from the contract's own descriptors."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import version
from typing import Any, Protocol

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

_Kind = FieldDescriptor
_AnyDescriptor = Any  # the C implementation's descriptors and the documented ones share no type
_SCALARS: dict[int, dict[str, Any]] = {
    _Kind.TYPE_STRING: {"type": "string"},
    _Kind.TYPE_BYTES: {"type": "string", "contentEncoding": "base64"},
    _Kind.TYPE_BOOL: {"type": "boolean"},
    _Kind.TYPE_DOUBLE: {"type": "number"},
    _Kind.TYPE_FLOAT: {"type": "number"},
    _Kind.TYPE_INT32: {"type": "integer", "format": "int32"},
    _Kind.TYPE_UINT32: {"type": "integer", "format": "int32", "minimum": 0},
    _Kind.TYPE_INT64: {"type": "string", "format": "int64"},
}
_TIMESTAMP = "google.protobuf.Timestamp"
_PROBLEM: dict[str, Any] = {
    "type": "object",
    "description": "RFC 9457. `reason` is a word of the contract's ErrorReason; `detail` says what to do.",
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "reason": {"type": "string"},
        "metadata": {"type": "object", "additionalProperties": {"type": "string"}},
    },
    "required": ["type", "title", "status", "detail", "reason"],
}


class Described(Protocol):
    """What is said about one operation."""

    @property
    def method(self) -> str:
        """HTTP method."""
        ...

    @property
    def path(self) -> str:
        """Path, parameters in braces."""
        ...

    @property
    def summary(self) -> str:
        """One line for people."""
        ...

    @property
    def request(self) -> type[Message]:
        """Message that is read."""
        ...

    @property
    def response(self) -> type[Message]:
        """Message that is written."""
        ...


def describe(operations: Iterable[Described]) -> dict[str, Any]:
    """Return the OpenAPI 3.1 document of the operations."""
    schemas: dict[str, Any] = {"Problem": _PROBLEM}
    paths: dict[str, Any] = {}
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(operation, schemas)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "memvault",
            "version": version("memvault"),
            "description": "Memories in, recalls out. Bodies are the proto JSON of memvault.recall.v1.",
        },
        "paths": paths,
        "components": {"schemas": schemas},
    }


def _operation(operation: Described, schemas: dict[str, Any]) -> dict[str, Any]:
    answer = {"application/json": {"schema": _reference(operation.response.DESCRIPTOR, schemas)}}
    problem = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    described: dict[str, Any] = {
        "summary": operation.summary,
        "responses": {
            "200": {"description": "Done.", "content": answer},
            "default": {"description": "A problem.", "content": problem},
        },
    }
    if operation.method == "POST":
        body = _reference(operation.request.DESCRIPTOR, schemas)
        described["requestBody"] = {"required": True, "content": {"application/json": {"schema": body}}}
    else:
        described["parameters"] = [
            {
                "name": field.name,
                "in": "path" if f"{{{field.name}}}" in operation.path else "query",
                "required": f"{{{field.name}}}" in operation.path,
                "schema": _field(field, schemas),
            }
            for field in operation.request.DESCRIPTOR.fields
        ]
    return described


def _reference(descriptor: _AnyDescriptor, schemas: dict[str, Any]) -> dict[str, Any]:
    if descriptor.name not in schemas:
        schemas[descriptor.name] = {}  # a place is taken first: messages may hold themselves
        schemas[descriptor.name] = {
            "type": "object",
            "additionalProperties": False,
            "properties": {field.name: _field(field, schemas) for field in descriptor.fields},
        }
    return {"$ref": f"#/components/schemas/{descriptor.name}"}


def _field(field: _AnyDescriptor, schemas: dict[str, Any]) -> dict[str, Any]:
    if field.message_type is not None and field.message_type.GetOptions().map_entry:
        return {"type": "object", "additionalProperties": _single(field.message_type.fields_by_name["value"], schemas)}
    single = _single(field, schemas)
    return {"type": "array", "items": single} if field.is_repeated else single


def _single(field: _AnyDescriptor, schemas: dict[str, Any]) -> dict[str, Any]:
    if field.message_type is None:
        return dict(_SCALARS[field.type])
    if field.message_type.full_name == _TIMESTAMP:
        return {"type": "string", "format": "date-time"}
    return _reference(field.message_type, schemas)
