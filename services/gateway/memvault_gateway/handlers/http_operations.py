"""Every operation of the HTTP face: one table, also read by the OpenAPI description."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from google.protobuf.message import Message

from memvault.recall.v1 import admin_pb2, memory_pb2, recall_pb2
from memvault_gateway.handlers.admin import AdminHandlers
from memvault_gateway.handlers.memory import MemoryHandlers
from memvault_gateway.handlers.recall import RecallHandlers

Serve = Callable[[Any, Any], Awaitable[Message]]


@dataclass(frozen=True)
class Operation:
    """One operation: what it reads, what serves it, what it writes, and a line for the OpenAPI description."""

    method: str
    path: str
    request: type[Message]
    response: type[Message]
    serve: Serve
    summary: str


def operations_of(recall: RecallHandlers, memory: MemoryHandlers, admin: AdminHandlers) -> Sequence[Operation]:
    """Return the table over these handlers."""
    m, a, r = memory_pb2, admin_pb2, recall_pb2
    return (
        Operation("POST", "/v1/recall", r.RecallRequest, r.RecallResponse, recall.Recall, "Answer a question."),
        Operation("POST", "/v1/blocks", m.WriteBlockRequest, m.WriteBlockResponse, memory.WriteBlock, "Write a block."),
        Operation(
            "POST", "/v1/blocks:batch", m.WriteBlocksRequest, m.WriteBlocksResponse, memory.WriteBlocks, "Write blocks."
        ),
        Operation(
            "GET",
            "/v1/blocks/{block_id}",
            m.GetBlockRequest,
            m.GetBlockResponse,
            memory.GetBlock,
            "Read a block whole.",
        ),
        Operation("POST", "/v1/forget", m.ForgetRequest, m.ForgetResponse, memory.Forget, "Remove blocks or a user."),
        Operation(
            "POST",
            "/v1/feedback",
            m.RecordFeedbackRequest,
            m.RecordFeedbackResponse,
            memory.RecordFeedback,
            "Judge a block.",
        ),
        Operation(
            "POST",
            "/v1/utterances",
            m.AppendUtteranceRequest,
            m.AppendUtteranceResponse,
            memory.AppendUtterance,
            "Append what was said.",
        ),
        Operation(
            "GET", "/v1/status", a.GetStatusRequest, a.GetStatusResponse, admin.GetStatus, "State of every part."
        ),
        Operation(
            "GET", "/v1/prefetch", a.GetPrefetchRequest, a.GetPrefetchResponse, admin.GetPrefetch, "Prefetch figures."
        ),
        Operation("GET", "/v1/profile", a.GetProfileRequest, a.GetProfileResponse, admin.GetProfile, "Read a profile."),
        Operation(
            "POST",
            "/v1/profile",
            a.RestoreProfileRequest,
            a.RestoreProfileResponse,
            admin.RestoreProfile,
            "Give a profile back.",
        ),
        Operation(
            "DELETE",
            "/v1/profile",
            a.EraseProfileRequest,
            a.EraseProfileResponse,
            admin.EraseProfile,
            "Erase a profile.",
        ),
        Operation(
            "GET",
            "/v1/dead-letters",
            a.ListDeadLettersRequest,
            a.ListDeadLettersResponse,
            admin.ListDeadLetters,
            "List what could not be handled.",
        ),
        Operation(
            "POST",
            "/v1/dead-letters:replay",
            a.ReplayDeadLetterRequest,
            a.ReplayDeadLetterResponse,
            admin.ReplayDeadLetter,
            "Publish a dead letter again.",
        ),
        Operation("GET", "/v1/audit", a.ListAuditRequest, a.ListAuditResponse, admin.ListAudit, "List screening hits."),
        Operation(
            "POST",
            "/v1/dream",
            a.RequestDreamRequest,
            a.RequestDreamResponse,
            admin.RequestDream,
            "Start the nightly loop.",
        ),
        Operation(
            "POST",
            "/v1/reindex",
            a.ReindexRequest,
            a.ReindexResponse,
            admin.Reindex,
            "Make the index anew with what the settings ask for, or tell how that stands.",
        ),
    )
