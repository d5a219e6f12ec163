"""A rerank never takes the time that search needs to answer without it, whatever the settings say (R-16, R-44)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from memvault.rpc import deadline
from memvault_search.adapters.memory import RuleReranker, StandingClock
from memvault_search.domain.embedding import TokenVectors
from memvault_search.ports import RerankCandidate, Reranked
from tests.unit.search.conftest import NOW, House, LastingStore, WordEncoder, note, started

DEADLINE_S = 3.0
QUESTION = "apple word3 word4"


@dataclass
class Timed(RuleReranker):
    """Keeps the times that it was granted; `hangs`: never answers, not even within them."""

    granted: list[float] = field(default_factory=list)
    hangs: bool = False

    async def rerank(
        self,
        query: str,
        candidates: Sequence[RerankCandidate],
        *,
        query_tokens: TokenVectors | None,
        timeout_s: float,
    ) -> Reranked:
        self.granted.append(timeout_s)
        if self.hangs:
            await asyncio.sleep(60)
        return await super().rerank(query, candidates, query_tokens=query_tokens, timeout_s=timeout_s)


@pytest.fixture
def reranker() -> Timed:
    return Timed()


@pytest.fixture
async def patient(tmp_path: Path, reranker: Timed) -> AsyncIterator[House]:
    """A search that would give its reranker 20 s."""
    (tmp_path / "config.toml").write_text("[search.calls]\nrerank_timeout_s = 20.0\n", "utf-8")
    house = await started(tmp_path, LastingStore(), WordEncoder(), reranker, StandingClock(NOW))
    await house.write(*(note(f"n{n}", f"apple word{n} " * (n + 1)) for n in range(8)))
    yield house
    await house.bus.stop()
    await house.app.stop()
    await house.store.let_go()


@pytest.mark.r("R-44")
async def test_a_share_of_what_is_left_of_the_deadline_stays_for_the_answer(patient: House, reranker: Timed) -> None:
    async with deadline.limit(DEADLINE_S):
        await patient.ask(QUESTION)
    assert 0 < reranker.granted[-1] <= 0.8 * DEADLINE_S


async def test_without_a_deadline_the_setting_holds(patient: House, reranker: Timed) -> None:
    await patient.ask(QUESTION)
    assert reranker.granted[-1] == pytest.approx(20.0, abs=3.0)


@pytest.mark.r("R-16", "R-44")
@pytest.mark.parametrize("hanging", ["the reranker", "what it reads"])
async def test_a_rerank_that_never_ends_costs_its_time_and_not_the_answer(
    patient: House, reranker: Timed, hanging: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = await patient.ask(QUESTION, off=frozenset({"rerank"}))
    reranker.hangs = hanging == "the reranker"
    if not reranker.hangs:

        async def hang(*_: Any) -> Any:
            await asyncio.sleep(60)

        finishing = patient.app.usecases.searching._finishing
        monkeypatch.setattr(finishing._index, "token_vectors", hang)
    async with deadline.limit(DEADLINE_S):
        found = await patient.ask(QUESTION)
        assert deadline.remaining_s(0.0) > 0.0
    assert [(one.part, one.reason) for one in found.degraded] == [("rerank", "TIMEOUT")]
    assert [(hit.stored.block.id, hit.score) for hit in found.hits] == [
        (hit.stored.block.id, hit.score) for hit in plain.hits
    ]
