"""Reads requests of the contract into checked values; whatever is wrong becomes a `Fault` that says what to do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime

from google.protobuf.message import Message
from google.protobuf.unknown_fields import UnknownFieldSet

from memvault.faults import Fault, Reason
from memvault.recall.v1 import memory_pb2, recall_pb2, types_pb2
from memvault_gateway.domain import edge, words
from memvault_gateway.domain.model import Ask, Evaluation, Filters, TimeRange, Utterance
from memvault_gateway.settings import Settings
from memvault_gateway.usecases.write import NewBlock, WriteOptions

_UTTERANCES_READ = 8
_MOST_BLOCKS = 1000
_QUARANTINE = ("spam", "boilerplate", "low_signal", "test_data", "garbled", "system_echo", "rejected")


def refuse_unknown(message: Message) -> None:
    """Refuse fields that the contract does not know, at any depth. Fault: FIELD_UNKNOWN."""
    if len(UnknownFieldSet(message)):
        name = message.DESCRIPTOR.name
        detail = f"{name} holds a field that this version does not know: remove it, or update memvault"
        raise Fault(Reason.FIELD_UNKNOWN, detail, field=name)
    for child in _children(message):
        refuse_unknown(child)


def read_ask(request: recall_pb2.RecallRequest, settings: Settings, recall_id: str) -> Ask:
    """Return the checked question."""
    refuse_unknown(request)
    context = request.context
    evaluation = _evaluation(context.evaluation)
    return Ask(
        recall_id=recall_id,
        user_id=edge.check_user(context.user_id),
        query=edge.check_query(request.query),
        conversation_id=edge.check_short(context.conversation_id, "context.conversation_id"),
        utterances=tuple(read_utterance(said) for said in context.recent_utterances[-_UTTERANCES_READ:]),
        caller=edge.check_word(context.caller, words.CALLERS, "context.caller", "api"),
        format=edge.check_word(context.format, words.FORMATS, "context.format", "json"),
        origin=_origin(edge.check_word(context.origin, words.ORIGINS, "context.origin", "user"), evaluation),
        token_budget=_optional(context, "token_budget", settings.token_budget, 1, 1_000_000),
        limit=_optional(context, "limit", settings.limit, 1, 100),
        filters=read_filters(context.filters),
        as_of=read_instant(context, "as_of"),
        time_zone=edge.check_zone(context.time_zone) or settings.time_zone,
        explain=context.explain,
        deadline_ms=_optional(context, "deadline_ms", 0, 1, 600_000) or None,
        evaluation=evaluation,
    )


def read_utterance(said: types_pb2.Utterance) -> Utterance:
    """Return something said."""
    text = edge.check_text(said.text, "utterance.text")
    speaker = edge.check_short(said.speaker, "utterance.speaker") or "user"
    return Utterance(speaker, text, read_instant(said, "event_time"))


def read_filters(filters: types_pb2.Filters) -> Filters:
    """Return checked filters."""
    span = None
    if filters.HasField("time_range"):
        span = TimeRange(read_instant(filters.time_range, "start"), read_instant(filters.time_range, "end"))
        if span.start and span.end and span.end <= span.start:
            message = "filters.time_range ends before it begins: swap start and end"
            raise Fault(Reason.FIELD_INVALID, message, field="filters.time_range")
    return Filters(
        services=_labels(filters.services, "filters.services"),
        tags=_labels(filters.tags, "filters.tags"),
        time_range=span,
        source_kinds=tuple(
            edge.check_word(kind, words.SOURCE_KINDS, "filters.source_kinds") for kind in filters.source_kinds
        ),
        conversation_ids=_labels(filters.conversation_ids, "filters.conversation_ids"),
    )


def read_instant(message: Message, field: str) -> datetime | None:
    """Return a timestamp field as UTC, None where it is absent. Fault: FIELD_INVALID outside the years 1 to 9999."""
    if not message.HasField(field):
        return None
    try:
        at: datetime = getattr(message, field).ToDatetime(UTC)
    except (ValueError, OverflowError) as error:
        detail = f"{field} is no valid instant: send RFC 3339, such as 2026-03-01T08:00:00Z"
        raise Fault(Reason.FIELD_INVALID, detail, field=field) from error
    return at


def read_write_options(options: memory_pb2.WriteOptions, settings: Settings) -> WriteOptions:
    """Return how a write behaves."""
    return WriteOptions(
        wait=edge.check_word(options.wait, words.WAITS, "options.wait", "accepted"),
        on_unsafe=edge.check_word(options.on_unsafe, words.ON_UNSAFE, "options.on_unsafe", "refuse"),
        wait_s=_optional(options, "wait_ms", settings.wait_ms, 1, 600_000) / 1000,
        restore=options.restore,
    )


def read_blocks(request: memory_pb2.WriteBlocksRequest) -> list[NewBlock | Fault]:
    """Return the blocks of a bulk write; a bad one becomes its own `Fault` and refuses none of the others."""
    refuse_unknown(request)
    user_id = edge.check_user(request.user_id)
    if not 1 <= len(request.blocks) <= _MOST_BLOCKS:
        message = f"blocks has {len(request.blocks)} entries: send 1 to {_MOST_BLOCKS} at a time"
        raise Fault(Reason.FIELD_INVALID, message, field="blocks")
    return [_block_or_fault(block, user_id) for block in request.blocks]


def read_block(block: types_pb2.Block, user_id: str = "") -> NewBlock:
    """Return one checked block. `user_id`: of the request, where the block may leave its own empty."""
    kept = types_pb2.Block()
    kept.CopyFrom(block)
    if user_id and block.user_id not in {"", user_id}:
        message = f"the block names user {block.user_id[:40]!r}, the request another: send one user at a time"
        raise Fault(Reason.USER_INVALID, message, field="block.user_id")
    kept.user_id = edge.check_user(block.user_id or user_id)
    edge.check_new_block_id(block.id)
    texts = (edge.check_text(block.text, "block.text"), *_other_texts(block))
    kept.service = edge.check_short(block.service, "block.service") or "default"
    kept.source.kind = edge.check_word(block.source.kind, words.SOURCE_KINDS, "block.source.kind", "hand_written")
    for name in ("trust", "confidence", "centrality"):
        if block.HasField(name):
            edge.check_share(getattr(block, name), f"block.{name}")
    for name in ("ups", "downs", "access_count", "version"):
        edge.check_count(getattr(block, name), 0, 2**31 - 1, f"block.{name}")
    if block.HasField("position"):
        edge.check_count(block.position, 0, 2**31 - 1, "block.position")
    for tag in block.quarantine:
        edge.check_word(tag, _QUARANTINE, "block.quarantine")
    for name in ("event_time", "recorded_at", "last_accessed_at", "valid_from", "valid_to"):
        read_instant(block, name)
    return NewBlock(block.id, tuple(text for text in texts if text), kept)


def _block_or_fault(block: types_pb2.Block, user_id: str) -> NewBlock | Fault:
    try:
        return read_block(block, user_id)
    except Fault as fault:
        return Fault(fault.reason, fault.message, **{**fault.metadata, "block_id": block.id[:200]})


def _other_texts(block: types_pb2.Block) -> Iterator[str]:
    yield edge.check_unicode(block.summary, "block.summary")
    for name in ("title", "speaker", "conversation_id", "session_id"):
        yield edge.check_short(getattr(block, name), f"block.{name}")
    yield edge.check_short(block.source.uri, "block.source.uri")
    for heading in block.heading_path:
        yield edge.check_short(heading, "block.heading_path")
    for tag in block.tags:
        yield edge.check_short(tag, "block.tags")
    for fact in block.triples:
        for end in (fact.subject, fact.predicate, fact.object):
            if not end.strip():
                message = "a triple needs subject, predicate and object: fill all three"
                raise Fault(Reason.FIELD_INVALID, message, field="block.triples")
            yield edge.check_short(end, "block.triples")


def _evaluation(wanted: recall_pb2.Evaluation) -> Evaluation:
    return Evaluation(
        now=read_instant(wanted, "now"),
        profile=edge.check_word(wanted.profile, words.PROFILES, "evaluation.profile"),
        intent=edge.check_word(wanted.intent, words.INTENTS, "evaluation.intent"),
        thinking_mode=edge.check_word(wanted.thinking_mode, words.THINKING_MODES, "evaluation.thinking_mode"),
        facet=edge.check_word(wanted.facet, words.FACETS, "evaluation.facet"),
        off=tuple(edge.check_switch(name) for name in wanted.off),
        include_candidates=wanted.include_candidates,
    )


def _origin(named: str, evaluation: Evaluation) -> str:
    """Return who is taken to ask: whoever forces or switches off a part tries something out, and is no user (R-06)."""
    forced = replace(evaluation, include_candidates=False) != Evaluation()
    return "eval" if named == "user" and forced else named


def _labels(values: Iterable[str], field: str) -> tuple[str, ...]:
    return tuple(edge.check_short(value, field) for value in values)


def _optional(message: Message, field: str, default: int, least: int, most: int) -> int:
    return edge.check_count(getattr(message, field), least, most, field) if message.HasField(field) else default


def _children(message: Message) -> Iterator[Message]:
    for descriptor, value in message.ListFields():
        if descriptor.message_type is None or descriptor.message_type.GetOptions().map_entry:
            continue
        if isinstance(value, Message):
            yield value
        else:
            yield from value
