"""Stand-ins without network or model, for tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from memvault_search.domain.embedding import TokenVectors
from memvault_search.ports import RerankCandidate, Reranked


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
