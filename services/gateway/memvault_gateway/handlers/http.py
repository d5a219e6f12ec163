"""The HTTP face: proto JSON in and out over the servicers that gRPC serves; errors are RFC 9457 problem details."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from google.protobuf.json_format import MessageToDict, MessageToJson, ParseDict, ParseError
from google.protobuf.message import Message
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from memvault.faults import Fault, Reason
from memvault.recall.v1 import admin_pb2, memory_pb2, recall_pb2
from memvault.recall.v1.admin_pb2_grpc import AdminServiceStub, add_AdminServiceServicer_to_server
from memvault.recall.v1.memory_pb2_grpc import MemoryServiceStub, add_MemoryServiceServicer_to_server
from memvault.recall.v1.recall_pb2_grpc import RecallServiceStub, add_RecallServiceServicer_to_server
from memvault.rpc.client import call, stream
from memvault.rpc.errors import TABLE, problem_details
from memvault.rpc.local import LocalChannel
from memvault.runtime import telemetry
from memvault_gateway.handlers.admin import AdminHandlers
from memvault_gateway.handlers.memory import MemoryHandlers
from memvault_gateway.handlers.openapi import document
from memvault_gateway.handlers.recall import RecallHandlers
from memvault_gateway.settings import Settings

_PROBLEM = "application/problem+json"
_LINES = "application/x-ndjson"
_LONGEST_S = 660.0  # above every deadline that a caller may set
Handler = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True)
class Operation:
    """One HTTP operation: which RPC it is, and what its request is made from (a body, or query and path)."""

    method: str
    path: str
    rpc: Any
    request: type[Message]
    summary: str

    @property
    def has_body(self) -> bool:
        """Whether the request arrives as a JSON body."""
        return self.method == "POST"


def build_http(recall: RecallHandlers, memory: MemoryHandlers, admin: AdminHandlers, settings: Settings) -> Starlette:
    """Return the ASGI application; it listens nowhere by itself."""
    channel = LocalChannel(
        (
            (add_RecallServiceServicer_to_server, recall),
            (add_MemoryServiceServicer_to_server, memory),
            (add_AdminServiceServicer_to_server, admin),
        ),
        "gateway",
    )
    table, memories = _operations(channel), MemoryServiceStub(channel)
    description = document(table)

    async def openapi(_: Request) -> Response:
        return JSONResponse(description)

    async def healthy(_: Request) -> Response:
        return JSONResponse({"status": "ok"})

    routes = [
        *(Route(one.path, _served(one, settings.body_bytes), methods=[one.method]) for one in table),
        Route("/v1/export", _faults_told(_exported(memories)), methods=["GET"]),
        Route("/openapi.json", openapi, methods=["GET"]),
        Route("/healthz", healthy, methods=["GET"]),
        Route("/readyz", healthy, methods=["GET"]),
    ]
    return Starlette(routes=routes, exception_handlers={HTTPException: _no_such_page})


def _operations(channel: LocalChannel) -> tuple[Operation, ...]:
    recall, memory, admin = RecallServiceStub(channel), MemoryServiceStub(channel), AdminServiceStub(channel)
    mem, adm = memory_pb2, admin_pb2
    return (
        Operation("POST", "/v1/recall", recall.Recall, recall_pb2.RecallRequest, "Ask a question"),
        Operation("POST", "/v1/blocks", memory.WriteBlock, mem.WriteBlockRequest, "Write a block"),
        Operation("POST", "/v1/blocks:batch", memory.WriteBlocks, mem.WriteBlocksRequest, "Write up to 1,000 blocks"),
        Operation("GET", "/v1/blocks/{block_id:path}", memory.GetBlock, mem.GetBlockRequest, "Read a block whole"),
        Operation("POST", "/v1/forget", memory.Forget, mem.ForgetRequest, "Forget blocks, or a user"),
        Operation("POST", "/v1/feedback", memory.RecordFeedback, mem.RecordFeedbackRequest, "Judge a block"),
        Operation("POST", "/v1/utterances", memory.AppendUtterance, mem.AppendUtteranceRequest, "Say something"),
        Operation("GET", "/v1/status", admin.GetStatus, adm.GetStatusRequest, "State of every part"),
        Operation("GET", "/v1/prefetch", admin.GetPrefetch, adm.GetPrefetchRequest, "Prepared answers and figures"),
        Operation("GET", "/v1/profile", admin.GetProfile, adm.GetProfileRequest, "The attention profile"),
        Operation("DELETE", "/v1/profile", admin.EraseProfile, adm.EraseProfileRequest, "Erase the profile"),
        Operation("GET", "/v1/dead-letters", admin.ListDeadLetters, adm.ListDeadLettersRequest, "Events given up"),
        Operation("POST", "/v1/dead-letters:replay", admin.ReplayDeadLetter, adm.ReplayDeadLetterRequest, "Try again"),
        Operation("GET", "/v1/audit", admin.ListAudit, adm.ListAuditRequest, "Hits of the screening"),
        Operation("POST", "/v1/dream", admin.RequestDream, adm.RequestDreamRequest, "Start the nightly loop now"),
    )


def _served(operation: Operation, most_bytes: int) -> Handler:
    async def serve(request: Request) -> Response:
        with telemetry.serving("gateway"), telemetry.extract(request.headers):
            values = await _body(request, most_bytes) if operation.has_body else _parameters(request, operation)
            answer = await call(operation.rpc, _message(values, operation.request), timeout_s=_LONGEST_S)
        return Response(_json(answer), media_type="application/json")

    return _faults_told(serve)


def _exported(memories: MemoryServiceStub) -> Handler:
    async def export(request: Request) -> Response:
        wanted = memory_pb2.ExportBlocksRequest(user_id=request.query_params.get("user_id", ""))
        parts: AsyncIterator[memory_pb2.ExportBlocksResponse] = stream(
            memories.ExportBlocks, wanted, timeout_s=_LONGEST_S
        )
        first = await anext(parts, None)  # a wrong user is refused before the first byte

        async def lines() -> AsyncIterator[bytes]:
            if first is not None:
                yield _line(first.block)
            async for part in parts:
                yield _line(part.block)

        return StreamingResponse(lines(), media_type=_LINES)

    return export


def _faults_told(handler: Handler) -> Handler:
    async def told(request: Request) -> Response:
        try:
            return await handler(request)
        except Fault as fault:
            return _problem(fault)
        except ClientDisconnect:
            return _problem(Fault(Reason.CANCELLED, "the caller went away"))

    return told


async def _no_such_page(request: Request, error: Exception) -> Response:
    known = isinstance(error, HTTPException) and error.status_code == 405  # noqa: PLR2004 - the code's own name
    what = f"{request.method} is not for {request.url.path}" if known else f"there is no {request.url.path}"
    response = _problem(Fault(Reason.NOT_FOUND, f"{what}: /openapi.json lists what there is"))
    if isinstance(error, HTTPException) and known:
        response.status_code = error.status_code
    return response


async def _body(request: Request, most_bytes: int) -> Mapping[str, Any]:
    collected = bytearray()
    async for chunk in request.stream():
        collected += chunk
        if len(collected) > most_bytes:
            message = f"the body is larger than {most_bytes} bytes: send fewer or smaller blocks at a time"
            raise Fault(Reason.PAYLOAD_TOO_LARGE, message, limit=str(most_bytes))
    try:
        parsed = json.loads(collected.decode("utf-8"), parse_constant=_not_finite)
    except UnicodeDecodeError as error:
        raise Fault(Reason.TEXT_INVALID, f"the body is not UTF-8 (byte {error.start}): send UTF-8") from error
    except (json.JSONDecodeError, RecursionError) as error:
        raise Fault(Reason.FIELD_INVALID, f"the body is not JSON ({error}): send a JSON object") from error
    if not isinstance(parsed, dict):
        raise Fault(Reason.FIELD_INVALID, f"the body is a JSON {type(parsed).__name__}: send a JSON object")
    return parsed


def _not_finite(word: str) -> NoReturn:
    raise Fault(Reason.FIELD_INVALID, f"{word} is no JSON number: send a finite number")


def _parameters(request: Request, operation: Operation) -> dict[str, Any]:
    known = operation.request.DESCRIPTOR.fields_by_name
    for name in request.query_params:
        if name not in known:
            raise Fault(Reason.FIELD_UNKNOWN, f"there is no parameter {name[:40]!r}: remove it", field=name[:40])
    return {**request.query_params, **request.path_params}


def _message(values: Mapping[str, Any], kind: type[Message]) -> Message:
    message = kind()
    try:
        ParseDict(dict(values), message)
    except ParseError as error:
        raise _misfit(str(error)) from error
    except (UnicodeError, RecursionError, ValueError, TypeError, OverflowError) as error:
        raise Fault(
            Reason.TEXT_INVALID, f"a text is not valid Unicode or a value does not fit: {_short(error)}"
        ) from error
    return message


def _misfit(told: str) -> Fault:
    if "has no field named" in told:
        reason = Reason.FILTER_UNKNOWN if "v1.Filters" in told else Reason.FIELD_UNKNOWN
        return Fault(reason, f"{_short(told)}: remove it, or see /openapi.json")
    reason = Reason.TEXT_INVALID if "surrogate" in told or "utf-8" in told.lower() else Reason.FIELD_INVALID
    return Fault(reason, f"{_short(told)}: see /openapi.json for what fits")


def _short(told: object) -> str:
    return " ".join(str(told).split())[:300].rstrip(".").encode("utf-8", "replace").decode()


def _problem(fault: Fault) -> Response:
    return JSONResponse(problem_details(fault), status_code=TABLE[fault.reason].http, media_type=_PROBLEM)


def _json(message: Message) -> str:
    return MessageToJson(
        message,
        preserving_proto_field_name=True,
        always_print_fields_with_no_presence=True,
        ensure_ascii=False,
        indent=None,
    )


def _line(message: Message) -> bytes:
    return json.dumps(MessageToDict(message, preserving_proto_field_name=True), ensure_ascii=False).encode() + b"\n"
