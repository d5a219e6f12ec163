"""Looks into the other parts for operators and the owner of a vault."""

from __future__ import annotations

from collections import Counter
from datetime import UTC
from typing import TYPE_CHECKING

from google.protobuf.json_format import Parse, ParseError

from memvault.bus import subjects
from memvault.bus.port import Bus, DeadLetter
from memvault.events.v1 import events_pb2
from memvault.faults import Fault, Reason
from memvault.recall.v1 import admin_pb2 as pb
from memvault.router.v1 import router_pb2
from memvault.rpc.client import call
from memvault.rpc.stamps import timestamp
from memvault.screening import is_unsafe_for_injection
from memvault.search.v1 import search_pb2
from memvault.slow_thinker.v1 import slow_thinker_pb2
from memvault_gateway.domain.model import Carried

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memvault.router.v1.router_pb2_grpc import RouterServiceAsyncStub
    from memvault.search.v1.search_pb2_grpc import SearchServiceAsyncStub
    from memvault.slow_thinker.v1.slow_thinker_pb2_grpc import SlowThinkerServiceAsyncStub

_ALL = "all"
_MOST = 1000
_AUDIT_READ = 10_000


class PeerOperations:
    """See `ports.Operations`."""

    def __init__(
        self,
        router: RouterServiceAsyncStub,
        search: SearchServiceAsyncStub,
        slow_thinker: SlowThinkerServiceAsyncStub,
        bus: Bus | None,
    ) -> None:
        self._router = router
        self._search = search
        self._slow_thinker = slow_thinker
        self._known_bus = bus

    async def prefetch(self, user_id: str, *, timeout_s: float) -> pb.GetPrefetchResponse:
        """See `ports.Operations`."""
        request = slow_thinker_pb2.GetFiguresRequest(user_id=user_id)
        found = await call(self._slow_thinker.GetFigures, request, timeout_s=timeout_s)
        return pb.GetPrefetchResponse(
            counts=found.counts,
            saved_ms=found.saved_ms,
            prepared=[
                pb.PreparedAnswer(
                    query=one.query, confidence=one.confidence, expires_at=one.expires_at, cards=one.cards
                )
                for one in found.prepared
            ],
        )

    async def profile(self, user_id: str, *, whole: bool, timeout_s: float) -> pb.GetProfileResponse:
        """See `ports.Operations`."""
        request = router_pb2.ReadProfileRequest(user_id=user_id, whole=whole)
        found = await call(self._router.ReadProfile, request, timeout_s=timeout_s)
        return pb.GetProfileResponse(
            sample_count=found.sample_count,
            intents=_weights(found.intents),
            facets=_weights(found.facets),
            interests=_weights(found.interests),
            questions=[
                pb.ProfileQuestion(id=one.id, intent=one.intent, facet=one.facet, asked_at=one.asked_at)
                for one in found.questions
            ],
            lasting_interests=_weights(found.lasting_interests),
        )

    async def restore_profile(self, user_id: str, given: Carried, *, timeout_s: float) -> pb.RestoreProfileResponse:
        """See `ports.Operations`."""
        if not isinstance(given, pb.RestoreProfileRequest):
            raise Fault(Reason.INTERNAL, "a profile to give back is not what the handler read")
        request = router_pb2.RestoreProfileRequest(
            user_id=user_id,
            questions=[
                router_pb2.CountedQuestion(id=one.id, intent=one.intent, facet=one.facet, asked_at=one.asked_at)
                for one in given.questions
            ],
            lasting_interests=[
                router_pb2.NamedWeight(name=one.name, weight=one.weight) for one in given.lasting_interests
            ],
        )
        told = await call(self._router.RestoreProfile, request, timeout_s=timeout_s)
        return pb.RestoreProfileResponse(questions=told.questions, interests=told.interests)

    async def erase_profile(self, user_id: str, *, timeout_s: float) -> bool:
        """See `ports.Operations`."""
        request = router_pb2.DropProfileRequest(user_id=user_id)
        return (await call(self._router.DropProfile, request, timeout_s=timeout_s)).dropped

    async def dead_letters(self, limit: int) -> pb.ListDeadLettersResponse:
        """See `ports.Operations`."""
        letters = await self._bus.dead_letters(limit)
        return pb.ListDeadLettersResponse(dead_letters=[_letter(letter) for letter in letters])

    async def replay(self, dead_letter_id: str) -> int:
        """See `ports.Operations`."""
        everything = dead_letter_id == _ALL
        ids = [one.id for one in await self._bus.dead_letters(_MOST)] if everything else [dead_letter_id]
        for one in ids:
            await self._bus.replay(one)
        return len(ids)

    async def reindex(self, action: str, *, timeout_s: float) -> pb.ReindexResponse:
        """See `ports.Operations`."""
        told = await call(self._search.Reindex, search_pb2.ReindexRequest(action=action), timeout_s=timeout_s)
        return pb.ReindexResponse(
            state=told.state,
            done=told.done,
            total=told.total,
            built=told.built,
            made=told.made,
            wanted=told.wanted,
            detail=told.detail,
        )

    async def audit(self, user_id: str, limit: int) -> pb.ListAuditResponse:
        """See `ports.Operations`."""
        stored = await self._bus.history(subjects.INJECTION_REDACTED, events_pb2.InjectionRedacted, _AUDIT_READ)
        hits = [event.message for event in reversed(stored) if event.message.user_id == user_id]
        counts = Counter(f"{hit.rule}@{hit.ruleset_version}" for hit in hits)
        return pb.ListAuditResponse(records=[_record(hit) for hit in hits[:limit]], by_rule=counts)

    @property
    def _bus(self) -> Bus:
        if self._known_bus is None:
            raise Fault(Reason.BUS_UNAVAILABLE, "no bus is configured: set stores.nats")
        return self._known_bus


def _weights(rows: Iterable[router_pb2.NamedWeight]) -> list[pb.Weighted]:
    return [pb.Weighted(name=row.name, weight=row.weight) for row in rows]


def _letter(letter: DeadLetter) -> pb.DeadLetter:
    body = letter.body.decode("utf-8", errors="replace")
    return pb.DeadLetter(
        id=letter.id,
        subject=letter.subject,
        event_id=letter.event_id,
        consumer=letter.durable,
        reason=letter.reason,
        time=timestamp(letter.time.astimezone(UTC)),
        body="" if _is_unsafe(letter, body) else body,
    )


def _is_unsafe(letter: DeadLetter, body: str) -> bool:
    """Whether showing the body could hand an attack to whoever reads the list."""
    if letter.subject != subjects.BLOCK_UPSERTED:
        return is_unsafe_for_injection(body)
    try:
        block = Parse(letter.body, events_pb2.BlockUpserted(), ignore_unknown_fields=True).block
    except ParseError:
        return is_unsafe_for_injection(body)
    return any(is_unsafe_for_injection(text) for text in (block.text, block.title, block.summary))


def _record(hit: events_pb2.InjectionRedacted) -> pb.AuditRecord:
    return pb.AuditRecord(
        time=hit.time,
        block_id=hit.block_id,
        rule=hit.rule,
        ruleset_version=hit.ruleset_version,
        where=hit.where,
        recall_id=hit.recall_id,
        ingest_version=hit.ingest_version,
    )
