"""A vault that keeps no token vectors: recalls work, and say that late interaction had nothing to read (R-20)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from memvault.recall.v1 import types_pb2
from memvault.rpc.client import call
from memvault.search.v1 import search_pb2 as pb
from tests.integration.search.conftest import RealSearch, open_search

TEXTS = (
    "Ann moved to Lisbon in May and misses the snow.",
    "The receipt of the train to Porto is in the blue folder.",
    "We agreed to take the early train on Friday.",
    "Bob's new oven burns everything on the left side.",
)


@pytest.fixture
async def frugal(tmp_path: Path) -> AsyncIterator[RealSearch]:
    """A search whose settings keep no token vectors."""
    (tmp_path / "config.toml").write_text("[search.writing]\ntoken_views = []\n", "utf-8")
    running = await open_search(tmp_path)
    yield running
    await running.bus.stop()
    await running.app.stop()


@pytest.mark.r("R-20", "R-44")
async def test_without_token_vectors_the_scoring_order_stands_and_the_answer_says_why(frugal: RealSearch) -> None:
    await frugal.write(
        [types_pb2.Block(id=f"b{number}", user_id="ann", text=text) for number, text in enumerate(TEXTS)]
    )
    asked = pb.Understanding(user_id="ann", query="where is the receipt of the train?")
    answers = [
        await call(frugal.stub.Search, pb.SearchRequest(understanding=asked, conditions=conditions), timeout_s=60)  # type: ignore[arg-type, var-annotated]
        for conditions in (pb.SearchConditions(off=["gate"]), pb.SearchConditions(off=["rerank"]))
    ]
    found, plain = ([(hit.block.id, hit.score) for hit in answer.hits] for answer in answers)
    assert found[0][0] == "b1"
    assert [name for name, _ in found] == [name for name, _ in plain]
    assert [score for _, score in found] == pytest.approx([score for _, score in plain])  # the clock went on
    ((part, reason, detail),) = [(one.part, one.reason, one.detail) for one in answers[0].degraded]
    assert (part, reason) == ("rerank", "NO_MODEL")
    assert "token vectors of the documents" in detail
