"""The HTTP face: proto JSON in, proto JSON out, RFC 9457 problem details for whatever goes wrong."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from memvault.faults import Fault, Reason
from memvault.recall.v1 import admin_pb2, memory_pb2, recall_pb2, types_pb2
from memvault.rpc.errors import problem_details
from memvault.rpc.hop import handling
from memvault.rpc.local import LocalContext
from memvault.runtime import telemetry
from memvault_gateway.handlers.admin import AdminHandlers
from memvault_gateway.handlers.http_body import read_body, read_query, read_segment
from memvault_gateway.handlers.http_host import LOCAL, LocalNamesOnly, is_loopback, names_of
from memvault_gateway.handlers.http_operations import Operation, operations_of
from memvault_gateway.handlers.memory import MemoryHandlers
from memvault_gateway.handlers.openapi import describe
from memvault_gateway.handlers.recall import RecallHandlers
from memvault_gateway.settings import Settings

_SERVICE = "gateway"
_SYSTEM = "http"
_JSON = "application/json"
_BLOCKS = "/v1/blocks/"
_TOO_SLOW = 408
_PARTS: Final = ("cards", "cascade_cards")


def build_http(
    recall: RecallHandlers, memory: MemoryHandlers, admin: AdminHandlers, settings: Settings, address: str
) -> Starlette:
    """Return the ASGI application over the same handlers that serve gRPC; `address` is the `host:port` it listens on.

    On a loopback address only requests that name this machine are answered.
    """
    operations = operations_of(recall, memory, admin)
    described = describe(operations)
    reader = _Reader(settings.body_bytes, settings.deadline.read_ms / 1000)

    async def openapi(_: Request) -> Response:
        return JSONResponse(described)

    async def alive(_: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def ready(_: Request) -> Response:
        return await _answered(_readiness(admin))

    async def export(request: Request) -> Response:
        return await _answered(_export(request, memory))

    routes = [Route(_routed(one), _endpoint(one, reader), methods=[one.method]) for one in operations]
    routes += [
        Route("/v1/export", export),
        Route("/openapi.json", openapi),
        Route("/healthz", alive),
        Route("/readyz", ready),
    ]
    guards = [Middleware(LocalNamesOnly, names_of(address), _problem)] if is_loopback(address) else []
    return Starlette(routes=routes, middleware=guards, exception_handlers={HTTPException: _unrouted, Fault: _faulted})


@dataclass(frozen=True)
class _Reader:
    """Reads bodies of bounded size in bounded time."""

    most_bytes: int
    limit_s: float

    async def body(self, request: Request) -> bytes:
        kind = request.headers.get("content-type", _JSON).partition(";")[0].strip().lower()
        if kind != _JSON:
            message = f"content-type is {kind[:80]!r}: send {_JSON}"
            raise Fault(Reason.FIELD_INVALID, message, field="content-type")
        announced = request.headers.get("content-length", "0")
        if announced.isdigit() and int(announced) > self.most_bytes:
            raise self._too_large()
        parts: list[bytes] = []
        size = 0
        async for part in request.stream():
            size += len(part)
            if size > self.most_bytes:
                raise self._too_large()
            parts.append(part)
        return b"".join(parts)

    def _too_large(self) -> Fault:
        message = f"the body is larger than {self.most_bytes} bytes: send it in parts"
        return Fault(Reason.PAYLOAD_TOO_LARGE, message, limit=str(self.most_bytes))


def _routed(operation: Operation) -> str:
    return operation.path.replace("{block_id}", "{block_id:path}")


def _endpoint(operation: Operation, reader: _Reader) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        return await _answered(_served(operation, request, reader))

    return endpoint


async def _served(operation: Operation, request: Request, reader: _Reader) -> Response:
    _refuse_foreign_page(request)
    if operation.method == "POST":
        try:
            async with asyncio.timeout(reader.limit_s):
                body = await reader.body(request)
        except TimeoutError:
            late = Fault(
                Reason.DEADLINE_EXCEEDED, f"the body did not arrive within {reader.limit_s:g} s: send it again"
            )
            return _problem(late, status=_TOO_SLOW)
        message = read_body(body, operation.request)
    else:
        message = read_query(request.scope["query_string"], operation.request, _path_fields(request, operation))
    name = f"{operation.method} {operation.path}"
    with telemetry.extract(request.headers), handling(name, _SERVICE, _SYSTEM):
        answer = await operation.serve(message, LocalContext())
    return Response(_json(answer), media_type=_JSON)


def _path_fields(request: Request, operation: Operation) -> Mapping[str, str]:
    if "{block_id}" not in operation.path:
        return {}
    raw: bytes = request.scope.get("raw_path") or request.scope["path"].encode("utf-8", "surrogateescape")
    return {"block_id": read_segment(raw.partition(b"?")[0].removeprefix(_BLOCKS.encode()), "block_id")}


def _refuse_foreign_page(request: Request) -> None:
    """A web page that a browser shows must not reach the memory on the same machine."""
    origin = request.headers.get("origin")
    if origin and urlsplit(origin).hostname not in LOCAL:
        message = "requests from other web pages are refused: call memvault from a program, or from a local page"
        raise Fault(Reason.PERMISSION_DENIED, message, field="origin")


async def _export(request: Request, memory: MemoryHandlers) -> Response:
    _refuse_foreign_page(request)
    wanted = read_query(request.scope["query_string"], memory_pb2.ExportBlocksRequest)
    blocks: AsyncIterator[Any] = memory.ExportBlocks(wanted, LocalContext())  # type: ignore[arg-type]
    # the first block is fetched before the answer begins: until then a failure can be told as a problem
    first = await anext(blocks, None)

    async def exported() -> AsyncIterator[str]:
        if first is None:
            return
        yield _line(first.block)
        async for part in blocks:
            yield _line(part.block)

    return StreamingResponse(exported(), media_type="application/x-ndjson")


async def _readiness(admin: AdminHandlers) -> Response:
    status = await admin.GetStatus(admin_pb2.GetStatusRequest(), LocalContext())  # type: ignore[arg-type]
    parts = {part.part: part.state for part in status.parts}
    if parts.get("search") != "ready":
        message = f"search is {parts.get('search', 'unknown')}: wait, or see /v1/status"
        raise Fault(Reason.SERVICE_UNAVAILABLE, message, **parts)
    return JSONResponse({"status": "ready", "parts": parts})


async def _answered(work: Awaitable[Response]) -> Response:
    try:
        return await work
    except Fault as fault:
        return _problem(fault)
    except ClientDisconnect:
        return _problem(Fault(Reason.CANCELLED, "the caller went away before the body was complete"))


def _problem(fault: Fault, status: int | None = None) -> Response:
    body = problem_details(fault)
    if status is not None:
        body["status"] = status
    code = body["status"]
    return Response(
        json.dumps(body, ensure_ascii=False).encode("utf-8", "replace"),
        status_code=code if isinstance(code, int) else 500,
        media_type="application/problem+json",
    )


async def _faulted(_: Request, error: Exception) -> Response:
    if not isinstance(error, Fault):
        raise error
    return _problem(error)


async def _unrouted(request: Request, error: Exception) -> Response:
    if not isinstance(error, HTTPException):
        raise error
    if error.status_code == 405:  # noqa: PLR2004 - the name of the status is its number
        message = f"{request.method} is not served here: see /openapi.json"
        return _with_headers(_problem(Fault(Reason.UNIMPLEMENTED, message), status=405), error.headers)
    message = "there is nothing at this path: see /openapi.json"
    return _problem(Fault(Reason.NOT_FOUND, message), status=error.status_code)


def _with_headers(response: Response, headers: Mapping[str, str] | None) -> Response:
    for name, value in (headers or {}).items():
        response.headers[name] = value
    return response


def _json(message: Message) -> bytes:
    """Write an answer; it is used up by that."""
    cards: dict[str, Any] = {}
    if isinstance(message, recall_pb2.RecallResponse):
        for part in _PARTS:
            # the token budget pays for the cards: they are sent as they were counted, without empty fields
            cards[part] = [_card(card) for card in getattr(message, part)]
            message.ClearField(part)
    return json.dumps(_whole(message) | cards, ensure_ascii=False, separators=(",", ":")).encode()


def _card(card: types_pb2.Card) -> dict[str, Any]:
    explained = {"explanation": _whole(card.explanation)} if card.HasField("explanation") else {}
    card.ClearField("explanation")
    said: dict[str, Any] = MessageToDict(card, preserving_proto_field_name=True)
    return said | explained


def _whole(message: Message) -> dict[str, Any]:
    said: dict[str, Any] = MessageToDict(
        message, preserving_proto_field_name=True, always_print_fields_with_no_presence=True
    )
    return said


def _line(message: Message) -> str:
    said = MessageToDict(message, preserving_proto_field_name=True)
    return json.dumps(said, ensure_ascii=False, separators=(",", ":")) + "\n"
