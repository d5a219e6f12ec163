"""The OpenAPI description of the HTTP face, made from the contract's own descriptors."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import version
from typing import Any, Protocol

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

_TIMESTAMP = "google.protobuf.Timestamp"
_NUMBERS = {FieldDescriptor.CPPTYPE_DOUBLE, FieldDescriptor.CPPTYPE_FLOAT}
_PROBLEM = {"$ref": "#/components/schemas/Problem"}


class Described(Protocol):
    """What is needed of an operation to describe it."""

    @property
    def method(self) -> str:
        """HTTP method."""
        ...

    @property
    def path(self) -> str:
        """Path with its parameters."""
        ...

    @property
    def request(self) -> type[Message]:
        """Request message."""
        ...

    @property
    def summary(self) -> str:
        """What it does."""
        ...

    @property
    def has_body(self) -> bool:
        """Whether the request is a JSON body."""
        ...


def document(operations: Iterable[Described]) -> dict[str, Any]:
    """Return the whole description."""
    schemas: dict[str, Any] = {
        "Problem": {
            "type": "object",
            "description": "RFC 9457 problem details; `reason` is a word of the contract's ErrorReason.",
            "properties": {name: {"type": "string"} for name in ("type", "title", "detail", "reason")}
            | {"status": {"type": "integer"}},
        }
    }
    paths: dict[str, Any] = {}
    for one in operations:
        path = one.path.replace(":path}", "}")
        paths.setdefault(path, {})[one.method.lower()] = _operation(one, path, schemas)
    return {
        "openapi": "3.1.0",
        "info": {"title": "memvault", "version": version("memvault"), "license": {"name": "Apache-2.0"}},
        "paths": paths,
        "components": {"schemas": schemas},
    }


def _operation(one: Described, path: str, schemas: dict[str, Any]) -> dict[str, Any]:
    described: dict[str, Any] = {
        "summary": one.summary,
        "responses": {
            "200": {
                "description": "Proto JSON of the answer, as in the contract.",
                "content": {"application/json": {}},
            },
            "default": {"description": "Refused", "content": {"application/problem+json": {"schema": _PROBLEM}}},
        },
    }
    descriptor = one.request.DESCRIPTOR
    if one.has_body:
        body = {"application/json": {"schema": _schema(descriptor, schemas)}}
        described["requestBody"] = {"required": True, "content": body}
    else:
        described["parameters"] = [
            {
                "name": field.name,
                "in": "path" if f"{{{field.name}}}" in path else "query",
                "required": f"{{{field.name}}}" in path,
                "schema": _field(field, schemas),
            }
            for field in descriptor.fields
        ]
    return described


def _schema(descriptor: Any, schemas: dict[str, Any]) -> dict[str, Any]:
    name = descriptor.full_name.removeprefix("memvault.")
    if name not in schemas:
        schemas[name] = {}  # a message may hold itself
        schemas[name] = {
            "type": "object",
            "additionalProperties": False,
            "properties": {field.name: _field(field, schemas) for field in descriptor.fields},
        }
    return {"$ref": f"#/components/schemas/{name}"}


def _field(field: Any, schemas: dict[str, Any]) -> dict[str, Any]:
    one = _single(field, schemas)
    return {"type": "array", "items": one} if field.is_repeated else one


def _single(field: Any, schemas: dict[str, Any]) -> dict[str, Any]:
    if field.message_type is not None:
        if field.message_type.full_name == _TIMESTAMP:
            return {"type": "string", "format": "date-time"}
        return _schema(field.message_type, schemas)
    if field.cpp_type in _NUMBERS:
        return {"type": "number"}
    if field.cpp_type == FieldDescriptor.CPPTYPE_BOOL:
        return {"type": "boolean"}
    return {"type": "string"} if field.cpp_type == FieldDescriptor.CPPTYPE_STRING else {"type": "integer"}
