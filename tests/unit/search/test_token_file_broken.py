"""A file of token vectors that breaks while it is open costs the rerank and says so; the recall is answered."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from memvault.vectors.edge import EdgeStore
from memvault_search.adapters.memory import RuleReranker, StandingClock
from tests.unit.search.conftest import NOW, House, WordEncoder, note, started


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    folder = tmp_path / "data"
    running = await started(
        tmp_path, EdgeStore(folder, flush_every_s=60), WordEncoder(), RuleReranker(), StandingClock(NOW)
    )
    await running.write(*(note(f"n{n}", f"apple word{n} " * (n + 1)) for n in range(8)))
    yield running
    await running.bus.stop()
    await running.app.stop()


@pytest.mark.r("R-16")
async def test_a_recall_is_answered_in_the_order_of_the_scores_and_names_the_file(house: House, tmp_path: Path) -> None:
    whole = await house.ask("apple word3 word4", off=frozenset({"gate"}))
    assert whole.reranked
    with sqlite3.connect(tmp_path / "data" / "search_tokens.sqlite") as other:
        other.execute("ALTER TABLE tokens RENAME TO lost")
    degraded = await house.ask("apple word3 word4", off=frozenset({"gate"}))
    assert not degraded.reranked
    assert [(one.part, one.reason) for one in degraded.degraded] == [("rerank", "FAILED")]
    assert "search_tokens.sqlite cannot be used" in degraded.degraded[0].detail
    assert {hit.stored.block.id for hit in degraded.hits} == {hit.stored.block.id for hit in whole.hits}
