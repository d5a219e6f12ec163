"""Stand-ins without network or model, for tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from memvault_search.domain.block import StoredBlock
from memvault_search.domain.embedding import TokenVectors
from memvault_search.ports import RerankCandidate, Reranked


@dataclass
class MemoryAnnouncer:
    """Keeps every fact; sequences count from 1."""

    told: list[tuple[str, dict[str, object]]] = field(default_factory=list)

    async def indexed(self, stored: StoredBlock, *, upsert_event_id: str, write_version: int, changed: bool) -> None:
        """Keep it."""
        self._tell("indexed", stored=stored, event=upsert_event_id, version=write_version, changed=changed)

    async def refused(self, user_id: str, block_id: str, *, upsert_event_id: str, reason: str, detail: str) -> None:
        """Keep it."""
        self._tell("refused", user=user_id, block=block_id, event=upsert_event_id, reason=reason, detail=detail)

    async def forgotten(self, user_id: str, block_ids: Sequence[str], *, whole_user: bool) -> int:
        """Keep it."""
        return self._tell("forgotten", user=user_id, blocks=tuple(block_ids), whole_user=whole_user)

    async def rejected(self, user_id: str, block_id: str, *, feedback_event_id: str) -> None:
        """Keep it."""
        self._tell("rejected", user=user_id, block=block_id, event=feedback_event_id)

    async def dream_finished(self, run_id: str, changes: Mapping[str, int], took_ms: float) -> None:
        """Keep it."""
        self._tell("dream_finished", run=run_id, changes=dict(changes), took_ms=took_ms)

    def _tell(self, fact: str, **details: object) -> int:
        self.told.append((fact, details))
        return len(self.told)

    def of(self, fact: str) -> list[dict[str, object]]:
        """What was told of one kind."""
        return [details for name, details in self.told if name == fact]


@dataclass
class StandingClock:
    """Shows one instant until it is moved."""

    instant: datetime

    def now(self) -> datetime:
        """The instant."""
        return self.instant

    def move(self, by: timedelta) -> None:
        """Go on."""
        self.instant += by


@dataclass
class RuleReranker:
    """Scores by a function of query and candidate, or answers with a status."""

    rule: Callable[[str, RerankCandidate], float] = lambda _, candidate: candidate.signals["similarity"]
    status: Reranked = field(default_factory=lambda: Reranked("OK"))
    asked: list[tuple[str, ...]] = field(default_factory=list)

    async def rerank(
        self,
        query: str,
        candidates: Sequence[RerankCandidate],
        *,
        query_tokens: TokenVectors | None,  # noqa: ARG002 - the port's signature
        timeout_s: float,  # noqa: ARG002
    ) -> Reranked:
        """Score, or answer with the status."""
        self.asked.append(tuple(one.id for one in candidates))
        if self.status.status != "OK":
            return self.status
        return Reranked("OK", {one.id: self.rule(query, one) for one in candidates}, model="rule")
