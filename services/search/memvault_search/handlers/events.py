"""The facts that search listens to. Whatever can never be stored goes to the dead letters, with its reason."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC

from memvault.bus import subjects
from memvault.bus.envelope import Event, Reject
from memvault.bus.port import Bus
from memvault.events.v1 import events_pb2 as pb
from memvault.faults import Fault, Reason
from memvault_search.domain.block import QUARANTINE_TAGS
from memvault_search.domain.intake import ON_UNSAFE, OnUnsafe, checked_user
from memvault_search.domain.moment import Moment
from memvault_search.handlers.convert import block_from, instant
from memvault_search.usecases.dreaming import Dreaming
from memvault_search.usecases.forgetting import Forgetting
from memvault_search.usecases.signals import VERDICTS, Annotation, Signals
from memvault_search.usecases.writing import Write, Writing

_FOR_GOOD = frozenset(
    {
        Reason.USER_REQUIRED,
        Reason.USER_INVALID,
        Reason.TEXT_REQUIRED,
        Reason.TEXT_TOO_LONG,
        Reason.TEXT_INVALID,
        Reason.FIELD_INVALID,
        Reason.UNSAFE_CONTENT,
    }
)
"""Trying again does not help."""

_COUNTED_KINDS = frozenset({"", "delivered", "expanded"})


class EventHandlers:
    """One method for each subject; returning acknowledges the event."""

    def __init__(self, writing: Writing, forgetting: Forgetting, signals: Signals, dreaming: Dreaming) -> None:
        self._writing = writing
        self._forgetting = forgetting
        self._signals = signals
        self._dreaming = dreaming

    async def upserted(self, event: Event[pb.BlockUpserted]) -> None:
        """`memory.block.upserted`."""
        try:
            block = block_from(event.message.block)
            on_unsafe = _on_unsafe(event.message.on_unsafe)
            await self._writing.write(Write(block, on_unsafe, event.id, _moment(event), event.message.restore))
        except Fault as fault:
            _give_up_if_for_good(fault)
            raise

    async def annotated(self, event: Event[pb.BlockAnnotated]) -> None:
        """`memory.block.annotated`."""
        annotations = [_annotation(one) for one in event.message.annotations]
        await self._signals.annotated(_user(event.message.user_id), annotations, event_id=event.id)

    async def forgotten(self, event: Event[pb.BlockForgotten]) -> None:
        """`memory.block.forgotten`: also search's own, which by then finds nothing left to do."""
        message = event.message
        await self._forgetting.apply(
            _user(message.user_id), list(message.block_ids), _moment(event), whole_user=message.whole_user
        )

    async def accessed(self, event: Event[pb.BlockAccessed]) -> None:
        """`memory.block.accessed`."""
        message = event.message
        try:
            at = instant(message, "accessed_at") or event.time
        except Fault as fault:
            raise Reject(fault.message) from fault
        await self._signals.accessed(
            _user(message.user_id),
            list(message.block_ids),
            at=at,
            counts=message.kind in _COUNTED_KINDS,
            event_id=event.id,
        )

    async def judged(self, event: Event[pb.FeedbackRecorded]) -> None:
        """`memory.feedback.recorded`."""
        message = event.message
        verdict = next((one for one in VERDICTS if one == message.verdict), None)
        if verdict is None:
            raise Reject(f"verdict must be one of {', '.join(VERDICTS)}")
        await self._signals.judged(_user(message.user_id), message.block_id, verdict, event_id=event.id)

    async def dreamed(self, event: Event[pb.DreamRequested]) -> None:
        """`maintenance.dream.requested`."""
        user = event.message.user_id
        await self._dreaming.dream(event.message.run_id or event.id, _user(user) if user else "")


def subscribe(bus: Bus, current: Callable[[], EventHandlers]) -> None:
    """Register all handlers, each of those that are current when an event comes; before the bus starts."""
    bus.subscribe(subjects.SEARCH_BLOCKS, pb.BlockUpserted, lambda event: current().upserted(event))
    bus.subscribe(subjects.SEARCH_ANNOTATIONS, pb.BlockAnnotated, lambda event: current().annotated(event))
    bus.subscribe(subjects.SEARCH_FORGET, pb.BlockForgotten, lambda event: current().forgotten(event))
    bus.subscribe(subjects.SEARCH_ACCESSES, pb.BlockAccessed, lambda event: current().accessed(event))
    bus.subscribe(subjects.SEARCH_FEEDBACK, pb.FeedbackRecorded, lambda event: current().judged(event))
    bus.subscribe(subjects.SEARCH_DREAM, pb.DreamRequested, lambda event: current().dreamed(event))


def _user(user_id: str) -> str:
    try:
        return checked_user(user_id)
    except Fault as fault:
        raise Reject(fault.message) from fault


def _moment(event: Event[pb.BlockUpserted] | Event[pb.BlockForgotten]) -> Moment:
    return Moment(event.sequence or 0, event.time.astimezone(UTC))


def _on_unsafe(word: str) -> OnUnsafe:
    chosen = next((one for one in ON_UNSAFE if one == (word or "refuse")), None)
    if chosen is None:
        raise Fault(Reason.FIELD_INVALID, f"on_unsafe must be one of {', '.join(ON_UNSAFE)}", field="on_unsafe")
    return chosen


def _give_up_if_for_good(fault: Fault) -> None:
    if fault.reason in _FOR_GOOD:
        raise Reject(f"{fault.reason}: {fault.message}") from fault


def _annotation(message: pb.BlockAnnotation) -> Annotation:
    given = {field.name for field, _ in message.ListFields()}
    return Annotation(
        block_id=message.block_id,
        centrality=min(1.0, max(0.0, message.centrality)) if "centrality" in given else None,
        quarantine_set=frozenset(message.quarantine_set) & QUARANTINE_TAGS,
        quarantine_unset=frozenset(message.quarantine_unset),
        superseded_by=message.superseded_by if "superseded_by" in given else None,
        summary=message.summary if "summary" in given else None,
        screened_version=message.screened_version if "screened_version" in given else None,
    )
