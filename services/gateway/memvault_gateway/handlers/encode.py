"""Writes answers of the model as messages of the contract."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from memvault.recall.v1 import memory_pb2, recall_pb2, types_pb2
from memvault.rpc.stamps import timestamp
from memvault_gateway.domain.model import Answer, Card, Degradation, Notes, PathStep, WriteOutcome


def answer_message(answer: Answer, *, explain: bool) -> recall_pb2.RecallResponse:
    """Return an answer; explanations only where they were asked for."""
    message = recall_pb2.RecallResponse(
        recall_id=answer.recall_id,
        query=answer.query,
        intent=answer.intent,
        intent_confidence=answer.intent_confidence,
        facet=answer.facet,
        thinking_mode=answer.thinking_mode,
        retrieval_mode=answer.retrieval_mode,
        confidence=answer.confidence,
        cards=[_card(card, explain=explain) for card in answer.cards],
        cascade_cards=[_card(card, explain=explain) for card in answer.cascade_cards],
        self_check=answer.self_check,
        degraded=degradation_messages(answer.degraded),
        packing=recall_pb2.Packing(
            token_budget=answer.packing.token_budget,
            tokens_used=answer.packing.tokens_used,
            left_out=answer.packing.left_out,
            summarised=answer.packing.summarised,
            folded=answer.packing.folded,
        ),
        text=answer.text,
        answered_from=answer.answered_from,
        write_version=answer.write_version,
        took_ms=answer.took_ms,
        grouping="" if answer.notes is None else answer.notes.understanding.grouping,
        withheld=[recall_pb2.Withheld(reason=one.reason, count=one.count, rules=one.rules) for one in answer.withheld],
    )
    if isinstance(answer.candidates, tuple):
        message.candidates.extend(answer.candidates)
    if explain and answer.notes is not None:
        message.explanation.CopyFrom(_explanation(answer.notes))
    return message


def degradation_messages(parts: Iterable[Degradation]) -> list[types_pb2.Degradation]:
    """Return the parts that were left out."""
    return [types_pb2.Degradation(part=part.part, reason=part.reason, detail=part.detail) for part in parts]


def put_text(block: types_pb2.Block, way: str, text: str) -> None:
    """Put a text of a block in its place; `way` is as in `StoredBlock.texts`: `title`, `tags.2`, `triples.0.object`."""
    *steps, last = way.split(".")
    inner: Any = block
    for step in steps:
        inner = inner[int(step)] if step.isdigit() else getattr(inner, step)
    if last.isdigit():
        inner[int(last)] = text
    else:
        setattr(inner, last, text)


def outcome_messages(outcomes: Sequence[WriteOutcome]) -> list[memory_pb2.WriteOutcome]:
    """Return what became of the blocks."""
    return [
        memory_pb2.WriteOutcome(block_id=one.block_id, status=one.status, reason=one.reason, detail=one.detail)
        for one in outcomes
    ]


def _card(card: Card, *, explain: bool) -> types_pb2.Card:
    message = types_pb2.Card(
        block_id=card.block_id,
        kind=card.kind,
        title=card.title,
        text=card.text,
        score=card.score,
        service=card.service,
        speaker=card.speaker,
        conversation_id=card.conversation_id,
        event_time=timestamp(card.event_time),
        recorded_at=timestamp(card.recorded_at),
        trust=card.trust,
        confidence=card.confidence,
        tags=card.tags,
        summarised=card.summarised,
        expand=card.expand,
        redacted=card.redacted,
        frozen=card.frozen,
        superseded_by=card.superseded_by,
        highlight=card.highlight,
        path=[_step(step) for step in card.path],
        supports=card.supports,
        tokens=card.tokens,
    )
    if card.source_kind or card.source_uri:
        message.source.CopyFrom(types_pb2.Source(kind=card.source_kind, uri=card.source_uri))
    if explain and isinstance(card.explanation, types_pb2.CardExplanation):
        message.explanation.CopyFrom(card.explanation)
    return message


def _step(step: PathStep) -> types_pb2.PathStep:
    return types_pb2.PathStep(subject=step.subject, predicate=step.predicate, object=step.object)


def _explanation(notes: Notes) -> recall_pb2.Explanation:
    understood, found = notes.understanding, notes.found
    message = recall_pb2.Explanation(
        raw_distribution=_probabilities(understood.raw_distribution),
        distribution=_probabilities(understood.distribution),
        prior=[recall_pb2.IntentFactor(intent=intent, factor=factor) for intent, factor in understood.prior],
        funnel=understood.funnel,
        keyword_matches=understood.keyword_matches,
        completed_query=understood.query,
        time_expression=understood.time_expression,
        time_filtered=found.time_filtered,
        parts=found.parts,
        layers=understood.layers,
        scoring_profile=found.scoring_profile or understood.scoring_profile,
        profile=found.profile,
        skipped=[recall_pb2.Skip(step=skip.step, reason=skip.reason) for skip in notes.skipped],
        times=[recall_pb2.HopTime(hop=time.hop, took_ms=time.took_ms) for time in notes.times],
        candidates_found=found.candidates_found,
        reranked=found.reranked,
        relevance=found.relevance,
        entities=notes.entities,
        self_check_steps=notes.self_check_steps,
        notes=notes.sentences,
    )
    span = understood.time_range
    if span is not None:
        message.time_range.CopyFrom(types_pb2.TimeRange(start=timestamp(span.start), end=timestamp(span.end)))
    return message


def _probabilities(distribution: Iterable[tuple[str, float]]) -> list[recall_pb2.IntentProbability]:
    return [recall_pb2.IntentProbability(intent=intent, probability=share) for intent, share in distribution]
